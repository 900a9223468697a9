//===- Options.h - The -nvptx-ra-... options --------------------*- C++ -*-===//
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

#include "llvm/ADT/StringRef.h"
#include <string>

namespace llvm::cl {
class OptionCategory;
} // namespace llvm::cl

namespace nvptx_ra {

/// Adds one option per row of the core's table. False where they are there
/// already, because a second copy of the plugin has been loaded.
bool registerOptions();

/// The category of the options; null where they are not registered.
llvm::cl::OptionCategory *optionCategory();

/// The options that were given, "a=b;c=d".
std::string commandLine();

/// What is wrong with "a=b;c=d" given at \p Origin; empty where nothing is.
std::string checkOptions(llvm::StringRef Options, llvm::StringRef Origin);

} // namespace nvptx_ra

#endif // NVPTX_RA_OPTIONS_H
