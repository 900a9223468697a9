//===- Target.cpp - NVPTX's opcodes and classes, by name ------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "Text.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetOpcodes.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace nvptx_ra {

static uint32_t descriptorFlags(const MCInstrDesc &Desc) {
  uint32_t Flags = 0;
  auto Set = [&](bool Holds, uint32_t Flag) { Flags |= Holds ? Flag : 0; };
  Set(Desc.mayLoad(), NVPTX_RA_DESC_LOAD);
  Set(Desc.mayStore(), NVPTX_RA_DESC_STORE);
  Set(Desc.hasUnmodeledSideEffects(), NVPTX_RA_DESC_SIDE_EFFECTS);
  Set(Desc.isConvergent(), NVPTX_RA_DESC_CONVERGENT);
  Set(Desc.isCall(), NVPTX_RA_DESC_CALL);
  Set(Desc.isTerminator(), NVPTX_RA_DESC_TERMINATOR);
  Set(Desc.isMetaInstruction(), NVPTX_RA_DESC_META);
  Set(Desc.getOpcode() == TargetOpcode::INLINEASM ||
          Desc.getOpcode() == TargetOpcode::INLINEASM_BR,
      NVPTX_RA_DESC_INLINE_ASM);
  return Flags;
}

static const TargetInstrInfo &instrInfoOf(const MachineFunction &MF) {
  return *MF.getSubtarget().getInstrInfo();
}

OpcodeTable::OpcodeTable(const MachineFunction &MF)
    : Info(instrInfoOf(MF)),
      Roles(new std::atomic<uint8_t>[Info.getNumOpcodes()]) {
  for (unsigned Opcode = 0; Opcode != Info.getNumOpcodes(); ++Opcode)
    Roles[Opcode].store(Unknown, std::memory_order_relaxed);
  nameSetMaxNReg(MF);
  auto Describe = [](const void *Table, uint32_t Opcode) {
    return static_cast<const OpcodeTable *>(Table)->describe(Opcode);
  };
  Core = nvptx_ra_opcodes_create(this, Describe, Info.getNumOpcodes());
}

// The printed mnemonic of an opcode is static data of the target, as its name
// is.
void OpcodeTable::nameSetMaxNReg(const MachineFunction &MF) {
  const TargetMachine &TM = MF.getTarget();
  std::unique_ptr<MCInstPrinter> Printer(TM.getTarget().createMCInstPrinter(
      TM.getTargetTriple(), 0, *TM.getMCAsmInfo(), Info,
      *TM.getMCRegisterInfo()));
  if (!Printer)
    return;
  for (unsigned Opcode = 0; Opcode != Info.getNumOpcodes(); ++Opcode) {
    const MCInstrDesc &Desc = Info.get(Opcode);
    if (Desc.getNumOperands() != 1 || Desc.getNumDefs() != 0 ||
        !Info.getName(Opcode).starts_with("anonymous_"))
      continue;
    MCInst Inst;
    Inst.setOpcode(Opcode);
    StringRef Printed = StringRef(Printer->getMnemonic(Inst).first).trim();
    if (Printed.starts_with("setmaxnreg."))
      SetMaxNReg.emplace_back(Opcode, Printed);
  }
}

StringRef OpcodeTable::name(unsigned Opcode) const {
  for (auto [Nameless, Printed] : SetMaxNReg)
    if (Nameless == Opcode)
      return Printed;
  return Info.getName(Opcode);
}

nvptx_ra_opcode_desc OpcodeTable::describe(unsigned Opcode) const {
  const MCInstrDesc &Desc = Info.get(Opcode);
  return {toStr(name(Opcode)), descriptorFlags(Desc), Desc.getNumDefs()};
}

OpcodeRole OpcodeTable::findRole(unsigned Opcode) const {
  auto Role = StringSwitch<OpcodeRole>(Info.getName(Opcode))
                  .Case("Callseq_Start", OpcodeRole::CallStart)
                  .Case("Callseq_End", OpcodeRole::CallEnd)
                  .Case("BRX_START", OpcodeRole::BrxStart)
                  .Cases({"BRX_ITEM", "BRX_END"}, OpcodeRole::BrxItemOrEnd)
                  .Default(OpcodeRole::Other);
  Roles[Opcode].store(static_cast<uint8_t>(Role), std::memory_order_relaxed);
  return Role;
}

std::optional<unsigned> OpcodeTable::inserted(int64_t Number) const {
  std::call_once(SearchedInserted, [this] {
    StringMap<uint32_t> Numbers;
    Inserted.resize(nvptx_ra_inserted_count());
    for (uint32_t Index = 0; Index != Inserted.size(); ++Index)
      Numbers[toRef(nvptx_ra_inserted_at(Index))] = Index;
    for (unsigned Opcode = 0; Opcode != Info.getNumOpcodes(); ++Opcode)
      if (auto It = Numbers.find(Info.getName(Opcode)); It != Numbers.end())
        Inserted[It->second] = Opcode;
  });
  if (Number < 0 || static_cast<uint64_t>(Number) >= Inserted.size())
    return std::nullopt;
  return Inserted[Number];
}

const OpcodeTable &opcodeTableOf(const MachineFunction &MF) {
  // The descriptors are static data of the target. Their address identifies the
  // target for any subtarget. An entry lives as long as the process, because
  // any function of the target may still refer to it.
  struct Entry {
    const MCInstrDesc *Descs;
    std::unique_ptr<OpcodeTable> Table;
  };
  static std::mutex Mutex;
  static std::vector<Entry> Entries;

  const MCInstrDesc *Descs = &instrInfoOf(MF).get(0);
  std::lock_guard<std::mutex> Lock(Mutex);
  for (const Entry &E : Entries)
    if (E.Descs == Descs)
      return *E.Table;
  Entries.push_back({Descs, std::make_unique<OpcodeTable>(MF)});
  return *Entries.back().Table;
}

std::array<const TargetRegisterClass *, NumClasses>
registerClassesOf(const TargetRegisterInfo &TRI) {
  std::array<const TargetRegisterClass *, NumClasses> Classes{};
  for (const TargetRegisterClass *Class : TRI.regclasses()) {
    unsigned Number = StringSwitch<unsigned>(TRI.getRegClassName(Class))
                          .Case("B1", 0)
                          .Case("B16", 1)
                          .Case("B32", 2)
                          .Case("B64", 3)
                          .Case("B128", 4)
                          .Default(NumClasses);
    if (Number != NumClasses)
      Classes[Number] = Class;
  }
  return Classes;
}

} // namespace nvptx_ra
