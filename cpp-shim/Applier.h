//===- Applier.h - What applying edits shares -------------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_APPLIER_H
#define NVPTX_RA_APPLIER_H

#include "Apply.h"
#include "Compat.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include <array>

namespace nvptx_ra {

/// Applies edits that have been checked, each at its turn.
class Applier {
public:
  Applier(llvm::MachineFunction &MF, const FlatFunction &Flat,
          const nvptx_ra_response &Response)
      : MF(MF), MRI(MF.getRegInfo()), TII(*MF.getSubtarget().getInstrInfo()),
        Opcodes(opcodeTableOf(MF)), Flat(Flat), Response(Response),
        Classes(registerClassesOf(*MF.getSubtarget().getRegisterInfo())),
        NumViewBlocks(Flat.view().num_blocks),
        NumViewInsts(Flat.view().num_insts), NumViewRegs(Flat.view().num_regs) {
  }

  void apply();

private:
  void applyEdit(const nvptx_ra_edit &E);
  void createRegister(const nvptx_ra_edit &E);
  void splitEdge(const nvptx_ra_edit &E);
  llvm::MachineInstr *insertConstant(const nvptx_ra_edit &E);
  llvm::MachineInstr *insertClone(const nvptx_ra_edit &E);
  llvm::MachineInstr *insertSpill(const nvptx_ra_edit &E);
  llvm::MachineInstr *insertReload(const nvptx_ra_edit &E);
  llvm::MachineInstr *insertWide(const nvptx_ra_edit &E);
  void permute(const nvptx_ra_edit &E);
  void setRegister(const nvptx_ra_edit &E);
  void setImmediate(const nvptx_ra_edit &E);
  void setAddress(const nvptx_ra_edit &E);
  void setAssembly(const nvptx_ra_edit &E);
  void becomeAssembly(llvm::MachineInstr &MI, llvm::StringRef Text);
  void turnBranch(const nvptx_ra_edit &E);
  void setDebugValue(const nvptx_ra_edit &E);
  void merge(const nvptx_ra_edit &E);
  void remove(const nvptx_ra_edit &E);
  void insertDirective(const nvptx_ra_edit &E);
  void setAttribute(const nvptx_ra_edit &E);
  void clearStaleFlags();
  void forgetLostDebugValues();

  llvm::MachineBasicBlock *block(uint32_t Id) const {
    return Id < NumViewBlocks ? Flat.block(Id) : NewBlocks[Id - NumViewBlocks];
  }
  llvm::MachineInstr *inst(uint32_t Id) const {
    return Id < NumViewInsts ? Flat.inst(Id) : NewInsts[Id - NumViewInsts];
  }
  /// New registers continue LLVM's numbers as they continue the view's.
  llvm::Register reg(uint32_t Id) const { return Flat.reg(Id); }
  llvm::MachineBasicBlock::iterator place(const nvptx_ra_edit &E) const;
  void createLocalSlot(const nvptx_ra_edit &E);
  /// The register that holds an address in the slots' memory: of the local
  /// array, or of this thread's part of a shared row of so many bytes at offset
  /// 0.
  llvm::Register localAddress();
  llvm::Register sharedAddress(uint64_t Row);
  /// Adds the code at the entry that declares the arrays and computes these
  /// addresses, once everything else is in its place.
  void computeSlotAddresses();
  /// A slot of the edits in shared memory; null for one in local memory.
  const nvptx_ra_edit *sharedSlot(uint32_t Slot) const {
    return Slot < FirstSharedSlot ? nullptr
                                  : SharedSlots[Slot - FirstSharedSlot];
  }
  /// What a load or store of a slot says of it.
  struct SlotAccess {
    uint32_t Class;
    int64_t Bits, Semantics, Space, Offset;
    llvm::Register Address;
    llvm::MachineMemOperand *Memory;
  };
  /// The registers that an access to a slot stores or loads: of a predicate one
  /// of 16 bits, of 128 bits the halves.
  llvm::SmallVector<llvm::Register, 2> accessedRegisters(const nvptx_ra_edit &E);
  /// Puts the conversions between registers and these in front of stores and
  /// behind loads, once the instructions have their order.
  void convertRegisters();
  /// An access to the slot and, with several registers, to those behind it.
  SlotAccess accessSlot(uint32_t Reg, uint32_t Slot,
                        llvm::MachineMemOperand::Flags Flags,
                        unsigned Registers = 1);
  /// Ends a store or load behind its registers.
  static void endStore(llvm::MachineInstrBuilder &MIB, const SlotAccess &Access);
  static void endLoad(llvm::MachineInstrBuilder &MIB, const SlotAccess &Access);
  /// A store to or a load from a slot that is a bit of a register.
  llvm::MachineInstr *insertBitAccess(const nvptx_ra_edit &E,
                                      const nvptx_ra_edit &Slot);
  /// Puts in front of these what they read, and sets no bit at the entry.
  void completeBits();
  uint32_t classOf(llvm::Register Reg) const;
  llvm::StringRef text(const nvptx_ra_edit &E) const {
    return llvm::StringRef(Response.text.data + E.a, E.b - E.a);
  }
  llvm::MachineInstrBuilder build(const nvptx_ra_edit &E, unsigned Opcode) {
    return BuildMI(*block(E.block), place(E), llvm::DebugLoc(),
                   TII.get(Opcode));
  }
  /// The flags of this register may no longer hold.
  void touch(llvm::Register Reg) {
    if (Reg.isVirtual())
      Touched.push_back(Reg);
  }
  void touchAll(const llvm::MachineInstr &MI) {
    for (const llvm::MachineOperand &MO : MI.operands())
      if (MO.isReg())
        touch(MO.getReg());
  }

  llvm::MachineFunction &MF;
  llvm::MachineRegisterInfo &MRI;
  const llvm::TargetInstrInfo &TII;
  const OpcodeTable &Opcodes;
  const FlatFunction &Flat;
  const nvptx_ra_response &Response;
  const std::array<const llvm::TargetRegisterClass *, NumClasses> Classes;
  const uint64_t NumViewBlocks, NumViewInsts, NumViewRegs;
  llvm::SmallVector<llvm::MachineBasicBlock *, 0> NewBlocks;
  llvm::SmallVector<llvm::MachineInstr *, 0> NewInsts;
  llvm::SmallVector<std::pair<llvm::MachineInstr *, llvm::StringRef>, 0>
      Assemblies;
  llvm::SmallVector<uint32_t, 0> NewRegClasses;
  /// Where the slots in local memory lie in their array.
  llvm::SmallVector<uint64_t, 0> LocalOffsets;
  uint64_t LocalBytes = 0, LocalAlignment = 8;
  llvm::Register LocalAddress;
  const nvptx_ra_edit *SharedArray = nullptr;
  uint32_t FirstSharedSlot = ~0U;
  llvm::SmallVector<const nvptx_ra_edit *, 0> SharedSlots;
  /// By the bytes of a row: 2, 4, 8 and 16.
  std::array<llvm::Register, 4> SharedAddresses;
  /// Stores and loads of predicates and of 128 bits.
  llvm::SmallVector<std::pair<llvm::MachineInstr *, llvm::Register>, 0>
      Converted;
  /// The slots that are bits, and the registers that they are bits of: made
  /// when they are first accessed, behind the registers of the edits.
  llvm::DenseMap<uint32_t, const nvptx_ra_edit *> BitSlots;
  llvm::SmallVector<llvm::Register, 0> Words;
  /// Accesses to bits, each with its slot and its predicate.
  struct BitAccess {
    llvm::MachineInstr *MI;
    const nvptx_ra_edit *Slot;
    llvm::Register Predicate;
  };
  llvm::SmallVector<BitAccess, 0> BitAccesses;
  llvm::SmallVector<llvm::Register, 0> Touched;
  /// Registers that lost a definition.
  llvm::SmallVector<llvm::Register, 0> LostDefs;
  llvm::MachineInstr *LastDirective = nullptr;
};

} // namespace nvptx_ra

#endif // NVPTX_RA_APPLIER_H
