//===- AssemblyEffects.h - What inline assembly does ------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Tells LLVM of inline assembly what its text says: that it only computes, or
/// only reads memory. Loads that are the same thereby become one.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_ASSEMBLYEFFECTS_H
#define NVPTX_RA_ASSEMBLYEFFECTS_H

#include "llvm/IR/PassManager.h"

namespace nvptx_ra {

/// `nvptx-assembly-effects`.
class AssemblyEffects : public llvm::PassInfoMixin<AssemblyEffects> {
public:
  static llvm::StringRef name() { return "nvptx-assembly-effects"; }

  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM);
};

} // namespace nvptx_ra

#endif // NVPTX_RA_ASSEMBLYEFFECTS_H
