//===- UnrollChoice.cpp - Which loops LLVM unrolls ------------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See UnrollChoice.h.
///
//===----------------------------------------------------------------------===//

#include "UnrollChoice.h"

#include "nvptx_ra.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CodeMetrics.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <optional>

using namespace llvm;

namespace nvptx_ra {

/// The size up to which a pragma is obeyed, NVIDIA's and LLVM's.
static constexpr uint64_t MaxSize = 16 * 1024;

static constexpr StringLiteral Disable = "llvm.loop.unroll.disable";
static constexpr StringLiteral Full = "llvm.loop.unroll.full";
/// Beside a mark of ours: it is not the source's.
static constexpr StringLiteral Own = "nvptx-ra.unroll";

static MDNode *property(LLVMContext &Context, StringRef Name) {
  return MDNode::get(Context, MDString::get(Context, Name));
}

static void mark(Loop &L, StringRef Name) {
  LLVMContext &Context = L.getHeader()->getContext();
  L.setLoopID(makePostTransformationMetadata(
      Context, L.getLoopID(), {},
      {property(Context, Name), property(Context, Own)}));
}

/// How often a loop runs that the source wants unrolled; 1 where it is not
/// known, or nobody asks.
static unsigned turnsAsked(Loop &L, ScalarEvolution &SE) {
  if (hasUnrollTransformation(&L) != TM_ForcedByUser)
    return 1;
  unsigned Turns = SE.getSmallConstantTripCount(&L);
  if (auto Asked = getOptionalIntLoopAttribute(&L, "llvm.loop.unroll.count"))
    Turns = Turns ? std::min<unsigned>(Turns, *Asked) : *Asked;
  return std::max(Turns, 1u);
}

/// Instructions as NVIDIA's compiler counts them: one of products of matrices
/// counts as many as it has operands and results. A loop inside whose pragma is
/// not yet obeyed counts as if it were unrolled: it was too large, but LLVM asks
/// again when the loop is simplified, and unrolls it in each copy.
static uint64_t nvidiaSize(Loop &L, const LoopInfo &LI, ScalarEvolution &SE) {
  uint64_t Size = 0;
  for (const BasicBlock *Block : L.blocks()) {
    if (LI.getLoopFor(Block) != &L)
      continue;
    for (const Instruction &I : *Block) {
      const auto *Call = dyn_cast<IntrinsicInst>(&I);
      const auto *Results =
          Call ? dyn_cast<StructType>(Call->getType()) : nullptr;
      if (Results)
        Size += Call->arg_size() + Results->getNumElements();
      else if (!isa<PHINode, DbgInfoIntrinsic, ExtractValueInst>(I) &&
               !(Call && Call->isAssumeLikeIntrinsic()))
        ++Size;
    }
  }
  for (Loop *Inner : L.getSubLoops())
    Size = SaturatingMultiplyAdd<uint64_t>(turnsAsked(*Inner, SE),
                                           nvidiaSize(*Inner, LI, SE), Size);
  return Size;
}

/// Cuts what the source asks for to what NVIDIA's compiler does: a power of two
/// of turns.
static bool cut(Loop &L, const LoopInfo &LI, ScalarEvolution &SE) {
  unsigned Turns = turnsAsked(L, SE);
  if (Turns == 1)
    return false;
  uint64_t Size = nvidiaSize(L, LI, SE);
  if (!Size || SaturatingMultiply<uint64_t>(Turns, Size) <= MaxSize)
    return false;
  unsigned Fewer = 1;
  while (2 * Fewer * Size <= MaxSize && 2 * Fewer < Turns)
    Fewer *= 2;
  LLVMContext &Context = L.getHeader()->getContext();
  Metadata *Count[] = {
      MDString::get(Context, "llvm.loop.unroll.count"),
      ConstantAsMetadata::get(
          ConstantInt::get(Type::getInt32Ty(Context), Fewer))};
  L.setLoopID(makePostTransformationMetadata(
      Context, L.getLoopID(), {"llvm.loop.unroll."},
      {MDNode::get(Context, Count)}));
  return true;
}

/// Whether an access of the loop has an address in a stack variable that
/// differs from turn to turn.
static bool walksStack(const Loop &L) {
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block) {
      const Value *Pointer = getLoadStorePointerOperand(&I);
      if (Pointer && !L.isLoopInvariant(Pointer) &&
          isa<AllocaInst>(getUnderlyingObject(Pointer)))
        return true;
    }
  return false;
}

/// Has LLVM unroll a loop wholly that it can unroll so far: of one that it
/// cannot it would warn.
static bool unrollOverStack(Loop &L, LoopStandardAnalysisResults &AR) {
  unsigned Turns = AR.SE.getSmallConstantTripCount(&L);
  if (Turns < 2 || hasUnrollTransformation(&L) != TM_Unspecified ||
      !walksStack(L))
    return false;
  SmallPtrSet<const Value *, 32> Ephemeral;
  CodeMetrics::collectEphemeralValues(&L, &AR.AC, Ephemeral);
  CodeMetrics Metrics;
  for (const BasicBlock *Block : L.blocks())
    Metrics.analyzeBasicBlock(Block, AR.TTI, Ephemeral, /*PrepareForLTO=*/false,
                              &L);
  if (Metrics.notDuplicatable || !Metrics.NumInsts.isValid() ||
      Metrics.Convergence == ConvergenceKind::Uncontrolled ||
      uint64_t(Metrics.NumInsts.getValue()) * Turns >= MaxSize)
    return false;
  mark(L, Full);
  return true;
}

PreservedAnalyses UnrollChoice::run(Loop &L, LoopAnalysisManager &,
                                    LoopStandardAnalysisResults &AR,
                                    LPMUpdater &) {
  Attribute Choice =
      L.getHeader()->getParent()->getFnAttribute(UnrollAttribute);
  unsigned Number = 0;
  if (Choice.isValid() && !Choice.getValueAsString().getAsInteger(10, Number))
    switch (Number) {
    case NVPTX_RA_UNROLL_ASKED:
      if (hasUnrollTransformation(&L) == TM_Unspecified)
        mark(L, Disable);
      break;
    case NVPTX_RA_UNROLL_CUT:
      cut(L, AR.LI, AR.SE);
      break;
    case NVPTX_RA_UNROLL_STACK:
      unrollOverStack(L, AR);
      break;
    default:
      break;
    }
  // Metadata that only the unroller reads invalidates nothing.
  return PreservedAnalyses::all();
}

static void unmark(Loop &L, bool AtEnd) {
  if (!findOptionMDForLoop(&L, Own) || (!AtEnd && !findOptionMDForLoop(&L, Full)))
    return;
  LLVMContext &Context = L.getHeader()->getContext();
  L.setLoopID(makePostTransformationMetadata(Context, L.getLoopID(),
                                             {Own, Full, Disable}, {}));
}

PreservedAnalyses UnrollChoiceEnd::run(Function &F,
                                       FunctionAnalysisManager &FAM) {
  if (F.hasFnAttribute(UnrollAttribute)) {
    for (Loop *L : FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder())
      unmark(*L, AtEnd);
    if (AtEnd)
      F.removeFnAttr(UnrollAttribute);
  }
  return PreservedAnalyses::all();
}

void registerUnrollChoice(PassBuilder &PB) {
  PB.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &Passes, OptimizationLevel) {
        Passes.addPass(UnrollChoice());
      });
  PB.registerVectorizerStartEPCallback(
      [](FunctionPassManager &Passes, OptimizationLevel) {
        Passes.addPass(UnrollChoiceEnd(/*AtEnd=*/false));
      });
  PB.registerOptimizerLastEPCallback(
      [](ModulePassManager &Passes, OptimizationLevel, ThinOrFullLTOPhase) {
        Passes.addPass(createModuleToFunctionPassAdaptor(
            UnrollChoiceEnd(/*AtEnd=*/true)));
      });
}

} // namespace nvptx_ra
