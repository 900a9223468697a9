//===- SkipChoice.h - The forecast's choice of LLVM's passes ----*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a kernel takes without an optimisation shows only when it is compiled
/// without. So the module is compiled in each of a few ways, as clones whose
/// code is thrown away, and the forecast says which way is best for which
/// kernel.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_SKIPCHOICE_H
#define NVPTX_RA_SKIPCHOICE_H

#include "llvm/ADT/DenseMap.h"
#include <cstdint>

namespace llvm {
class Function;
class Module;
class TargetMachine;
} // namespace llvm

namespace nvptx_ra {

/// The sets of optimisations that functions go without where they leave it to
/// the forecast; a function that is not there goes without none. A way in which
/// the module does not compile is none to choose. The module is not changed.
/// Costs as much as compiling it once for each way.
llvm::DenseMap<const llvm::Function *, uint32_t>
chooseSkips(llvm::Module &M, const llvm::TargetMachine &TM);

} // namespace nvptx_ra

#endif // NVPTX_RA_SKIPCHOICE_H
