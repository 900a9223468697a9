//===- MachinePass.cpp - The passes on machine code -----------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See MachinePass.h.
///
//===----------------------------------------------------------------------===//

#include "MachinePass.h"

#include "Apply.h"
#include "Compat.h"
#include "Flatten.h"
#include "FunctionFacts.h"
#include "Options.h"
#include "Remarks.h"
#include "Text.h"
#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>
#include <utility>

using namespace llvm;

namespace nvptx_ra {

namespace {

using Clock = std::chrono::steady_clock;

uint64_t nanosecondsSince(Clock::time_point Start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() -
                                                              Start)
      .count();
}

/// Whether -opt-bisect-limit and -opt-disable let the pass run. Unlike
/// FunctionPass::skipFunction this ignores optnone.
bool passesGate(const Function &F, const PassDesc &Desc) {
  const OptPassGate &Gate = F.getContext().getOptPassGate();
  return !Gate.isEnabled() ||
         Gate.shouldRunPass(Desc.Name,
                            ("function (" + F.getName() + ")").str());
}

/// One run of a pass on a function.
class Run {
  Compilation &Within;
  MachineFunction &MF;
  const RequiredAnalyses &Analyses;
  const PassDesc &Desc;
  const std::string CommandLine = commandLine();
  nvptx_ra_request Request = {};
  ResponsePtr Response;

public:
  Run(Compilation &Within, MachineFunction &MF,
      const RequiredAnalyses &Analyses, const PassDesc &Desc,
      StringRef Parameters)
      : Within(Within), MF(MF), Analyses(Analyses), Desc(Desc) {
    const Function &F = MF.getFunction();
    Request.version = NVPTX_RA_ABI_VERSION;
    Request.size = sizeof(Request);
    Request.pass = toStr(Desc.Name);
    Request.parameters = toStr(Parameters);
    Request.command_line = toStr(CommandLine);
    Request.attribute = toStr(F.getFnAttribute("nvptx-ra").getValueAsString());
    Request.target = toStr(MF.getSubtarget().getCPU());
    Request.session = Within.session();
    if (F.hasOptNone())
      Request.flags |= NVPTX_RA_REQUEST_OPTNONE;
    if (MF.getTarget().getOptLevel() == CodeGenOptLevel::None)
      Request.flags |= NVPTX_RA_REQUEST_O0;
    if (remarksEnabled(MF, Desc))
      Request.flags |= NVPTX_RA_REQUEST_REMARKS;
    if (compat::isSSA(MF))
      Request.flags |= NVPTX_RA_REQUEST_SSA;
    if (Desc.Name == CopyCoalescer.Name && Within.wantsObservations()) {
      Request.flags |= NVPTX_RA_REQUEST_SUMMARY;
      if (Within.wantsLints())
        Request.flags |= NVPTX_RA_REQUEST_LINTS;
    }
  }

  /// Returns whether the function changed.
  bool run() {
    uint32_t Scope = nvptx_ra_scope(&Request, takeCensus, this);
    if (Scope == NVPTX_RA_SCOPE_NOTHING)
      return false;
    Clock::time_point Start = Clock::now();
    const FlatFunction Flat = flatten(
        Scope == NVPTX_RA_SCOPE_PHIS ? ViewScope::Phis : ViewScope::Whole);
    uint64_t FlattenTime = nanosecondsSince(Start);
    ask(Flat);
    // Taken before the edits, which may delete the instructions of the view.
    DebugLoc Place = placeIn(Flat);
    uint64_t ApplyTime = 0;
    bool Changed = false, Done = true;
    switch (Response->status) {
    case NVPTX_RA_STATUS_UNCHANGED:
      break;
    case NVPTX_RA_STATUS_EDITS:
      Changed = Done = apply(Flat, ApplyTime);
      break;
    default:
      Done = false;
      refuse(toRef(Response->message));
      break;
    }
    if (Done)
      reportWarnings(context(), *Response);
    reportTime(FlattenTime, ApplyTime);
    if (Done && Response->summarised)
      Within.leaveObservation(MF, {std::move(Response), Place});
    return Changed;
  }

  Observation observe(uint32_t Flags) {
    Request.flags |= Flags;
    Clock::time_point Start = Clock::now();
    const FlatFunction Flat = flatten();
    uint64_t FlattenTime = nanosecondsSince(Start);
    ask(Flat);
    if (Response->status == NVPTX_RA_STATUS_ERROR)
      refuse(toRef(Response->message));
    DebugLoc Place = placeIn(Flat);
    reportTime(FlattenTime, /*Apply=*/0);
    return {std::move(Response), Place};
  }

private:
  /// Returns the source location of the response's place, in the function's own
  /// file.
  DebugLoc placeIn(const FlatFunction &Flat) const {
    if (Response->place >= Flat.view().num_insts)
      return {};
    return ownLocation(Flat.inst(Response->place)->getDebugLoc().get(),
                       fileOf(MF.getFunction()));
  }

  void ask(const FlatFunction &Flat) {
    Request.view = &Flat.view();
    Response.reset(nvptx_ra_run(&Request));
    errs() << toRef(Response->output);
    emitRemarks(MF, Analyses.MBFI, Desc, Flat, *Response);
  }

  void reportTime(uint64_t Flatten, uint64_t Apply) {
    if (Response->timed)
      nvptx_ra_report_time(&Request, Flatten, Apply);
  }

  static nvptx_ra_census takeCensus(void *OfRun) {
    return static_cast<Run *>(OfRun)->census();
  }

  nvptx_ra_census census() {
    if (Within.Counted)
      return Within.Counted->Counts;
    auto &[Counts, Assembly] = Within.Counted.emplace();
    for (const MachineBasicBlock &MBB : MF) {
      for (const MachineInstr &MI : MBB) {
        Counts.instructions += !MI.isDebugInstr();
        Counts.phis += MI.isPHI();
        if (MI.isInlineAsm())
          Assembly.push_back(toStr(
              MI.getOperand(InlineAsm::MIOp_AsmString).getSymbolName()));
        else
          Counts.shared_accesses +=
              any_of(MI.memoperands(), [](const MachineMemOperand *MMO) {
                return MMO->getAddrSpace() == NVPTXAS::ADDRESS_SPACE_SHARED;
              });
      }
      Counts.two_jumps += endsInTwoJumps(MBB);
    }
    Counts.assembly = Assembly.data();
    Counts.num_assembly = Assembly.size();
    return Counts;
  }

  static bool endsInTwoJumps(const MachineBasicBlock &MBB) {
    return !MBB.empty() && MBB.back().isUnconditionalBranch() &&
           &MBB.front() != &MBB.back() &&
           std::prev(MBB.back().getIterator())->isConditionalBranch();
  }

  FlatFunction flatten(ViewScope Scope = ViewScope::Whole) {
    return FlatFunction(Within.Views, MF, Analyses.MBFI, Analyses.MLI,
                        opcodeTableOf(MF).core(), Scope);
  }

  /// Reports an error that leaves the function unchanged.
  void refuse(StringRef Message) {
    report(context(), Message, Response->strict ? DS_Error : DS_Warning);
  }

  LLVMContext &context() { return MF.getFunction().getContext(); }

  /// Returns a message of the shim in the wording of the core's messages.
  std::string problem(const Twine &Text) {
    return ("nvptx-ra: kernel '" + MF.getName() + "': " + Text).str();
  }

  bool apply(const FlatFunction &Flat, uint64_t &Time) {
    Within.Counted.reset();
    bool WasClean = !Response->verify || wasClean();
    Clock::time_point Start = Clock::now();
    Error Failure = checkEdits();
    if (!Failure)
      Failure = applyEdits(MF, Flat, *Response);
    Time = nanosecondsSince(Start);
    if (Failure) {
      std::string Message = problem(toString(std::move(Failure)));
      nvptx_ra_report_failure(&Request, toStr(Message));
      refuse(Message);
      return false;
    }
    if (Response->verify)
      verifyApplied(WasClean);
    return true;
  }

  /// Rejects split edges if the pass has promised the pass manager to keep the
  /// control flow graph.
  Error checkEdits() {
    if (Desc.SplitsEdges)
      return Error::success();
    for (const nvptx_ra_edit &Edit :
         ArrayRef(Response->edits, Response->num_edits))
      if (Edit.kind == NVPTX_RA_EDIT_SPLIT_EDGE)
        return createStringError(Desc.Name + " must not split edges");
    return Error::success();
  }

  /// Checks the function after the edits: each problem is an error, because the
  /// function has changed.
  void verifyApplied(bool WasClean) {
    const FlatFunction After = flatten();
    if (ResponsePtr Difference{
            nvptx_ra_verify_applied(Response.get(), &After.view())})
      report(context(), toRef(Difference->message), DS_Error);
    if (WasClean && !verify("after " + Desc.Name, errs()))
      report(context(),
             problem("LLVM's machine verifier finds errors after " + Desc.Name +
                     " and found none before"),
             DS_Error);
  }

  /// Whether LLVM's machine verifier accepts the function before the pass.
  /// Errors at this point are LLVM's own, so only their existence is reported.
  bool wasClean() {
    if (verify("before " + Desc.Name, nulls()))
      return true;
    if (Within.isFirstFailure(MF.getName()))
      errs() << problem("LLVM's own code fails its machine verifier ahead of " +
                        Desc.Name + "; it is not compared")
             << '\n';
    return false;
  }

  /// Runs LLVM's machine verifier; false if it finds errors. It gets no
  /// analyses, because those from before the edits are stale.
  bool verify(const Twine &Banner, raw_ostream &Out) {
    return MF.verify(/*LiveInts=*/nullptr, /*Indexes=*/nullptr,
                     Banner.str().c_str(), &Out, /*AbortOnError=*/false);
  }
};

} // namespace

RequiredAnalyses::RequiredAnalyses(Pass &P)
    : MBFI(&P.getAnalysis<MachineBlockFrequencyInfoWrapperPass>().getMBFI()),
      MLI(&P.getAnalysis<MachineLoopInfoWrapperPass>().getLI()) {}

RequiredAnalyses::RequiredAnalyses(MachineFunction &MF,
                                   MachineFunctionAnalysisManager &MFAM) {
  // LLVM's analyses begin at the first block.
  if (MF.empty())
    return;
  MBFI = &MFAM.getResult<MachineBlockFrequencyAnalysis>(MF);
  MLI = &MFAM.getResult<MachineLoopAnalysis>(MF);
}

bool runPass(Compilation &Within, MachineFunction &MF,
             const RequiredAnalyses &Analyses, const PassDesc &Desc,
             StringRef Parameters) {
  if (!MF.getTarget().getTargetTriple().isNVPTX())
    return false;
  Within.forgetObservation();
  if (Desc.Edits && !passesGate(MF.getFunction(), Desc))
    return false;
  return Run(Within, MF, Analyses, Desc, Parameters).run();
}

Observation observe(Compilation &Within, MachineFunction &MF,
                    const RequiredAnalyses &Analyses, const PassDesc &Desc,
                    StringRef Parameters, uint32_t Flags) {
  return Run(Within, MF, Analyses, Desc, Parameters).observe(Flags);
}

void printPass(raw_ostream &OS, const PassDesc &Desc, StringRef Parameters) {
  OS << Desc.Name;
  if (!Parameters.empty())
    OS << '<' << Parameters << '>';
}

} // namespace nvptx_ra
