//===- Optimise.cpp - LLVM's optimisations in process, as clang runs them -===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The optimisations that clang -O3 runs between its front end and the code
/// generator.
///
//===----------------------------------------------------------------------===//

#include "nvptx_ra_codegen.h"

#include "AheadChoices.h"
#include "llvm-c/Core.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace {

OptimizationLevel levelOf(uint32_t Level) {
  switch (Level) {
  case 0:
    return OptimizationLevel::O0;
  case 1:
    return OptimizationLevel::O1;
  case 2:
    return OptimizationLevel::O2;
  default:
    return OptimizationLevel::O3;
  }
}

/// Returns clang's settings for a level. All other settings are defaults.
PipelineTuningOptions tuningOf(uint32_t Level) {
  PipelineTuningOptions Tuning;
  bool IsFast = Level > 1;
  Tuning.LoopUnrolling = Tuning.LoopInterleaving = IsFast;
  Tuning.LoopVectorization = Tuning.SLPVectorization = IsFast;
  return Tuning;
}

/// A pass builder with the analyses of a module.
class Pipeline {
  PassInstrumentationCallbacks Callbacks;
  // Skips passes on optnone functions.
  StandardInstrumentations Instrumentations;
  // Declared in the order in which they refer to each other.
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;

public:
  PassBuilder Builder;

  Pipeline(Module &M, TargetMachine &TM, uint32_t Level)
      : Instrumentations(M.getContext(), /*DebugLogging=*/false),
        Builder(&TM, tuningOf(Level), /*PGOOpt=*/std::nullopt, &Callbacks) {
    Instrumentations.registerCallbacks(Callbacks, &Modules);
    Builder.registerModuleAnalyses(Modules);
    Builder.registerCGSCCAnalyses(Components);
    Builder.registerFunctionAnalyses(Functions);
    Builder.registerLoopAnalyses(Loops);
    Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
  }

  void run(ModulePassManager &Passes, Module &M) { Passes.run(M, Modules); }
};

bool isNamed(const Function &F) {
  return any_of(F.args(), [](const Argument &A) { return A.hasName(); }) ||
         any_of(F, [](const BasicBlock &Block) { return Block.hasName(); }) ||
         any_of(instructions(F),
                [](const Instruction &I) { return I.hasName(); });
}

/// Discards the names of values, as clang does by default. Names reach PTX as
/// comments.
void discardNamesLikeClang(Module &M) {
  if (none_of(M, isNamed))
    M.getContext().setDiscardValueNames(true);
}

/// Sets the option that clang's driver gives LLVM for CUDA. NVPTX has no
/// library with memset and memcpy, so MemCpyOpt creates neither without the
/// option.
void mergeStoresLikeClang() {
  auto &Options = cl::getRegisteredOptions();
  cl::Option *Option = Options.lookup("enable-memcpyopt-without-libcalls");
  if (Option && !Option->getNumOccurrences())
    Option->addOccurrence(/*Position=*/0, Option->ArgStr, "true");
}

} // namespace

extern "C" uint32_t nvptx_ra_is_unoptimised(LLVMModuleRef Ref) {
  auto isUnoptimised = [](const Function &F) {
    return !F.isDeclaration() && !F.hasOptNone() &&
           any_of(F.getEntryBlock(), [](const Instruction &I) {
             const auto *Variable = dyn_cast<AllocaInst>(&I);
             return Variable && isAllocaPromotable(Variable);
           });
  };
  return any_of(*unwrap(Ref), isUnoptimised);
}

extern "C" void nvptx_ra_start_optimising(LLVMModuleRef Ref,
                                          LLVMTargetMachineRef Machine,
                                          uint32_t Level) {
  Module &M = *unwrap(Ref);
  Pipeline Line(M, *reinterpret_cast<TargetMachine *>(Machine), Level);
  ModulePassManager Passes;
  Line.Builder.invokePipelineStartEPCallbacks(Passes, levelOf(Level));
  Line.run(Passes, M);
}

extern "C" void nvptx_ra_optimise(LLVMModuleRef Ref,
                                  LLVMTargetMachineRef Machine,
                                  uint32_t Level) {
  Module &M = *unwrap(Ref);
  discardNamesLikeClang(M);
  mergeStoresLikeClang();
  auto &TM = *reinterpret_cast<TargetMachine *>(Machine);
  M.setDataLayout(TM.createDataLayout());
  Pipeline Line(M, TM, Level);
  nvptx_ra::registerAheadChoices(Line.Builder);
  ModulePassManager Passes =
      Level ? Line.Builder.buildPerModuleDefaultPipeline(levelOf(Level))
            : Line.Builder.buildO0DefaultPipeline(OptimizationLevel::O0);
  Line.run(Passes, M);
}
