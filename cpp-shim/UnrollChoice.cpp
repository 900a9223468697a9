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

#include "nvptx_ra_optimise.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/CodeMetrics.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace nvptx_ra {

/// The common prefix of the names of all unrolling properties.
static constexpr StringLiteral Unroll = "llvm.loop.unroll.";
static constexpr StringLiteral Disable = "llvm.loop.unroll.disable";
static constexpr StringLiteral Full = "llvm.loop.unroll.full";
static constexpr StringLiteral Part = "llvm.loop.unroll.count";
/// Set beside a mark of this project, to distinguish the mark from the
/// source's.
static constexpr StringLiteral Own = "nvptx-ra.unroll";

static MDNode *property(LLVMContext &Context, StringRef Name) {
  return MDNode::get(Context, MDString::get(Context, Name));
}

/// Adds properties to a loop and removes those that begin with `Without`.
static void change(Loop &L, ArrayRef<StringRef> Without,
                   ArrayRef<MDNode *> To) {
  LLVMContext &Context = L.getHeader()->getContext();
  L.setLoopID(
      makePostTransformationMetadata(Context, L.getLoopID(), Without, To));
}

/// Adds a property of this project, which is removed at the end.
static void mark(Loop &L, StringRef Name, ArrayRef<StringRef> Without) {
  LLVMContext &Context = L.getHeader()->getContext();
  change(L, Without, {property(Context, Name), property(Context, Own)});
}

/// Returns the size of matrix products beyond LLVM's estimate, which is 1 per
/// product. A product's size is the number of its operands and results.
static uint64_t sizeOfMatrices(const Loop &L) {
  uint64_t Size = 0;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block)
      if (const auto *Call = dyn_cast<IntrinsicInst>(&I))
        if (const auto *Results = dyn_cast<StructType>(Call->getType()))
          Size += Call->arg_size() + Results->getNumElements() - 1;
  return Size;
}

/// Appends a loop, followed by its inner loops if they are wanted.
static void flatten(const Loop &L, LoopStandardAnalysisResults &AR,
                    uint32_t Parent, bool WithInner,
                    SmallVectorImpl<nvptx_ra_loop> &Loops) {
  SmallPtrSet<const Value *, 32> Ephemeral;
  CodeMetrics::collectEphemeralValues(&L, &AR.AC, Ephemeral);
  UnrollCostEstimator Estimator(&L, AR.TTI, Ephemeral, NVPTX_RA_LOOP_END);
  nvptx_ra_loop Flat = {};
  if (Estimator.canUnroll())
    Flat.size = Estimator.getRolledLoopSize();
  Flat.matrices = sizeOfMatrices(L);
  Flat.parent = Parent;
  if (auto Count = getOptionalIntLoopAttribute(&L, Part)) {
    Flat.count = *Count;
    Flat.flags |= NVPTX_RA_LOOP_COUNTED;
  }
  if (Estimator.ConvergenceAllowsRuntime)
    Flat.flags |= NVPTX_RA_LOOP_RESTS;
  if (Estimator.Convergence == ConvergenceKind::Uncontrolled)
    Flat.flags |= NVPTX_RA_LOOP_UNCONTROLLED;
  uint32_t Own = Loops.size();
  Loops.push_back(Flat);
  if (WithInner)
    for (const Loop *Inner : L.getSubLoops())
      flatten(*Inner, AR, Own, WithInner, Loops);
}

/// Whether an access of the loop has an address in a stack variable that
/// differs between iterations.
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

/// Whether the trip count is the lesser of two numbers.
static bool endsAtLesser(const Loop &L, ScalarEvolution &SE) {
  const SCEV *Turns = SE.getBackedgeTakenCount(&L);
  return L.getExitingBlock() && !isa<SCEVCouldNotCompute>(Turns) &&
         SCEVExprContains(Turns, [](const SCEV *S) {
           return isa<SCEVUMinExpr, SCEVSMinExpr, SCEVSequentialUMinExpr>(S);
         });
}

static uint32_t askedBy(const Loop &L) {
  switch (hasUnrollTransformation(&L)) {
  case TM_Unspecified:
    return NVPTX_RA_LOOP_ASKS_NOTHING;
  case TM_ForcedByUser:
    return NVPTX_RA_LOOP_ASKS_UNROLLING;
  default:
    return NVPTX_RA_LOOP_ASKS_RESTRAINT;
  }
}

/// Asks the core for the mark of a loop.
static nvptx_ra_loop_mark decide(Loop &L, LoopStandardAnalysisResults &AR,
                                 uint32_t Choice, uint32_t Asked) {
  nvptx_ra_loop_facts Facts = {};
  Facts.choice = Choice;
  Facts.asked = Asked;
  uint32_t Reads = nvptx_ra_loop_reads(Choice, Asked);
  bool ReadsNest = Reads == NVPTX_RA_LOOP_READS_NEST;
  if (Reads == NVPTX_RA_LOOP_READS_NOTHING)
    return {NVPTX_RA_LOOP_LEAVE, 0};
  SmallVector<nvptx_ra_loop, 4> Loops;
  SmallVector<uint32_t, 4> Exits;
  if (ReadsNest) {
    SmallVector<BasicBlock *, 4> Exiting;
    L.getExitingBlocks(Exiting);
    for (const BasicBlock *Block : Exiting)
      Exits.push_back(AR.SE.getSmallConstantTripCount(&L, Block));
  } else if (Reads == NVPTX_RA_LOOP_READS_STACK) {
    Facts.turns = AR.SE.getSmallConstantTripCount(&L);
    Facts.walks_stack = walksStack(L);
  } else if (Reads == NVPTX_RA_LOOP_READS_BOUNDS) {
    Facts.ends_at_lesser = L.isInnermost() && endsAtLesser(L, AR.SE);
    // Most loops end otherwise, and their size is not needed.
    if (!Facts.ends_at_lesser)
      return {NVPTX_RA_LOOP_LEAVE, 0};
  }
  if (Reads != NVPTX_RA_LOOP_READS_ASKED)
    flatten(L, AR, NVPTX_RA_NONE, ReadsNest, Loops);
  Facts.loops = Loops.data();
  Facts.num_loops = Loops.size();
  Facts.exits = Exits.data();
  Facts.num_exits = Exits.size();
  return nvptx_ra_mark_loop(&Facts);
}

/// Sets a mark, which replaces a request of the source to unroll.
static void set(Loop &L, nvptx_ra_loop_mark Mark, uint32_t Asked) {
  LLVMContext &Context = L.getHeader()->getContext();
  ArrayRef<StringRef> Without;
  StringRef OfSource[] = {Unroll};
  if (Asked == NVPTX_RA_LOOP_ASKS_UNROLLING)
    Without = OfSource;
  switch (Mark.kind) {
  case NVPTX_RA_LOOP_DISABLE:
    return mark(L, Disable, Without);
  case NVPTX_RA_LOOP_FULL:
    return mark(L, Full, Without);
  case NVPTX_RA_LOOP_COUNT: {
    auto *Count = ConstantInt::get(Type::getInt32Ty(Context), Mark.count);
    return change(L, Without,
                  {MDNode::get(Context, {MDString::get(Context, Part),
                                         ConstantAsMetadata::get(Count)})});
  }
  default:
    return;
  }
}

PreservedAnalyses UnrollChoice::run(Loop &L, LoopAnalysisManager &,
                                    LoopStandardAnalysisResults &AR,
                                    LPMUpdater &) {
  Attribute Choice =
      L.getHeader()->getParent()->getFnAttribute(UnrollAttribute);
  uint32_t Number = 0, Asked = askedBy(L);
  if (Choice.isValid() && !Choice.getValueAsString().getAsInteger(10, Number))
    set(L, decide(L, AR, Number, Asked), Asked);
  // Metadata that only the unroller reads invalidates no analysis.
  return PreservedAnalyses::all();
}

static void unmark(Loop &L, bool AtEnd) {
  bool IsToGo = AtEnd || findOptionMDForLoop(&L, Full);
  if (IsToGo && findOptionMDForLoop(&L, Own))
    change(L, {Own, Full, Disable}, {});
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
