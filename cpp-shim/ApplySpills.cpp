//===- ApplySpills.cpp - Spills, reloads and where their slots are --------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Applier.h"
#include "EditCheck.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/PseudoSourceValue.h"

using namespace llvm;

namespace nvptx_ra {

/// What NVPTXInstrInfo.td means by the immediates of LD_ and ST_: neither
/// atomic nor volatile, in local memory, untyped, every byte used.
static constexpr int64_t NotAtomic = 0, ThreadScope = 0, LocalSpace = 5,
                         Untyped = 3, AllBytesUsed = -1;

Register Applier::localAddress(uint32_t Slot) {
  if (SlotAddresses.size() <= Slot)
    SlotAddresses.resize(Slot + 1);
  Register &Address = SlotAddresses[Slot];
  if (!Address) {
    const SpillOpcodes &Spilling = Opcodes.spilling();
    const MCInstrDesc &Local = TII.get(Spilling.ToLocal[pointerIndex(MF)]);
    Address = MRI.createVirtualRegister(compat::operandClass(MF, Local, 0));
  }
  return Address;
}

void Applier::computeLocalAddresses() {
  // A frame index becomes an offset from the generic stack pointer, which no
  // st.local takes. LLVM's peephole folds the two instructions into one that
  // adds to the local stack pointer, while the registers have one definition.
  if (SlotAddresses.empty())
    return;
  unsigned Pointer = pointerIndex(MF);
  const SpillOpcodes &Spilling = Opcodes.spilling();
  const MCInstrDesc &Frame = TII.get(Spilling.FrameAddress[Pointer]);
  MachineBasicBlock &Entry = MF.front();
  auto Begin = Entry.begin();
  for (const auto &[Slot, Address] : enumerate(SlotAddresses)) {
    if (!Address)
      continue;
    Register Generic = MRI.cloneVirtualRegister(Address);
    BuildMI(Entry, Begin, DebugLoc(), Frame, Generic)
        .addFrameIndex(Flat.slot(Slot))
        .addImm(0);
    BuildMI(Entry, Begin, DebugLoc(), TII.get(Spilling.ToLocal[Pointer]),
            Address)
        .addReg(Generic);
  }
}

static MachineMemOperand *slotAccess(MachineFunction &MF, int FrameIndex,
                                     uint64_t Size,
                                     MachineMemOperand::Flags Flags) {
  MachinePointerInfo Info = MachinePointerInfo::getFixedStack(MF, FrameIndex);
  Info.AddrSpace = LocalSpace;
  return MF.getMachineMemOperand(Info, Flags, LLT::scalar(Size * 8),
                                 MF.getFrameInfo().getObjectAlign(FrameIndex));
}

MachineInstr *Applier::insertSpill(const nvptx_ra_edit &E) {
  uint32_t Class = classOf(reg(E.a));
  uint64_t Size = spillSize(Class);
  Register Address = localAddress(E.b);
  return build(E, Opcodes.spilling().Store[Class])
      .addReg(reg(E.a))
      .addImm(NotAtomic)
      .addImm(ThreadScope)
      .addImm(LocalSpace)
      .addImm(static_cast<int64_t>(Size * 8))
      .addReg(Address)
      .addImm(0)
      .addMemOperand(
          slotAccess(MF, Flat.slot(E.b), Size, MachineMemOperand::MOStore));
}

MachineInstr *Applier::insertReload(const nvptx_ra_edit &E) {
  uint32_t Class = classOf(reg(E.a));
  uint64_t Size = spillSize(Class);
  Register Address = localAddress(E.b);
  return build(E, Opcodes.spilling().Load[Class])
      .addDef(reg(E.a))
      .addImm(NotAtomic)
      .addImm(ThreadScope)
      .addImm(LocalSpace)
      .addImm(Untyped)
      .addImm(static_cast<int64_t>(Size * 8))
      .addImm(AllBytesUsed)
      .addReg(Address)
      .addImm(0)
      .addMemOperand(
          slotAccess(MF, Flat.slot(E.b), Size, MachineMemOperand::MOLoad));
}

} // namespace nvptx_ra
