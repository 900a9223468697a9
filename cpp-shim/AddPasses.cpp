//===- AddPasses.cpp - LLVM passes added per function ---------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See AddPasses.h.
///
//===----------------------------------------------------------------------===//

#include "AddPasses.h"

#include "AssemblyEffects.h"
#include "Options.h"
#include "Remarks.h"
#include "StructurizeReducible.h"
#include "Text.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Error.h"

using namespace llvm;

namespace nvptx_ra {

template <typename PassT>
static bool addNamed(StringRef Name, FunctionPassManager &Passes) {
  if (Name != PassT::name())
    return false;
  if (!nvptx_ra_is_off())
    Passes.addPass(PassT());
  return true;
}

void registerOptimisations(PassBuilder &PB) {
  PB.registerPipelineParsingCallback(
      [](StringRef Name, FunctionPassManager &Passes,
         ArrayRef<PassBuilder::PipelineElement>) {
        return addNamed<AssemblyEffects>(Name, Passes) ||
               addNamed<StructurizeReducible>(Name, Passes);
      });
}

/// Runs optimisations, which are passes of the new pass manager and need its
/// analyses. Created for the first function whose options add a pass.
class Optimiser {
  PassBuilder Builder;
  // Declared in the order in which they refer to each other.
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;

public:
  explicit Optimiser(TargetMachine &TM) : Builder(&TM) {
    Builder.registerModuleAnalyses(Modules);
    Builder.registerCGSCCAnalyses(Components);
    Builder.registerFunctionAnalyses(Functions);
    Builder.registerLoopAnalyses(Loops);
    Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
    registerOptimisations(Builder);
  }

  /// Runs all optimisations of the set, or none if LLVM lacks one of them.
  Error run(Function &F, uint32_t Set) {
    FunctionPassManager Passes;
    for (uint32_t I = 0;; ++I) {
      StringRef Pipeline = toRef(nvptx_ra_added_pipeline(Set, I));
      if (Pipeline.empty())
        break;
      if (Error Problem = Builder.parsePassPipeline(Passes, Pipeline))
        return Problem;
    }
    Passes.run(F, Functions);
    // The code generator changes the function next without notifying these
    // analyses.
    Functions.clear();
    return Error::success();
  }
};

char AddPasses::ID = 0;

AddPasses::AddPasses(TargetMachine &TM) : FunctionPass(ID), TM(TM) {}

AddPasses::~AddPasses() = default;

bool AddPasses::doInitialization(Module &) {
  Options = commandLine();
  OfCommandLine = nvptx_ra_added(toStr(Options), toStr(""));
  return false;
}

bool AddPasses::runOnFunction(Function &F) {
  uint32_t Set = OfCommandLine;
  if (Attribute Own = F.getFnAttribute("nvptx-ra"); Own.isValid())
    Set = nvptx_ra_added(toStr(Options), toStr(Own.getValueAsString()));
  if (!Set || skipFunction(F))
    return false;
  if (!TheOptimiser)
    TheOptimiser = std::make_unique<Optimiser>(TM);
  if (Error Problem = TheOptimiser->run(F, Set)) {
    report(F.getContext(),
           ("nvptx-ra: " + F.getName() + ": " + toString(std::move(Problem)) +
            "; use an LLVM that has it, or leave it out of add-passes=")
               .str(),
           DS_Warning);
    return false;
  }
  return true;
}

bool AddPasses::doFinalization(Module &) {
  TheOptimiser.reset();
  return false;
}

} // namespace nvptx_ra
