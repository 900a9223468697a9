//===- UnrollChoice.h - Which loops LLVM unrolls ----------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Marks the loops of functions that have a choice with metadata for LLVM's
/// unroller, and removes the marks after the unroller.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_UNROLLCHOICE_H
#define NVPTX_RA_UNROLLCHOICE_H

#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class Loop;
class LPMUpdater;
class PassBuilder;
} // namespace llvm

namespace nvptx_ra {

/// The attribute of functions with a choice: its number.
inline constexpr char UnrollAttribute[] = "nvptx-ra-unroll";

/// Marks a loop directly before the pass that unrolls loops fully. At that
/// point its inner loops are unrolled already and its size is known.
class UnrollChoice : public llvm::PassInfoMixin<UnrollChoice> {
public:
  static llvm::StringRef name() { return "nvptx-unroll-choice"; }

  llvm::PreservedAnalyses run(llvm::Loop &L, llvm::LoopAnalysisManager &,
                              llvm::LoopStandardAnalysisResults &AR,
                              llvm::LPMUpdater &);
};

/// Removes marks. After full unrolling, the marks of fully unrolled loops are
/// removed. At the end, all marks are removed. A remaining mark against
/// unrolling would also stop ptxas from unrolling the loop.
class UnrollChoiceEnd : public llvm::PassInfoMixin<UnrollChoiceEnd> {
  bool AtEnd;

public:
  explicit UnrollChoiceEnd(bool AtEnd) : AtEnd(AtEnd) {}

  static llvm::StringRef name() { return "nvptx-unroll-choice-end"; }

  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM);
};

/// Adds the passes to optimising pipelines. They change nothing in functions
/// without the attribute.
void registerUnrollChoice(llvm::PassBuilder &PB);

} // namespace nvptx_ra

#endif // NVPTX_RA_UNROLLCHOICE_H
