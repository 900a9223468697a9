//===- AheadChoices.h - Choices ahead of LLVM's optimisations ---*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What is inlined and unrolled decides whether arrays of the stack become
/// registers. Kernels choose that ahead of LLVM's optimisations: what is chosen
/// becomes attributes of calls that LLVM's inliner reads, and an attribute of
/// functions that UnrollChoice reads. A choice holds for all that a kernel
/// calls; what kernels of other choices call, too, is copied. Where more is
/// inlined, the functions lose the types of their accesses.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_AHEADCHOICES_H
#define NVPTX_RA_AHEADCHOICES_H

#include "llvm/IR/PassManager.h"
#include "llvm/Passes/OptimizationLevel.h"

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace nvptx_ra {

/// The first pass of a pipeline that optimises: replays what a profile has for
/// code that is not optimised yet, and makes the choices that there are.
class AheadChoices : public llvm::PassInfoMixin<AheadChoices> {
  llvm::OptimizationLevel Level;

public:
  explicit AheadChoices(llvm::OptimizationLevel Level) : Level(Level) {}

  static llvm::StringRef name() { return "nvptx-ahead-choices"; }
  static bool isRequired() { return true; }

  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
};

/// Has pipelines that optimise make the choices. Where a module has none, its
/// code stays the same to the byte.
void registerAheadChoices(llvm::PassBuilder &PB);

} // namespace nvptx_ra

#endif // NVPTX_RA_AHEADCHOICES_H
