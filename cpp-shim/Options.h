//===- Options.h - The -nvptx-ra-... options --------------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The command-line options, created from the core's table when the plugin is
/// loaded. No option is a static object, because its constructor would run
/// before the version of LLVM is known.
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

/// Registers one option per row of the core's table. False if the options are
/// registered already, because a second copy of the plugin was loaded.
bool registerOptions();

/// Returns the category of the options; null if they are not registered.
llvm::cl::OptionCategory *optionCategory();

/// Returns the given options, "a=b;c=d".
std::string commandLine();

/// Returns the error in "a=b;c=d" given at \p Origin; empty if there is none.
std::string checkOptions(llvm::StringRef Options, llvm::StringRef Origin);

} // namespace nvptx_ra

#endif // NVPTX_RA_OPTIONS_H
