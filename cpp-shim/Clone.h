//===- Clone.h - Generating code for a clone of a module --------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// opt has no machine code. What is to be known of it there is found out in a
/// clone, which goes through the whole code generator; what comes out is thrown
/// away.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_CLONE_H
#define NVPTX_RA_CLONE_H

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace nvptx_ra {

class Forecaster;

/// Generates code for a clone of \p M, adds its functions to \p Into, and
/// finishes that while they are there. The processor and its features are those
/// of the first function that names them; the code is optimised as far as it
/// can be. Fails where this LLVM has no code generator for the module's triple.
llvm::Error compileClone(const llvm::Module &M, Forecaster &Into);

/// Generates code for \p Clone, which is used up, and adds its functions to
/// \p Into. False where the machine has no code generator.
bool generateInto(llvm::Module &Clone, llvm::TargetMachine &TM,
                  Forecaster &Into);

/// What this thread compiles a clone for; null where it does not.
Forecaster *compilingCloneFor();

} // namespace nvptx_ra

#endif // NVPTX_RA_CLONE_H
