//===- AheadChoices.h - Choices before LLVM's optimisations -----*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Inlining and unrolling decide whether arrays on the stack become registers.
/// Kernels choose both before LLVM's optimisations. The choices become
/// attributes of calls, which LLVM's inliner reads, and an attribute of
/// functions, which UnrollChoice reads. A choice holds for all functions that a
/// kernel calls. A function that is also called by kernels with other choices
/// is copied. If more calls are inlined, the functions lose the types of their
/// accesses.
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

/// The first pass of an optimising pipeline: replays the profile for code that
/// is not optimised yet, and carries out the choices.
class AheadChoices : public llvm::PassInfoMixin<AheadChoices> {
  llvm::OptimizationLevel Level;

public:
  explicit AheadChoices(llvm::OptimizationLevel Level) : Level(Level) {}

  static llvm::StringRef name() { return "nvptx-ahead-choices"; }
  static bool isRequired() { return true; }

  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
};

/// Adds AheadChoices to optimising pipelines. The code of a module without
/// choices stays identical to the byte.
void registerAheadChoices(llvm::PassBuilder &PB);

} // namespace nvptx_ra

#endif // NVPTX_RA_AHEADCHOICES_H
