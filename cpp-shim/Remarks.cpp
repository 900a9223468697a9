//===- Remarks.cpp - Remarks and diagnostics ------------------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See Remarks.h.
///
//===----------------------------------------------------------------------===//

#include "Remarks.h"

#include "Flatten.h"
#include "MachinePass.h"
#include "Text.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineOptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

namespace nvptx_ra {

namespace {

/// The place of a remark: an instruction of the view, or the function.
struct Place {
  DebugLoc Loc;
  const MachineBasicBlock *Block;
};

Place placeOf(const MachineFunction &MF, const FlatFunction &Flat,
              uint32_t Inst) {
  if (Inst < Flat.view().num_insts) {
    const MachineInstr *MI = Flat.inst(Inst);
    return {MI->getDebugLoc(), MI->getParent()};
  }
  DebugLoc Loc;
  if (DISubprogram *SP = MF.getFunction().getSubprogram())
    Loc = DILocation::get(SP->getContext(), SP->getScopeLine(), 0, SP);
  return {Loc, &MF.front()};
}

template <typename RemarkT>
void emit(MachineOptimizationRemarkEmitter &MORE, const PassDesc &Desc,
          const Place &At, const nvptx_ra_remark &Remark) {
  MORE.emit([&] {
    return RemarkT(Desc.Name.data(), toRef(Remark.name), At.Loc, At.Block)
           << toRef(Remark.message);
  });
}

} // namespace

bool remarksEnabled(const MachineFunction &MF, const PassDesc &Desc) {
  const LLVMContext &Context = MF.getFunction().getContext();
  return Context.getLLVMRemarkStreamer() ||
         Context.getDiagHandlerPtr()->isAnyRemarkEnabled(Desc.Name);
}

void emitRemarks(MachineFunction &MF, MachineBlockFrequencyInfo *MBFI,
                 const PassDesc &Desc, const FlatFunction &Flat,
                 const nvptx_ra_response &Response) {
  if (Response.num_remarks == 0 || MF.empty() || !remarksEnabled(MF, Desc))
    return;
  MachineOptimizationRemarkEmitter MORE(MF, MBFI);
  for (const nvptx_ra_remark &Remark :
       ArrayRef(Response.remarks, Response.num_remarks)) {
    Place At = placeOf(MF, Flat, Remark.inst);
    switch (Remark.kind) {
    case NVPTX_RA_REMARK_PASSED:
      emit<MachineOptimizationRemark>(MORE, Desc, At, Remark);
      break;
    case NVPTX_RA_REMARK_MISSED:
      emit<MachineOptimizationRemarkMissed>(MORE, Desc, At, Remark);
      break;
    default:
      emit<MachineOptimizationRemarkAnalysis>(MORE, Desc, At, Remark);
      break;
    }
  }
}

void emitFigure(const Function &F, const PassDesc &Desc, const DebugLoc &Place,
                const nvptx_ra_remark &Remark) {
  DiagnosticLocation At =
      Place ? DiagnosticLocation(Place) : DiagnosticLocation(F.getSubprogram());
  OptimizationRemarkAnalysis Figure(Desc.Name.data(), toRef(Remark.name), At,
                                    &F.getEntryBlock());
  DiagnosticInfoOptimizationBase::Argument Value(toRef(Remark.name),
                                                 toRef(Remark.value));
  Figure << toRef(Remark.message) << ": " << Value;
  F.getContext().diagnose(Figure);
}

void emitFinding(const Function &F, const Function &Where,
                 const nvptx_ra_remark &Remark) {
  DISubprogram *SP = Where.getSubprogram();
  DiagnosticLocation At =
      SP && Remark.line
          ? DiagnosticLocation(
                DILocation::get(SP->getContext(), Remark.line, 0, SP))
          : DiagnosticLocation(F.getSubprogram());
  OptimizationRemarkMissed Finding(LintName.data(), toRef(Remark.name), At,
                                   &F.getEntryBlock());
  Finding << toRef(Remark.message);
  F.getContext().diagnose(Finding);
}

void report(LLVMContext &Context, StringRef Message,
            DiagnosticSeverity Severity) {
  StringRef Note = toRef(nvptx_ra_off_note());
  // A clone's messages already end with the note when the module reports them.
  std::string Text = Note.empty() || Message.contains(Note)
                         ? Message.str()
                         : (Message + "; " + Note).str();
  Context.diagnose(DiagnosticInfoGeneric(Text, Severity));
}

void report(LLVMContext &Context, const nvptx_ra_response *Response) {
  if (Response)
    report(Context, toRef(Response->message),
           Response->strict ? DS_Error : DS_Warning);
}

void reportWarnings(LLVMContext &Context, const nvptx_ra_response &Response) {
  SmallVector<StringRef, 4> Lines;
  toRef(Response.message)
      .split(Lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines)
    report(Context, Line, DS_Warning);
}

} // namespace nvptx_ra
