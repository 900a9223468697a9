//===- Flattener.h - State of flattening a function -------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_FLATTENER_H
#define NVPTX_RA_FLATTENER_H

#include "Flatten.h"
#include "FunctionFacts.h"
#include "Text.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Support/Allocator.h"

namespace nvptx_ra {

/// Finds operands by identity, as defined by LLVM, target flags included.
struct OperandIdentity {
  static const llvm::MachineOperand *getEmptyKey() {
    return llvm::DenseMapInfo<const llvm::MachineOperand *>::getEmptyKey();
  }
  static const llvm::MachineOperand *getTombstoneKey() {
    return llvm::DenseMapInfo<const llvm::MachineOperand *>::getTombstoneKey();
  }
  static unsigned getHashValue(const llvm::MachineOperand *MO) {
    return static_cast<unsigned>(llvm::hash_value(*MO));
  }
  static bool isEqual(const llvm::MachineOperand *A,
                      const llvm::MachineOperand *B) {
    if (A == B)
      return true;
    bool Marker = A == getEmptyKey() || A == getTombstoneKey() ||
                  B == getEmptyKey() || B == getTombstoneKey();
    return !Marker && A->isIdenticalTo(*B);
  }
};

/// The arrays that a view points to, and the LLVM objects of its numbers.
struct FlatFunction::Arrays {
  llvm::SmallVector<nvptx_ra_block, 0> Blocks;
  llvm::SmallVector<uint32_t, 0> Succs;
  llvm::SmallVector<nvptx_ra_inst, 0> Insts;
  llvm::SmallVector<nvptx_ra_operand, 0> Operands;
  llvm::SmallVector<nvptx_ra_reg, 0> Regs;
  llvm::SmallVector<nvptx_ra_slot, 0> Slots;
  llvm::SmallVector<nvptx_ra_symbol, 0> Symbols;
  llvm::SmallVector<llvm::MachineBasicBlock *, 0> BlockPointers;
  llvm::SmallVector<llvm::MachineInstr *, 0> InstPointers;
  llvm::SmallVector<const llvm::MachineOperand *, 0> SymbolOperands;
  /// By MachineBasicBlock::getNumber(), which has holes.
  llvm::SmallVector<uint32_t, 0> BlockIds;
  /// By block: the last block that listed it as a successor.
  llvm::SmallVector<uint32_t, 0> NamedBy;
  llvm::DenseMap<const llvm::MachineOperand *, uint32_t, OperandIdentity>
      SymbolIds;
  llvm::BumpPtrAllocator Text;

  void clear() {
    Blocks.clear();
    Succs.clear();
    Insts.clear();
    Operands.clear();
    Regs.clear();
    Slots.clear();
    Symbols.clear();
    BlockPointers.clear();
    InstPointers.clear();
    SymbolOperands.clear();
    BlockIds.clear();
    NamedBy.clear();
    SymbolIds.clear();
    Text.Reset();
  }
};

/// Fills the arrays of a FlatFunction.
class FlatFunction::Writer {
public:
  Writer(FlatFunction &Flat, llvm::MachineFunction &MF)
      : Flat(Flat), Data(*Flat.Data), MF(MF),
        Opcodes(opcodeTableOf(MF)),
        File(fileOf(MF.getFunction())) {}

  void write(const llvm::MachineBlockFrequencyInfo *MBFI,
             const llvm::MachineLoopInfo *MLI, ViewScope Scope);

private:
  void writeRegs();
  void writeSlots();
  void nameSlot(int FI, nvptx_ra_slot &Slot) const;
  void numberBlocks();
  void findPhiRegs();
  bool concernsPhis(const llvm::MachineInstr &MI) const;
  void writeInsts(llvm::MachineBasicBlock &MBB, ViewScope Scope);
  void writeInst(llvm::MachineInstr &MI, uint32_t Flags);
  void writeOperand(const llvm::MachineInstr &MI, unsigned Index,
                    nvptx_ra_operand &Out);
  void writeRegOperand(const llvm::MachineInstr &MI, unsigned Index,
                       nvptx_ra_operand &Out);
  /// Finds operands of inline assembly that are one register, both read and
  /// written. O(operands).
  void writeAsmTies(const llvm::MachineInstr &MI,
                    llvm::MutableArrayRef<nvptx_ra_operand> Out);
  void tie(nvptx_ra_operand &Operand, size_t Other);
  uint32_t symbolOf(const llvm::MachineOperand &MO);
  nvptx_ra_str textOf(const llvm::MachineOperand &MO, uint32_t Id);
  uint32_t lineOf(const llvm::DILocation *Loc);

  FlatFunction &Flat;
  Arrays &Data;
  llvm::MachineFunction &MF;
  const OpcodeTable &Opcodes;
  /// By virtual register: whether a PHI uses it. Only for a view of PHIs.
  llvm::BitVector PhiRegs;
  /// The function's own file, null if it has no debug information.
  const llvm::DIFile *File;
  /// The location of the last request for a line. Neighbouring instructions
  /// share locations.
  const llvm::DILocation *LastLoc = nullptr;
  uint32_t LastLine = 0;
};

} // namespace nvptx_ra

#endif // NVPTX_RA_FLATTENER_H
