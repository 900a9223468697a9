//===- Forecast.cpp - Forecast of a module --------------------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See Forecast.h.
///
//===----------------------------------------------------------------------===//

#include "Forecast.h"

#include "Clone.h"
#include "Options.h"
#include "Remarks.h"
#include "Text.h"
#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineBranchProbabilityInfo.h"
#include "llvm/CodeGen/MachineDominators.h"
#include "llvm/CodeGen/MachineFunctionAnalysis.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachinePassManager.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LLVMRemarkStreamer.h"
#include "llvm/IR/Module.h"
#include "llvm/Remarks/RemarkStreamer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <optional>

using namespace llvm;

namespace nvptx_ra {

//===----------------------------------------------------------------------===//
// The forecast of one module.
//===----------------------------------------------------------------------===//

/// Whether a file of remarks records a pass's remarks.
static bool isRecorded(const LLVMContext &Context, StringRef PassName) {
  auto *File = const_cast<LLVMContext &>(Context).getMainRemarkStreamer();
  return File && File->matchesFilter(PassName);
}

bool Forecaster::figuresWantedBy(const LLVMContext &Context) {
  return Context.getDiagHandlerPtr()->isAnalysisRemarkEnabled(Forecast.Name) ||
         isRecorded(Context, Forecast.Name);
}

bool Forecaster::lintsWantedBy(const LLVMContext &Context) {
  return Context.getDiagHandlerPtr()->isMissedOptRemarkEnabled(LintName) ||
         isRecorded(Context, LintName);
}

void Forecaster::add(Compilation &Within, MachineFunction &MF,
                     const RequiredAnalyses &Analyses, bool Coalesced) {
  if (!MF.getTarget().getTargetTriple().isNVPTX())
    return;
  uint32_t Flags = (Coalesced ? NVPTX_RA_REQUEST_COALESCED : 0) |
                   (WithLints ? NVPTX_RA_REQUEST_LINTS : 0);
  add(MF, observe(Within, MF, Analyses, Forecast, Parameters, Flags));
}

void Forecaster::add(MachineFunction &MF, Observation Seen) {
  Target = MF.getSubtarget().getCPU().str();
  Functions.push_back({&MF.getFunction(), std::move(Seen)});
}

bool Forecaster::finish(Module &M, bool Limit) {
  if (!M.getTargetTriple().isNVPTX())
    return false;
  std::string CommandLine = commandLine();
  nvptx_ra_request Request = {};
  Request.version = NVPTX_RA_ABI_VERSION;
  Request.size = sizeof(Request);
  Request.pass = toStr(Desc.Name);
  Request.parameters = toStr(Parameters);
  Request.command_line = toStr(CommandLine);
  Request.target = toStr(Target);
  if (figuresWantedBy(M.getContext()))
    Request.flags |= NVPTX_RA_REQUEST_REMARKS;
  std::vector<const nvptx_ra_response *> Responses;
  for (const Summarised &Function : Functions)
    Responses.push_back(Function.Seen.Response.get());
  ResponsePtr Response(
      nvptx_ra_forecast(&Request, Responses.data(), Responses.size()));
  errs() << toRef(Response->output);
  if (Response->status == NVPTX_RA_STATUS_ERROR)
    report(M.getContext(), Response.get());
  else
    reportWarnings(M.getContext(), *Response);
  for (const nvptx_ra_remark &Remark :
       ArrayRef(Response->remarks, Response->num_remarks)) {
    const Summarised &Function = Functions[Remark.function];
    const llvm::Function *Where = Functions[Remark.line_function].F;
    if (!Function.F)
      continue;
    if (Remark.kind == NVPTX_RA_REMARK_MISSED)
      emitFinding(*Function.F, Where ? *Where : *Function.F, Remark);
    else
      emitFigure(*Function.F, Forecast,
                 Remark.at_place ? Function.Seen.Place : DebugLoc(), Remark);
  }
  ArrayRef Changes(Response->edits, Limit ? Response->num_edits : 0);
  for (const nvptx_ra_edit &Edit : Changes) {
    auto [Key, Value] = toRef(Response->text).slice(Edit.a, Edit.b).split('=');
    if (Function *F = Functions[Edit.id].F)
      F->addFnAttr(Key, Value);
  }
  Functions.clear();
  return Changes.size() != 0;
}

//===----------------------------------------------------------------------===//
// The legacy pass manager.
//===----------------------------------------------------------------------===//

namespace {

/// The analyses of a function, computed only for the forecast.
struct OwnAnalyses {
  MachineDominatorTree Dominators;
  MachineLoopInfo Loops;
  MachineBranchProbabilityInfo Probabilities;
  MachineBlockFrequencyInfo Frequencies;

  explicit OwnAnalyses(MachineFunction &MF)
      : Dominators(MF), Loops(Dominators),
        Frequencies(MF, Probabilities, Loops) {}
};

} // namespace

template <const PassDesc &Desc>
void LegacyForecast<Desc>::getAnalysisUsage(AnalysisUsage &AU) const {
  AU.addUsedIfAvailable<MachineBlockFrequencyInfoWrapperPass>();
  AU.addUsedIfAvailable<MachineLoopInfoWrapperPass>();
  AU.setPreservesAll();
  MachineFunctionPass::getAnalysisUsage(AU);
}

template <const PassDesc &Desc>
bool LegacyForecast<Desc>::doInitialization(Module &M) {
  Forecaster &Into = Use.Into ? *Use.Into : Own;
  if (Forecaster::lintsWantedBy(M.getContext()))
    Into.withLints();
  Within->wantObservations(Use.DirectlyBehind && isWanted(M.getContext()),
                           Into.hasLints());
  return false;
}

template <const PassDesc &Desc>
bool LegacyForecast<Desc>::runOnMachineFunction(MachineFunction &MF) {
  if (!isWanted(MF.getFunction().getContext()))
    return false;
  if (Use.DirectlyBehind) {
    if (std::optional<Observation> Seen = Within->takeObservation(MF)) {
      (Use.Into ? *Use.Into : Own).add(MF, std::move(*Seen));
      return false;
    }
  }
  RequiredAnalyses Analyses;
  std::optional<OwnAnalyses> Computed;
  auto *MBFI = getAnalysisIfAvailable<MachineBlockFrequencyInfoWrapperPass>();
  auto *MLI = getAnalysisIfAvailable<MachineLoopInfoWrapperPass>();
  if (MBFI && MLI) {
    Analyses.MBFI = &MBFI->getMBFI();
    Analyses.MLI = &MLI->getLI();
  } else if (MF.getTarget().getOptLevel() != CodeGenOptLevel::None &&
             !MF.empty()) {
    Computed.emplace(MF);
    Analyses.MBFI = &Computed->Frequencies;
    Analyses.MLI = &Computed->Loops;
  }
  (Use.Into ? *Use.Into : Own).add(*Within, MF, Analyses, Use.Coalesced);
  return false;
}

template <const PassDesc &Desc>
bool LegacyForecast<Desc>::doFinalization(Module &M) {
  Within->wantObservations(false);
  if (!Use.Into && isWanted(M.getContext()))
    Own.finish(M);
  return false;
}

char ForecastBarrier::ID = 0;

//===----------------------------------------------------------------------===//
// The new pass manager.
//===----------------------------------------------------------------------===//

/// Adds the machine functions of a module; false if the module has none.
static bool addMachineFunctions(Module &M, ModuleAnalysisManager &MAM,
                                Forecaster &Into) {
  using FAMProxy = FunctionAnalysisManagerModuleProxy;
  using MFAMProxy = MachineFunctionAnalysisManagerModuleProxy;
  if (!MAM.isPassRegistered<MFAMProxy>())
    return false;
  FunctionAnalysisManager &FAM = MAM.getResult<FAMProxy>(M).getManager();
  MachineFunctionAnalysisManager &MFAM =
      MAM.getResult<MFAMProxy>(M).getManager();
  bool Any = false;
  Compilation Within;
  for (Function &F : M) {
    auto *Result = FAM.getCachedResult<MachineFunctionAnalysis>(F);
    if (!Result)
      continue;
    MachineFunction &MF = Result->getMF();
    Into.add(Within, MF, RequiredAnalyses(MF, MFAM), /*Coalesced=*/false);
    Any = true;
  }
  return Any;
}

template <const PassDesc &Desc>
PreservedAnalyses NewForecast<Desc>::run(Module &M,
                                         ModuleAnalysisManager &MAM) {
  if (!M.getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  Forecaster Into(Desc, Parameters);
  if (Forecaster::lintsWantedBy(M.getContext()))
    Into.withLints();
  if (addMachineFunctions(M, MAM, Into))
    Into.finish(M);
  else
    forecastClone(M, Desc, Parameters);
  return PreservedAnalyses::all();
}

template <const PassDesc &Desc>
void NewForecast<Desc>::printPipeline(raw_ostream &OS,
                                      function_ref<StringRef(StringRef)>) {
  printPass(OS, Desc, Parameters);
}

#define FORECAST_PASS(Identifier, Name, Title)                                 \
  template class LegacyForecast<Identifier>;                                       \
  template class NewForecast<Identifier>;
#define FORECAST_PRINTER(Identifier, Name, LegacyName, Title)                  \
  template class LegacyForecast<Identifier>;                                       \
  template class LegacyForecast<Identifier##Alias>;                                \
  template class NewForecast<Identifier>;
#include "Passes.def"

} // namespace nvptx_ra
