//===- Clone.h - Generating code for a clone of a module --------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What becomes of a module in the code generator is found out in a clone,
/// which goes through the whole of it; what comes out is thrown away. opt needs
/// that, which has no machine code.
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
/// those of the first function that names them; the code is optimised as far as
/// it can be. It is reported where this LLVM has no code generator for the
/// module's triple, and where the clone does not compile.
void forecastClone(llvm::Module &M, const PassDesc &Desc,
                   llvm::StringRef Parameters);

} // namespace nvptx_ra

#endif // NVPTX_RA_CLONE_H
