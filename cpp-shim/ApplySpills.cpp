//===- ApplySpills.cpp - Spills, reloads and where their slots are --------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Applier.h"
#include "EditCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <optional>
#include <string>

using namespace llvm;

namespace nvptx_ra {

/// What NVPTXInstrInfo.td means by the immediates of LD_ and ST_: neither
/// atomic nor volatile, in local memory, untyped, every byte used.
static constexpr int64_t NotAtomic = 0, Volatile = 8, ThreadScope = 0,
                         SharedSpace = NVPTXAS::ADDRESS_SPACE_SHARED,
                         LocalSpace = NVPTXAS::ADDRESS_SPACE_LOCAL, Untyped = 3,
                         AllBytesUsed = -1;

/// What it means by the comparison of a SETP_.
static constexpr int64_t NotEqual = 1;

/// Dynamic shared memory lies behind the array, whose size is a multiple of
/// this: descriptors of matrices count on so much.
static constexpr unsigned ArrayAlignment = 1024;

void Applier::createLocalSlot(const nvptx_ra_edit &E) {
  // An access is aligned to its size, which is at most the slot's.
  uint64_t Size = static_cast<uint64_t>(E.value);
  uint64_t Alignment =
      std::max<uint64_t>(E.a, std::min<uint64_t>(16, bit_floor(Size)));
  LocalOffsets.push_back(alignTo(LocalBytes, Alignment));
  LocalBytes = LocalOffsets.back() + Size;
  LocalAlignment = std::max(LocalAlignment, Alignment);
}

Register Applier::localAddress() {
  if (!LocalAddress)
    LocalAddress = MRI.createVirtualRegister(Classes[B32Class]);
  return LocalAddress;
}

Register Applier::sharedAddress(uint64_t Row) {
  Register &Address = SharedAddresses[Log2_64(Row) - 1];
  if (!Address)
    Address = MRI.createVirtualRegister(Classes[B32Class]);
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

/// Declares the array in shared memory and computes the addresses of this
/// thread's parts: the array's own and the thread's number times the bytes of
/// a row.
static void printSharedAddresses(raw_ostream &OS, const Function &F,
                                 const nvptx_ra_edit &Array,
                                 ArrayRef<uint64_t> Sizes) {
  OS << ".shared .align " << (Array.b % ArrayAlignment ? 16 : ArrayAlignment)
     << " .b8 nvptx_ra_spills[" << Array.b
     << "];\n\t{ .reg .b32 %nvptx_ra<4>;\n\t";
  printThreadNumber(OS, F);
  OS << "mov.u32 %nvptx_ra3, nvptx_ra_spills;\n\t";
  for (auto [Index, Size] : enumerate(Sizes))
    OS << "mad.lo.u32 $" << Index << ", %nvptx_ra0, " << Size
       << ", %nvptx_ra3;\n\t";
  OS << "}";
}

/// Declares the array in local memory and computes its address.
///
/// ptxas keeps local memory in registers where it knows every address, so 0 is
/// added that it does not know: a grid has less than 2^16 blocks in z. The
/// array is not the frame, for accesses to that would then be unknown as well.
static void printLocalAddress(raw_ostream &OS, uint64_t Bytes,
                              uint64_t Alignment, unsigned Index) {
  OS << ".local .align " << Alignment << " .b8 nvptx_ra_local[" << Bytes
     << "];\n\t{ .reg .b32 %nvptx_ra<2>;\n\t"
     << "mov.u32 %nvptx_ra0, %nctaid.z;\n\t"
     << "shr.u32 %nvptx_ra0, %nvptx_ra0, 16;\n\t"
     << "mov.u32 %nvptx_ra1, nvptx_ra_local;\n\t"
     << "add.u32 $" << Index << ", %nvptx_ra1, %nvptx_ra0;\n\t}";
}

void Applier::computeSlotAddresses() {
  SmallVector<uint64_t, 4> Sizes;
  for (uint64_t Size : {2, 4, 8, 16})
    if (SharedAddresses[Log2_64(Size) - 1])
      Sizes.push_back(Size);
  if (Sizes.empty() && !LocalAddress)
    return;
  std::string Text;
  raw_string_ostream OS(Text);
  SmallVector<Register, 5> Addresses;
  for (uint64_t Size : Sizes)
    Addresses.push_back(sharedAddress(Size));
  if (!Sizes.empty())
    printSharedAddresses(OS, MF.getFunction(), *SharedArray, Sizes);
  if (LocalAddress) {
    OS << (Sizes.empty() ? "" : "\n\t");
    printLocalAddress(OS, LocalBytes, LocalAlignment, Addresses.size());
    Addresses.push_back(LocalAddress);
  }
  MachineBasicBlock &Entry = MF.front();
  auto Place =
      LastDirective ? std::next(LastDirective->getIterator()) : Entry.begin();
  MachineInstrBuilder MIB =
      BuildMI(Entry, Place, DebugLoc(), TII.get(TargetOpcode::INLINEASM))
          .addExternalSymbol(MF.createExternalSymbolName(Text))
          .addImm(InlineAsm::Extra_HasSideEffects);
  InlineAsm::Flag Output(InlineAsm::Kind::RegDef, /*NumOps=*/1);
  Output.setRegClass(Classes[B32Class]->getID());
  for (Register Address : Addresses)
    MIB.addImm(Output).addDef(Address);
}

static MachineMemOperand *slotAccess(MachineFunction &MF, unsigned Space,
                                     uint64_t Size,
                                     MachineMemOperand::Flags Flags) {
  return MF.getMachineMemOperand(MachinePointerInfo(Space), Flags,
                                 LLT::scalar(Size * 8), Align(Size));
}

Applier::SlotAccess Applier::accessSlot(uint32_t Reg, uint32_t Slot,
                                        MachineMemOperand::Flags Flags,
                                        unsigned Registers) {
  uint32_t Class = classOf(reg(Reg));
  uint64_t Size = spillSize(Class);
  // 128 bits are stored as two halves.
  int64_t Bits = static_cast<int64_t>(std::min<uint64_t>(Size, 8) * 8);
  if (const nvptx_ra_edit *Shared = sharedSlot(Slot)) {
    // ptxas does not undo a volatile store. Loads may move: ptxas finds a
    // place where a register is free.
    bool IsStore = Flags & MachineMemOperand::MOStore;
    if (IsStore)
      Flags |= MachineMemOperand::MOVolatile;
    return {Class,
            Bits,
            IsStore ? Volatile : NotAtomic,
            SharedSpace,
            Shared->b,
            sharedAddress(static_cast<uint64_t>(Shared->value)),
            slotAccess(MF, SharedSpace, Size * Registers, Flags)};
  }
  int64_t Offset =
      static_cast<int64_t>(LocalOffsets[Slot - Flat.view().num_slots]);
  return {Class,      Bits,   NotAtomic,
          LocalSpace, Offset, localAddress(),
          slotAccess(MF, LocalSpace, Size * Registers, Flags)};
}

void Applier::endStore(MachineInstrBuilder &MIB, const SlotAccess &Access) {
  MIB.addImm(Access.Semantics)
      .addImm(ThreadScope)
      .addImm(Access.Space)
      .addImm(Access.Bits)
      .addReg(Access.Address)
      .addImm(Access.Offset)
      .addMemOperand(Access.Memory);
}

void Applier::endLoad(MachineInstrBuilder &MIB, const SlotAccess &Access) {
  MIB.addImm(Access.Semantics)
      .addImm(ThreadScope)
      .addImm(Access.Space)
      .addImm(Untyped)
      .addImm(Access.Bits)
      .addImm(AllBytesUsed)
      .addReg(Access.Address)
      .addImm(Access.Offset)
      .addMemOperand(Access.Memory);
}

SmallVector<Register, 2> Applier::accessedRegisters(const nvptx_ra_edit &E) {
  uint32_t Class = classOf(reg(E.a));
  if (Class != PredicateClass && Class != B128Class)
    return {reg(E.a)};
  SmallVector<Register, 2> Registers;
  unsigned Number = Class == B128Class ? 2 : 1;
  const TargetRegisterClass *Stored =
      Classes[Class == B128Class ? B64Class : B16Class];
  for (unsigned Part = 0; Part != Number; ++Part)
    Registers.push_back(MRI.createVirtualRegister(Stored));
  return Registers;
}

MachineInstr *Applier::insertSpill(const nvptx_ra_edit &E) {
  if (const nvptx_ra_edit *Slot = BitSlots.lookup(E.b))
    return insertBitAccess(E, *Slot);
  SlotAccess Access = accessSlot(E.a, E.b, MachineMemOperand::MOStore);
  MachineInstrBuilder Store = build(E, Opcodes.spilling().Store[Access.Class]);
  for (Register Reg : accessedRegisters(E))
    Store.addReg(Reg);
  endStore(Store, Access);
  if (Store.getReg(0) != reg(E.a))
    Converted.push_back({Store, reg(E.a)});
  return Store;
}

MachineInstr *Applier::insertReload(const nvptx_ra_edit &E) {
  if (const nvptx_ra_edit *Slot = BitSlots.lookup(E.b))
    return insertBitAccess(E, *Slot);
  SlotAccess Access = accessSlot(E.a, E.b, MachineMemOperand::MOLoad);
  MachineInstrBuilder Load = build(E, Opcodes.spilling().Load[Access.Class]);
  for (Register Reg : accessedRegisters(E))
    Load.addDef(Reg);
  endLoad(Load, Access);
  if (Load.getReg(0) != reg(E.a))
    Converted.push_back({Load, reg(E.a)});
  return Load;
}

MachineInstr *Applier::insertWide(const nvptx_ra_edit &E) {
  bool IsStore = E.kind == NVPTX_RA_EDIT_INSERT_WIDE_SPILL;
  ArrayRef<uint32_t> Parts(Response.numbers + E.a, E.b - E.a);
  unsigned Registers = Parts.size() / 2;
  SlotAccess Access = accessSlot(Parts[0], Parts[1],
                                 IsStore ? MachineMemOperand::MOStore
                                         : MachineMemOperand::MOLoad,
                                 Registers);
  const SpillOpcodes &Spilling = Opcodes.spilling();
  unsigned Index = wideIndex(spillSize(Access.Class) * Registers, Registers);
  MachineInstrBuilder MIB = build(
      E, (IsStore ? Spilling.WideStore : Spilling.WideLoad)[Index]);
  for (unsigned Part = 0; Part != Registers; ++Part) {
    Register Reg = reg(Parts[2 * Part]);
    IsStore ? MIB.addReg(Reg) : MIB.addDef(Reg);
  }
  if (IsStore)
    endStore(MIB, Access);
  else
    endLoad(MIB, Access);
  return MIB;
}

MachineInstr *Applier::insertBitAccess(const nvptx_ra_edit &E,
                                       const nvptx_ra_edit &Slot) {
  const SpillOpcodes &Spilling = Opcodes.spilling();
  auto NewNumber = [&] {
    return MRI.createVirtualRegister(Classes[B32Class]);
  };
  Register &Word = Words[Slot.a];
  if (!Word)
    Word = NewNumber();
  bool IsStore = E.kind == NVPTX_RA_EDIT_INSERT_SPILL;
  MachineInstr *MI = IsStore ? build(E, Spilling.Or)
                                   .addDef(Word)
                                   .addReg(NewNumber())
                                   .addReg(NewNumber())
                             : build(E, Spilling.Test)
                                   .addDef(reg(E.a))
                                   .addReg(NewNumber())
                                   .addImm(0)
                                   .addImm(NotEqual);
  BitAccesses.push_back({MI, &Slot, reg(E.a)});
  return MI;
}

/// The instruction in front of another in its block; debug values are none.
static const MachineInstr *instructionAhead(const MachineInstr &MI) {
  const MachineInstr *Ahead = MI.getPrevNode();
  while (Ahead && Ahead->isDebugInstr())
    Ahead = Ahead->getPrevNode();
  return Ahead;
}

void Applier::completeBits() {
  const SpillOpcodes &Spilling = Opcodes.spilling();
  for (const BitAccess &Access : BitAccesses) {
    MachineInstr *MI = Access.MI;
    MachineBasicBlock &Block = *MI->getParent();
    Register Word = Words[Access.Slot->a];
    int64_t Mask = static_cast<int32_t>(1u << Access.Slot->b);
    bool IsStore = MI->getOpcode() == Spilling.Or;
    // A constant is set directly in front of its store, and needs no predicate.
    if (const MachineInstr *Ahead = instructionAhead(*MI);
        IsStore && Ahead && Ahead->getOpcode() == Spilling.Constant &&
        Ahead->getOperand(0).getReg() == Access.Predicate &&
        Ahead->getOperand(1).isImm()) {
      bool IsSet = Ahead->getOperand(1).getImm() != 0;
      BuildMI(Block, MI, DebugLoc(),
              TII.get(IsSet ? Spilling.Set : Spilling.And), Word)
          .addReg(Word)
          .addImm(IsSet ? Mask : ~Mask);
      MI->eraseFromParent();
      continue;
    }
    if (IsStore)
      BuildMI(Block, MI, DebugLoc(), TII.get(Spilling.Select),
              MI->getOperand(2).getReg())
          .addImm(Mask)
          .addImm(0)
          .addReg(Access.Predicate);
    BuildMI(Block, MI, DebugLoc(), TII.get(Spilling.And),
            MI->getOperand(1).getReg())
        .addReg(Word)
        .addImm(IsStore ? ~Mask : Mask);
  }
  MachineBasicBlock &Entry = MF.front();
  auto Place =
      LastDirective ? std::next(LastDirective->getIterator()) : Entry.begin();
  for (Register &Word : Words) {
    if (!Word)
      Word = MRI.createVirtualRegister(Classes[B32Class]);
    BuildMI(Entry, Place, DebugLoc(), TII.get(Spilling.Zero), Word).addImm(0);
  }
}

void Applier::convertRegisters() {
  const SpillOpcodes &Spilling = Opcodes.spilling();
  for (auto [MI, Reg] : Converted) {
    MachineBasicBlock &Block = *MI->getParent();
    bool IsStore = MI->mayStore();
    auto Place = IsStore ? MI->getIterator() : std::next(MI->getIterator());
    auto Convert = [&](unsigned Opcode) {
      return BuildMI(Block, Place, DebugLoc(), TII.get(Opcode));
    };
    Register First = MI->getOperand(0).getReg();
    if (classOf(Reg) == B128Class) {
      Register Second = MI->getOperand(1).getReg();
      if (IsStore)
        Convert(Spilling.Split).addDef(First).addDef(Second).addReg(Reg);
      else
        Convert(Spilling.Join).addDef(Reg).addReg(First).addReg(Second);
    } else if (IsStore) {
      Convert(Spilling.FromPredicate)
          .addDef(First)
          .addImm(1)
          .addImm(0)
          .addReg(Reg);
    } else {
      Convert(Spilling.ToPredicate)
          .addDef(Reg)
          .addReg(First)
          .addImm(0)
          .addImm(NotEqual);
    }
  }
}

} // namespace nvptx_ra
