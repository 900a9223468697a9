//===- StructurizeReducible.cpp - Structured control flow -----------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See StructurizeReducible.h.
///
//===----------------------------------------------------------------------===//

#include "StructurizeReducible.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/Transforms/Scalar/StructurizeCFG.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "llvm/Transforms/Utils/UnifyLoopExits.h"

using namespace llvm;

namespace nvptx_ra {

/// Whether every loop of the function has one entry.
static bool isReducible(Function &F, FunctionAnalysisManager &FAM) {
  using Order = ReversePostOrderTraversal<const Function *>;
  return !containsIrreducibleCFG<const BasicBlock *, const Order,
                                 const LoopInfo>(
      Order(&F), FAM.getResult<LoopAnalysis>(F));
}

PreservedAnalyses StructurizeReducible::run(Function &F,
                                            FunctionAnalysisManager &FAM) {
  if (!isReducible(F, FAM))
    return PreservedAnalyses::all();
  // structurizecfg expects two-way branches and loops with one exit.
  FunctionPassManager Preparation;
  Preparation.addPass(LowerSwitchPass());
  Preparation.addPass(UnifyLoopExitsPass());
  PreservedAnalyses Preserved = Preparation.run(F, FAM);
  // The graph is checked again in the form that structurizecfg gets.
  if (!isReducible(F, FAM))
    return Preserved;
  FunctionPassManager Structurizer;
  Structurizer.addPass(StructurizeCFGPass());
  Preserved.intersect(Structurizer.run(F, FAM));
  return Preserved;
}

} // namespace nvptx_ra
