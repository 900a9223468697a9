//===- Target.cpp - NVPTX's opcodes and classes, by name ------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetOpcodes.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include <memory>
#include <mutex>
#include <vector>

using namespace llvm;

namespace nvptx_ra {

/// The place where the number of the opcode \p Name is wanted, or null.
static unsigned *findNumber(OpcodeNumbers &Numbers, StringRef Name) {
  return StringSwitch<unsigned *>(Name)
      .Case("Callseq_Start", &Numbers.CallStart)
      .Case("Callseq_End", &Numbers.CallEnd)
      .Case("BRX_START", &Numbers.BrxStart)
      .Case("BRX_ITEM", &Numbers.BrxItem)
      .Case("BRX_END", &Numbers.BrxEnd)
      .Case("LEA_ADDRi", &Numbers.FrameAddress[0])
      .Case("LEA_ADDRi64", &Numbers.FrameAddress[1])
      .Case("cvta_to_local", &Numbers.ToLocal[0])
      .Case("cvta_to_local_64", &Numbers.ToLocal[1])
      .Case("LD_i16", &Numbers.Load[1])
      .Case("LD_i32", &Numbers.Load[2])
      .Case("LD_i64", &Numbers.Load[3])
      .Case("ST_i16", &Numbers.Store[1])
      .Case("ST_i32", &Numbers.Store[2])
      .Case("ST_i64", &Numbers.Store[3])
      .Default(nullptr);
}

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

static std::unique_ptr<OpcodeTable> makeTable(const TargetInstrInfo &TII) {
  auto Table = std::make_unique<OpcodeTable>();
  std::vector<nvptx_ra_opcode_desc> Descs;
  Descs.reserve(TII.getNumOpcodes());
  for (unsigned Opcode = 0; Opcode != TII.getNumOpcodes(); ++Opcode) {
    const MCInstrDesc &Desc = TII.get(Opcode);
    StringRef Name = TII.getName(Opcode);
    Descs.push_back(
        {{Name.data(), Name.size()}, descriptorFlags(Desc), Desc.getNumDefs()});
    if (unsigned *Number = findNumber(Table->Numbers, Name))
      *Number = Opcode;
  }
  Table->Opcodes = nvptx_ra_opcodes_create(Descs.data(), Descs.size());
  return Table;
}

const OpcodeTable &opcodeTableOf(const TargetInstrInfo &TII) {
  // The descriptors are static data of the target: their address names it,
  // whatever the subtarget. An entry lives as long as the process, because any
  // function of the target may still refer to it.
  struct Entry {
    const MCInstrDesc *Descs;
    std::unique_ptr<OpcodeTable> Table;
  };
  static std::mutex Mutex;
  static std::vector<Entry> Entries;

  const MCInstrDesc *Descs = &TII.get(0);
  std::lock_guard<std::mutex> Lock(Mutex);
  for (const Entry &E : Entries)
    if (E.Descs == Descs)
      return *E.Table;
  Entries.push_back({Descs, makeTable(TII)});
  return *Entries.back().Table;
}

const nvptx_ra_opcodes *opcodesOf(const TargetInstrInfo &TII) {
  return opcodeTableOf(TII).Opcodes;
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
