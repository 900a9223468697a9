//===- Clone.h - Generating code for a clone of a module --------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs the whole code generator on a clone of a module to forecast it, and
/// discards the output. opt needs this because its modules have no machine
/// code.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_CLONE_H
#define NVPTX_RA_CLONE_H

#include "MachinePass.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
} // namespace llvm

namespace nvptx_ra {

/// Forecasts a module by a clone of it. The processor and its features are
/// taken from the first function that specifies them; the code generator runs
/// at its highest level. Reports a diagnostic if this LLVM has no code
/// generator for the module's triple, or if the clone does not compile.
void forecastClone(llvm::Module &M, const PassDesc &Desc,
                   llvm::StringRef Parameters);

} // namespace nvptx_ra

#endif // NVPTX_RA_CLONE_H
