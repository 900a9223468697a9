//===- BranchingPoint.h - Where variants of a module diverge ----*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Up to the end of instruction selection, the variants of a module differ only
/// in the passes on IR. A process that compiles many variants is notified at
/// this point, and forks.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_BRANCHINGPOINT_H
#define NVPTX_RA_BRANCHINGPOINT_H

#include "Compilation.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include <utility>

namespace nvptx_ra {

/// Notifies the process before the first function that reaches the pass.
/// Changes nothing.
class BranchingPoint : public llvm::MachineFunctionPass {
  const CompilationPtr Within;

public:
  static inline char ID = 0;

  explicit BranchingPoint(CompilationPtr Within)
      : MachineFunctionPass(ID), Within(std::move(Within)) {}

  llvm::StringRef getPassName() const override {
    return "NVPTX branching point";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &AU) const override {
    AU.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(AU);
  }

  bool runOnMachineFunction(llvm::MachineFunction &) override {
    Within->reachBranchingPoint();
    return false;
  }
};

} // namespace nvptx_ra

#endif // NVPTX_RA_BRANCHINGPOINT_H
