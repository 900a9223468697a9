//===- ApplySpills.cpp - Spills, reloads and where their slots are --------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Applier.h"
#include "EditCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/PseudoSourceValue.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <optional>
#include <string>

using namespace llvm;

namespace nvptx_ra {

/// What NVPTXInstrInfo.td means by the immediates of LD_ and ST_: neither
/// atomic nor volatile, in local memory, untyped, every byte used.
static constexpr int64_t NotAtomic = 0, Volatile = 8, ThreadScope = 0,
                         SharedSpace = 3, LocalSpace = 5, Untyped = 3,
                         AllBytesUsed = -1;

/// Dynamic shared memory lies behind the array, whose size is a multiple of
/// this: descriptors of matrices count on so much.
static constexpr unsigned ArrayAlignment = 1024;

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

Register Applier::sharedAddress(uint64_t Size) {
  Register &Address = SharedAddresses[Size == 8];
  if (!Address)
    Address = MRI.createVirtualRegister(Classes[/*B32=*/2]);
  return Address;
}

/// The dimensions that every block of a kernel has, where `.reqntid` proves
/// them. `.maxntid` bounds their product alone.
static std::optional<std::array<unsigned, 3>> blockShape(const Function &F) {
  StringRef Text = F.getFnAttribute("nvvm.reqntid").getValueAsString();
  if (Text.empty())
    return std::nullopt;
  std::array<unsigned, 3> Shape = {1, 1, 1};
  for (unsigned &Size : Shape) {
    auto [Number, Rest] = Text.split(',');
    if (Number.trim().getAsInteger(10, Size) || Size == 0)
      return std::nullopt;
    Text = Rest;
    if (Text.empty())
      return Shape;
  }
  return std::nullopt;
}

/// Computes the thread's number in its block into %nvptx_ra0.
static void printThreadNumber(raw_ostream &OS, const Function &F) {
  std::optional<std::array<unsigned, 3>> Shape = blockShape(F);
  auto Size = [&](unsigned Dimension, StringRef Register) {
    if (Shape)
      return utostr((*Shape)[Dimension]);
    OS << "mov.u32 " << Register << ", %ntid." << "xyz"[Dimension] << ";\n\t";
    return Register.str();
  };
  // One dimension is added to the next: (z * ysize + y) * xsize + x.
  bool HasZ = !Shape || (*Shape)[2] > 1, HasY = HasZ || (*Shape)[1] > 1;
  OS << "mov.u32 %nvptx_ra0, %tid." << (HasZ ? 'z' : HasY ? 'y' : 'x')
     << ";\n\t";
  for (unsigned Dimension : {1, 0}) {
    if (!(Dimension == 1 ? HasZ : HasY))
      continue;
    std::string Of = Size(Dimension, "%nvptx_ra1");
    OS << "mov.u32 %nvptx_ra2, %tid." << "xyz"[Dimension] << ";\n\t"
       << "mad.lo.u32 %nvptx_ra0, %nvptx_ra0, " << Of << ", %nvptx_ra2;\n\t";
  }
}

/// The assembly that declares the array and computes the addresses of this
/// thread's parts: the array's own and the thread's number times the size of a
/// slot.
static std::string sharedAddressText(const Function &F,
                                     const nvptx_ra_edit &Array,
                                     ArrayRef<uint64_t> Sizes) {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << ".shared .align " << (Array.b % ArrayAlignment ? 16 : ArrayAlignment)
     << " .b8 nvptx_ra_spills[" << Array.b
     << "];\n\t{ .reg .b32 %nvptx_ra<4>;\n\t";
  printThreadNumber(OS, F);
  OS << "mov.u32 %nvptx_ra3, nvptx_ra_spills;\n\t";
  for (auto [Index, Size] : enumerate(Sizes))
    OS << "mad.lo.u32 $" << Index << ", %nvptx_ra0, " << Size
       << ", %nvptx_ra3;\n\t";
  OS << "}";
  return Text;
}

void Applier::computeSharedAddresses() {
  SmallVector<uint64_t, 2> Sizes;
  for (uint64_t Size : {4, 8})
    if (SharedAddresses[Size == 8])
      Sizes.push_back(Size);
  if (Sizes.empty())
    return;
  MachineBasicBlock &Entry = MF.front();
  auto Place =
      LastDirective ? std::next(LastDirective->getIterator()) : Entry.begin();
  std::string Text =
      sharedAddressText(MF.getFunction(), *SharedArray, Sizes);
  MachineInstrBuilder MIB =
      BuildMI(Entry, Place, DebugLoc(), TII.get(TargetOpcode::INLINEASM))
          .addExternalSymbol(MF.createExternalSymbolName(Text))
          .addImm(InlineAsm::Extra_HasSideEffects);
  InlineAsm::Flag Output(InlineAsm::Kind::RegDef, /*NumOps=*/1);
  Output.setRegClass(Classes[/*B32=*/2]->getID());
  for (uint64_t Size : Sizes)
    MIB.addImm(Output).addDef(sharedAddress(Size));
}

static MachineMemOperand *sharedAccess(MachineFunction &MF, uint64_t Size,
                                       MachineMemOperand::Flags Flags) {
  return MF.getMachineMemOperand(MachinePointerInfo(SharedSpace),
                                 Flags | MachineMemOperand::MOVolatile,
                                 LLT::scalar(Size * 8), Align(Size));
}

Applier::SlotAccess Applier::accessSlot(const nvptx_ra_edit &E,
                                        MachineMemOperand::Flags Flags) {
  uint32_t Class = classOf(reg(E.a));
  uint64_t Size = spillSize(Class);
  int64_t Bits = static_cast<int64_t>(Size * 8);
  if (const nvptx_ra_edit *Shared = sharedSlot(E.b))
    return {Class,       Bits,      Volatile,
            SharedSpace, Shared->b, sharedAddress(Size),
            sharedAccess(MF, Size, Flags)};
  return {Class,      Bits, NotAtomic,
          LocalSpace, 0,    localAddress(E.b),
          slotAccess(MF, Flat.slot(E.b), Size, Flags)};
}

MachineInstr *Applier::insertSpill(const nvptx_ra_edit &E) {
  SlotAccess Access = accessSlot(E, MachineMemOperand::MOStore);
  return build(E, Opcodes.spilling().Store[Access.Class])
      .addReg(reg(E.a))
      .addImm(Access.Semantics)
      .addImm(ThreadScope)
      .addImm(Access.Space)
      .addImm(Access.Bits)
      .addReg(Access.Address)
      .addImm(Access.Offset)
      .addMemOperand(Access.Memory);
}

MachineInstr *Applier::insertReload(const nvptx_ra_edit &E) {
  SlotAccess Access = accessSlot(E, MachineMemOperand::MOLoad);
  return build(E, Opcodes.spilling().Load[Access.Class])
      .addDef(reg(E.a))
      .addImm(Access.Semantics)
      .addImm(ThreadScope)
      .addImm(Access.Space)
      .addImm(Untyped)
      .addImm(Access.Bits)
      .addImm(AllBytesUsed)
      .addReg(Access.Address)
      .addImm(Access.Offset)
      .addMemOperand(Access.Memory);
}

} // namespace nvptx_ra
