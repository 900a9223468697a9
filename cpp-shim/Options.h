//===- Options.h - The -nvptx-ra-... options -----------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The command-line options, made from the core's table when the plugin is
/// loaded. No option is a static object: its constructor would run before the
/// version of LLVM is known.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_OPTIONS_H
#define NVPTX_RA_OPTIONS_H

#include "nvptx_ra.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace nvptx_ra {

inline nvptx_ra_str toStr(llvm::StringRef Text) {
  return {Text.data(), Text.size()};
}

inline llvm::StringRef toRef(nvptx_ra_str Text) {
  return {Text.data, static_cast<size_t>(Text.len)};
}

/// Adds one option per row of the core's table. False where they are there
/// already, because a second copy of the plugin has been loaded.
bool registerOptions();

/// The options that were given, "a=b;c=d".
std::string commandLine();

/// What is wrong with "a=b;c=d" given at \p Origin; empty where nothing is.
std::string checkOptions(llvm::StringRef Options, llvm::StringRef Origin);

} // namespace nvptx_ra

#endif // NVPTX_RA_OPTIONS_H
