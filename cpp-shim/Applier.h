//===- Applier.h - State of applying edits ----------------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_APPLIER_H
#define NVPTX_RA_APPLIER_H

#include "Apply.h"
#include "Compat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include <array>

namespace nvptx_ra {

/// Applies checked edits in their order.
class Applier {
public:
  Applier(llvm::MachineFunction &MF, const FlatFunction &Flat,
          const nvptx_ra_response &Response)
      : MF(MF), MRI(MF.getRegInfo()), TII(*MF.getSubtarget().getInstrInfo()),
        Opcodes(opcodeTableOf(MF)), Flat(Flat), Response(Response),
        Classes(registerClassesOf(*MF.getSubtarget().getRegisterInfo())),
        NumViewBlocks(Flat.view().num_blocks),
        NumViewInsts(Flat.view().num_insts) {}

  void apply();

private:
  void applyEdit(const nvptx_ra_edit &E);
  void createRegister(const nvptx_ra_edit &E);
  void splitEdge(const nvptx_ra_edit &E);
  llvm::MachineInstr *insertConstant(const nvptx_ra_edit &E);
  llvm::MachineInstr *insertClone(const nvptx_ra_edit &E);
  llvm::MachineInstr *insertInst(const nvptx_ra_edit &E);
  llvm::MachineInstr *insertAssembly(const nvptx_ra_edit &E);
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
  /// Returns the register with an id. In LLVM and in the view, the numbers of
  /// new registers follow those of the existing registers.
  llvm::Register reg(uint32_t Id) const { return Flat.reg(Id); }
  llvm::MachineBasicBlock::iterator place(const nvptx_ra_edit &E) const;
  llvm::StringRef text(const nvptx_ra_edit &E) const {
    return llvm::StringRef(Response.text.data + E.a, E.b - E.a);
  }
  llvm::MachineInstrBuilder build(const nvptx_ra_edit &E, unsigned Opcode) {
    return BuildMI(*block(E.block), place(E), llvm::DebugLoc(),
                   TII.get(Opcode));
  }
  /// Notes that the flags of a register may be stale.
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
  const uint64_t NumViewBlocks, NumViewInsts;
  llvm::SmallVector<llvm::MachineBasicBlock *, 0> NewBlocks;
  llvm::SmallVector<llvm::MachineInstr *, 0> NewInsts;
  llvm::SmallVector<std::pair<llvm::MachineInstr *, llvm::StringRef>, 0>
      Assemblies;
  llvm::SmallVector<llvm::Register, 0> Touched;
  /// Registers that lost a definition.
  llvm::SmallVector<llvm::Register, 0> LostDefs;
  llvm::MachineInstr *LastDirective = nullptr;
};

} // namespace nvptx_ra

#endif // NVPTX_RA_APPLIER_H
