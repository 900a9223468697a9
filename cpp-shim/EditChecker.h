//===- EditChecker.h - State of the edit checks -----------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_EDITCHECKER_H
#define NVPTX_RA_EDITCHECKER_H

#include "Compat.h"
#include "EditCheck.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"

namespace nvptx_ra {

/// The reason for which an edit is rejected; null if the edit is valid.
using Reason = const char *;

/// Follows the edits in their order by ids alone: the existing registers,
/// slots, blocks and instructions, the position of each instruction, renamed
/// registers and deleted instructions. A check returns the reason for which an
/// edit is rejected, or null.
class EditChecker {
public:
  EditChecker(llvm::MachineFunction &MF, const FlatFunction &Flat,
              const nvptx_ra_response &Response)
      : MF(MF), MRI(MF.getRegInfo()), TII(*MF.getSubtarget().getInstrInfo()),
        Opcodes(opcodeTableOf(MF)), Flat(Flat), View(Flat.view()),
        Response(Response),
        Classes(registerClassesOf(*MF.getSubtarget().getRegisterInfo())),
        NumBlocks(View.num_blocks), NumInsts(View.num_insts) {}

  llvm::Error check();

private:
  Reason checkEdit(const nvptx_ra_edit &E);
  Reason createRegister(const nvptx_ra_edit &E);
  Reason splitEdge(const nvptx_ra_edit &E);
  Reason insertion(const nvptx_ra_edit &E);
  Reason insertCopy(const nvptx_ra_edit &E);
  Reason insertConstant(const nvptx_ra_edit &E);
  Reason insertClone(const nvptx_ra_edit &E);
  Reason insertInst(const nvptx_ra_edit &E);
  Reason memory(const nvptx_ra_memory &Memory,
                const llvm::MCInstrDesc &Desc) const;
  Reason insertAssembly(const nvptx_ra_edit &E);
  Reason move(const nvptx_ra_edit &E);
  Reason permute(const nvptx_ra_edit &E);
  Reason setRegister(const nvptx_ra_edit &E);
  Reason setRegisterOfClone(const nvptx_ra_edit &E,
                            const llvm::MachineOperand &MO);
  Reason setImmediate(const nvptx_ra_edit &E);
  Reason setAddress(const nvptx_ra_edit &E);
  Reason setAssembly(const nvptx_ra_edit &E);
  Reason assembly(const nvptx_ra_edit &E, llvm::StringRef Old);
  Reason turnBranch(const nvptx_ra_edit &E);
  Reason setDebugValue(const nvptx_ra_edit &E);
  Reason merge(const nvptx_ra_edit &E);
  Reason remove(const nvptx_ra_edit &E);

  Reason place(uint32_t Block, uint32_t Before) const;
  Reason definitionsOf(llvm::Register Root) const;
  Reason tiedOperands() const;

  bool isReg(uint32_t Id) const { return Id < View.num_regs + NewRegs.size(); }
  bool isViewInst(uint32_t Id) const { return Id < View.num_insts; }
  uint32_t classOf(uint32_t Reg) const {
    return Reg < View.num_regs ? View.regs[Reg].reg_class
                               : NewRegs[Reg - View.num_regs];
  }
  /// Returns the block of an instruction after insertions and moves.
  uint32_t home(uint32_t Inst) const;
  bool between(uint64_t Begin, uint64_t End, uint64_t Size) const {
    return Begin <= End && End <= Size;
  }

  /// Returns the register of an operand after operands are set, before merges.
  /// None if the operand has become an immediate.
  llvm::Register current(const llvm::MachineOperand &MO) const;
  llvm::Register root(llvm::Register Reg) const;
  /// Counts definitions (or reads) that the edits add to a register.
  void gains(llvm::Register Reg, bool IsDef, int64_t Number = 1) {
    Gains[IsDef][Reg] += Number;
    Touched.push_back(Reg);
  }

  llvm::MachineFunction &MF;
  const llvm::MachineRegisterInfo &MRI;
  const llvm::TargetInstrInfo &TII;
  const OpcodeTable &Opcodes;
  const FlatFunction &Flat;
  const nvptx_ra_view &View;
  const nvptx_ra_response &Response;
  const std::array<const llvm::TargetRegisterClass *, NumClasses> Classes;

  uint64_t NumBlocks, NumInsts;
  llvm::SmallVector<uint32_t, 0> NewRegs;   // classes
  llvm::SmallVector<uint32_t, 0> NewInsts;  // blocks
  llvm::DenseMap<uint32_t, uint32_t> Moved; // instruction to block
  llvm::DenseMap<uint32_t, int64_t> Growth; // block to instructions gained
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> Split;
  llvm::DenseSet<uint32_t> Permuted;
  llvm::DenseSet<const llvm::MachineInstr *> Deleted;
  llvm::DenseSet<const llvm::MachineInstr *> Turned;
  llvm::DenseMap<const llvm::MachineOperand *, llvm::Register> Set;
  /// For each new instruction that is a clone, the original, and the operands
  /// of the clone that read another register.
  llvm::DenseMap<uint32_t, const llvm::MachineInstr *> Clones;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, llvm::Register> SetOfClones;
  llvm::DenseMap<llvm::Register, llvm::Register> MergedInto;
  llvm::DenseMap<llvm::Register, llvm::SmallVector<llvm::Register, 2>> Members;
  /// Reads (0) and definitions (1) that each register gains by insertions and
  /// set operands.
  llvm::DenseMap<llvm::Register, int64_t> Gains[2];
  /// Registers whose definitions or reads the edits change, in the order of the
  /// edits.
  llvm::SmallVector<llvm::Register, 0> Touched;
};

} // namespace nvptx_ra

#endif // NVPTX_RA_EDITCHECKER_H
