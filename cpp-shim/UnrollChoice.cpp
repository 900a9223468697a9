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
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/Analysis/CodeMetrics.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
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
#include "llvm/Transforms/Utils/UnrollLoop.h"
#include <optional>

using namespace llvm;

namespace nvptx_ra {

/// The size up to which NVIDIA's compiler obeys a pragma, in LLVM's estimate,
/// and the size up to which LLVM does
/// (docs/notebook/2026-11-27-how-nvidias-compiler-unrolls.md).
static constexpr uint64_t MaxSize = 32 * 1024;
static constexpr uint64_t MaxSizeOfLlvm = 16 * 1024 - 1;

/// What the names of all properties of unrolling begin with.
static constexpr StringLiteral Unroll = "llvm.loop.unroll.";
static constexpr StringLiteral Disable = "llvm.loop.unroll.disable";
static constexpr StringLiteral Full = "llvm.loop.unroll.full";
static constexpr StringLiteral Part = "llvm.loop.unroll.count";
/// Beside a mark of ours: it is not the source's.
static constexpr StringLiteral Own = "nvptx-ra.unroll";

static MDNode *property(LLVMContext &Context, StringRef Name) {
  return MDNode::get(Context, MDString::get(Context, Name));
}

/// Gives a loop further properties in place of those that begin with `Without`.
static void change(Loop &L, ArrayRef<StringRef> Without,
                   ArrayRef<MDNode *> To) {
  LLVMContext &Context = L.getHeader()->getContext();
  L.setLoopID(
      makePostTransformationMetadata(Context, L.getLoopID(), Without, To));
}

/// The same for a property of ours, which goes at the end.
static void mark(Loop &L, StringRef Name, ArrayRef<StringRef> Without = {}) {
  LLVMContext &Context = L.getHeader()->getContext();
  change(L, Without, {property(Context, Name), property(Context, Own)});
}

/// How often a loop runs that the source wants unrolled, or at most; 0 where
/// nobody knows.
static unsigned knownTurns(const Loop &L, ScalarEvolution &SE) {
  SmallVector<BasicBlock *, 4> Exiting;
  L.getExitingBlocks(Exiting);
  unsigned Least = 0;
  for (const BasicBlock *Block : Exiting)
    if (unsigned Turns = SE.getSmallConstantTripCount(&L, Block))
      Least = Least ? std::min(Least, Turns) : Turns;
  return Least;
}

/// What products of matrices count for beyond LLVM's one: as many as they have
/// operands and results.
static uint64_t sizeOfMatrices(const Loop &L) {
  uint64_t Size = 0;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block)
      if (const auto *Call = dyn_cast<IntrinsicInst>(&I))
        if (const auto *Results = dyn_cast<StructType>(Call->getType()))
          Size += Call->arg_size() + Results->getNumElements() - 1;
  return Size;
}

/// The turns that NVIDIA's compiler unrolls of a loop of so many turns, or an
/// unknown number, 0, where up to `Asked` are asked for; `Fits` says whether so
/// many do. As many as asked for; else a power of two that divides all turns,
/// or four or two of an odd number, or two of an unknown one; but as many or
/// none where a loop is left inside.
static unsigned turnsUnrolled(const Loop &L, unsigned Turns, unsigned Asked,
                              function_ref<bool(uint64_t)> Fits) {
  if (Fits(Asked))
    return Asked;
  if (!L.isInnermost())
    return 1;
  unsigned Fewer = !Turns ? 2 : Turns % 2 ? 4 : 1u << llvm::countr_zero(Turns);
  while (Fewer > 1 && (Fewer >= Asked || !Fits(Fewer)))
    Fewer /= 2;
  return Fewer;
}

/// The comparison and the branch at the end of a turn.
static constexpr unsigned End = 2;

/// The instructions of a turn without those of its end, in LLVM's estimate.
static uint64_t sizeOfTurn(const UnrollCostEstimator &Estimator) {
  return Estimator.getRolledLoopSize() - End;
}

static UnrollCostEstimator estimate(const Loop &L,
                                    LoopStandardAnalysisResults &AR) {
  SmallPtrSet<const Value *, 32> Ephemeral;
  CodeMetrics::collectEphemeralValues(&L, &AR.AC, Ephemeral);
  return UnrollCostEstimator(&L, AR.TTI, Ephemeral, End);
}

/// What loops inside gain when those are unrolled that LLVM unrolls in part: it
/// does so later, and NVIDIA's compiler has done so already.
static uint64_t sizeToCome(const Loop &L, LoopStandardAnalysisResults &AR) {
  uint64_t Size = 0;
  for (const Loop *Inner : L.getSubLoops()) {
    uint64_t Own = sizeToCome(*Inner, AR);
    uint64_t Turns = getOptionalIntLoopAttribute(Inner, Part).value_or(1);
    UnrollCostEstimator Estimator = estimate(*Inner, AR);
    uint64_t Turn = Estimator.canUnroll() ? sizeOfTurn(Estimator) : 0;
    Size = SaturatingMultiplyAdd<uint64_t>(
        std::max<uint64_t>(Turns, 1) - 1,
        SaturatingAdd(Turn + sizeOfMatrices(*Inner), Own),
        SaturatingAdd(Size, Own));
  }
  return Size;
}

/// Has LLVM unroll a loop that the source wants unrolled as often as NVIDIA's
/// compiler does. The loops inside were seen ahead of it, so that none is left
/// there that LLVM asks again about once it is simplified: it would unroll that
/// in each copy.
static void unrollAsNvidia(Loop &L, LoopStandardAnalysisResults &AR) {
  if (hasUnrollTransformation(&L) != TM_ForcedByUser)
    return;
  unsigned Turns = knownTurns(L, AR.SE), Asked = Turns;
  if (auto Number = getOptionalIntLoopAttribute(&L, Part))
    Asked = Turns ? std::min<unsigned>(Turns, *Number) : *Number;
  if (Asked < 2)
    return;
  UnrollCostEstimator Estimator = estimate(L, AR);
  if (!Estimator.canUnroll())
    return;
  uint64_t Size = sizeOfTurn(Estimator);
  uint64_t NvidiaSize =
      SaturatingAdd(Size + sizeOfMatrices(L), sizeToCome(L, AR));
  auto FitsOf = [](uint64_t Turn, uint64_t Most) {
    return [=](uint64_t Count) {
      return SaturatingMultiplyAdd<uint64_t>(Count, Turn, End) <= Most;
    };
  };
  unsigned Count = turnsUnrolled(L, Turns, Asked, FitsOf(NvidiaSize, MaxSize));
  // LLVM comes to that itself.
  if (Count == Asked && FitsOf(Size, MaxSizeOfLlvm)(Asked))
    return;
  // LLVM leaves no rest where all threads of a warp must take part.
  if (!Estimator.ConvergenceAllowsRuntime && (!Turns || Turns % Count))
    Count = Turns ? 1u << std::min(llvm::countr_zero(Turns),
                                   llvm::countr_zero(Count))
                  : 1;
  if (Count == 1)
    return mark(L, Disable, {Unroll});
  LLVMContext &Context = L.getHeader()->getContext();
  auto *Number = ConstantInt::get(Type::getInt32Ty(Context), Count);
  change(L, {Unroll},
         {MDNode::get(Context, {MDString::get(Context, Part),
                                ConstantAsMetadata::get(Number)})});
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
static void unrollOverStack(Loop &L, LoopStandardAnalysisResults &AR) {
  unsigned Turns = AR.SE.getSmallConstantTripCount(&L);
  if (Turns < 2 || hasUnrollTransformation(&L) != TM_Unspecified ||
      !walksStack(L))
    return;
  UnrollCostEstimator Estimator = estimate(L, AR);
  if (Estimator.canUnroll() &&
      Estimator.Convergence != ConvergenceKind::Uncontrolled &&
      Estimator.getRolledLoopSize() * Turns <= MaxSizeOfLlvm)
    mark(L, Full);
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
      unrollAsNvidia(L, AR);
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
