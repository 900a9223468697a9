//===- FlattenOperands.cpp - Operands and symbols of a view ---------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flattener.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalValue.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace nvptx_ra {

nvptx_ra_str FlatFunction::Writer::textOf(const MachineOperand &MO,
                                          uint32_t Id) {
  // The text is only for readers. Names are as in MIR. For an operand without a
  // name, and for an operand with a name that LLVM could only print at length,
  // the text is a word and the symbol's number. Different symbols thus have
  // different texts.
  SmallString<64> Buffer;
  raw_svector_ostream OS(Buffer);
  bool Offset = false;
  if (MO.isGlobal() && MO.getGlobal()->hasName()) {
    OS << '@' << MO.getGlobal()->getName();
    Offset = true;
  } else if (MO.isSymbol()) {
    OS << '&' << MO.getSymbolName();
    Offset = true;
  } else if (MO.isMetadata()) {
    OS << "metadata." << Id;
  } else {
    OS << "operand." << Id;
  }
  if (Offset && MO.getOffset() != 0)
    OS << '+' << MO.getOffset();
  if (Offset && MO.getTargetFlags() != 0)
    OS << ":flags=" << MO.getTargetFlags();
  return toStr(Buffer.str().copy(Data.Text));
}

uint32_t FlatFunction::Writer::symbolOf(const MachineOperand &MO) {
  auto [It, New] = Data.SymbolIds.try_emplace(&MO, Data.Symbols.size());
  if (New) {
    uint64_t SharedBytes = sharedBytesOf(MO, MF.getDataLayout());
    Data.Symbols.push_back({textOf(MO, It->second), SharedBytes});
    Data.SymbolOperands.push_back(&MO);
  }
  return It->second;
}

void FlatFunction::Writer::tie(nvptx_ra_operand &Operand, size_t Other) {
  if (Other >= NVPTX_RA_NOT_TIED)
    Flat.Refusal = "an instruction has tied operands beyond its 65,535th";
  else
    Operand.tied = static_cast<uint16_t>(Other);
}

void FlatFunction::Writer::writeAsmTies(const MachineInstr &MI,
                                        MutableArrayRef<nvptx_ra_operand> Out) {
  // For each operand in question, LLVM visits all groups of operands. This
  // takes too long for assembly with a hundred operands that are both read and
  // written.
  SmallVector<unsigned, 32> Groups;
  unsigned Index = InlineAsm::MIOp_FirstOperand;
  while (Index < Out.size() && MI.getOperand(Index).isImm()) {
    Groups.push_back(Index);
    InlineAsm::Flag Flag(static_cast<uint32_t>(MI.getOperand(Index).getImm()));
    unsigned Size = Flag.getNumOperandRegisters();
    unsigned Tied = 0;
    bool IsTied = Flag.isUseOperandTiedToDef(Tied);
    // MIR files may contain inconsistent flags.
    if (Index + Size >= Out.size() || (IsTied && Tied >= Groups.size()))
      return;
    for (unsigned At = 1; IsTied && At <= Size; ++At)
      if (const MachineOperand &MO = MI.getOperand(Index + At);
          MO.isReg() && MO.isTied()) {
        tie(Out[Index + At], Groups[Tied] + At);
        tie(Out[Groups[Tied] + At], Index + At);
      }
    Index += 1 + Size;
  }
}

void FlatFunction::Writer::writeRegOperand(const MachineInstr &MI,
                                           unsigned Index,
                                           nvptx_ra_operand &Out) {
  const MachineOperand &MO = MI.getOperand(Index);
  Register Reg = MO.getReg();
  if (!Reg) {
    Out.kind = NVPTX_RA_OPERAND_NOREG;
    return;
  }
  if (Reg.isVirtual()) {
    Out.kind = NVPTX_RA_OPERAND_REG;
    Out.id = Reg.virtRegIndex();
  } else {
    Out.kind = NVPTX_RA_OPERAND_PHYSICAL;
    Out.id = Reg.id();
  }
  uint8_t Flags = 0;
  if (MO.isDef())
    Flags |= NVPTX_RA_FLAG_DEF | (MO.isDead() ? NVPTX_RA_FLAG_DEAD : 0);
  else
    Flags |= MO.isKill() ? NVPTX_RA_FLAG_KILL : 0;
  Flags |= MO.isImplicit() ? NVPTX_RA_FLAG_IMPLICIT : 0;
  Flags |= MO.isUndef() ? NVPTX_RA_FLAG_UNDEF : 0;
  Flags |= MO.isEarlyClobber() ? NVPTX_RA_FLAG_EARLY_CLOBBER : 0;
  Out.flags = Flags;
  if (MO.isTied() && !MI.isInlineAsm())
    tie(Out, MI.findTiedOperandIdx(Index));
  if (MO.getSubReg() != 0)
    Flat.Refusal = "an operand names a part of a register, which NVPTX has not";
}

void FlatFunction::Writer::writeOperand(const MachineInstr &MI, unsigned Index,
                                        nvptx_ra_operand &Out) {
  const MachineOperand &MO = MI.getOperand(Index);
  Out = {NVPTX_RA_OPERAND_SYMBOL, 0, NVPTX_RA_NOT_TIED, 0, 0};
  switch (MO.getType()) {
  case MachineOperand::MO_Register:
    return writeRegOperand(MI, Index, Out);
  case MachineOperand::MO_Immediate:
    if (MO.getTargetFlags() != 0)
      break;
    Out.kind = NVPTX_RA_OPERAND_IMMEDIATE;
    Out.value = MO.getImm();
    return;
  case MachineOperand::MO_FPImmediate: {
    APInt Bits = MO.getFPImm()->getValueAPF().bitcastToAPInt();
    if (MO.getTargetFlags() != 0 || Bits.getBitWidth() > 64)
      break;
    Out.kind = NVPTX_RA_OPERAND_FLOAT;
    Out.value = static_cast<int64_t>(Bits.getZExtValue());
    return;
  }
  case MachineOperand::MO_MachineBasicBlock:
    if (MO.getTargetFlags() != 0)
      break;
    Out.kind = NVPTX_RA_OPERAND_BLOCK;
    Out.id = Data.BlockIds[MO.getMBB()->getNumber()];
    return;
  case MachineOperand::MO_FrameIndex:
    if (MO.getTargetFlags() != 0)
      break;
    Out.kind = NVPTX_RA_OPERAND_SLOT;
    Out.id = static_cast<uint32_t>(MO.getIndex() - Flat.FirstFrameIndex);
    return;
  default:
    break;
  }
  Out.id = symbolOf(MO);
}

} // namespace nvptx_ra
