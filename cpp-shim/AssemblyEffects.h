//===- AssemblyEffects.h - Effects of inline assembly -----------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Marks inline assembly that only computes, or only reads memory, judged by
/// its PTX. Identical loads around the assembly can then be merged.
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
