//===- UnrollChoice.h - Which loops LLVM unrolls ----------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Marks the loops of functions that have a choice with the metadata that
/// LLVM's unroller reads, and takes the marks off behind it.
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

/// The attribute of functions that choose: the number of the choice.
inline constexpr char UnrollAttribute[] = "nvptx-ra-unroll";

/// Marks a loop directly ahead of the pass that unrolls loops wholly, where
/// loops inside it are unrolled already and its size is known.
class UnrollChoice : public llvm::PassInfoMixin<UnrollChoice> {
public:
  static llvm::StringRef name() { return "nvptx-unroll-choice"; }

  llvm::PreservedAnalyses run(llvm::Loop &L, llvm::LoopAnalysisManager &,
                              llvm::LoopStandardAnalysisResults &AR,
                              llvm::LPMUpdater &);
};

/// Takes marks off: those of loops that were to be unrolled wholly, and in the
/// end all. A loop that is still marked not to be unrolled would tell ptxas so.
class UnrollChoiceEnd : public llvm::PassInfoMixin<UnrollChoiceEnd> {
  bool AtEnd;

public:
  explicit UnrollChoiceEnd(bool AtEnd) : AtEnd(AtEnd) {}

  static llvm::StringRef name() { return "nvptx-unroll-choice-end"; }

  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM);
};

/// Puts the passes into pipelines that optimise. They change nothing in
/// functions without the attribute.
void registerUnrollChoice(llvm::PassBuilder &PB);

} // namespace nvptx_ra

#endif // NVPTX_RA_UNROLLCHOICE_H
