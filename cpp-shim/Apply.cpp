//===- Apply.cpp - Applying edits to a machine function -------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The meaning of each edit is in src/function/edit.rs. All ids are checked
/// before the first change, so nothing here can fail.
///
//===----------------------------------------------------------------------===//

#include "Applier.h"
#include "EditCheck.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineJumpTableInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace nvptx_ra {

MachineBasicBlock::iterator Applier::place(const nvptx_ra_edit &E) const {
  if (E.before != NVPTX_RA_NONE)
    return Flat.inst(E.before)->getIterator();
  // Not getFirstTerminator(), which also skips debug instructions.
  MachineBasicBlock &MBB = *block(E.block);
  auto It = MBB.end();
  while (It != MBB.begin() && std::prev(It)->isTerminator())
    --It;
  return It;
}

void Applier::createRegister(const nvptx_ra_edit &E) {
  MRI.createVirtualRegister(Classes[E.a]);
}

void Applier::splitEdge(const nvptx_ra_edit &E) {
  MachineBasicBlock &From = *block(E.block), &To = *block(E.a);
  MachineBasicBlock *True = nullptr, *False = nullptr;
  SmallVector<MachineOperand, 1> Condition;
  bool FallsThrough = !TII.analyzeBranch(From, True, False, Condition) &&
                      !False && (!True || !Condition.empty());

  MachineBasicBlock *New = MF.CreateMachineBasicBlock(To.getBasicBlock());
  MF.push_back(New);
  NewBlocks.push_back(New);
  TII.insertBranch(*New, &To, nullptr, {}, DebugLoc());
  for (const auto &LiveIn : To.liveins())
    New->addLiveIn(LiveIn);

  for (MachineInstr &MI : From.terminators()) {
    for (MachineOperand &MO : MI.operands())
      if (MO.isMBB() && MO.getMBB() == &To)
        MO.setMBB(New);
    if (Opcodes.role(MI.getOpcode()) == OpcodeRole::BrxStart)
      if (MachineJumpTableInfo *Tables = MF.getJumpTableInfo()) {
        auto Index = static_cast<uint64_t>(MI.getOperand(0).getImm());
        if (Index < Tables->getJumpTables().size())
          Tables->ReplaceMBBInJumpTable(Index, &To, New);
      }
  }
  if (FallsThrough && From.isLayoutSuccessor(&To))
    TII.insertBranch(From, New, nullptr, {}, DebugLoc());
  From.replaceSuccessor(&To, New);
  New->addSuccessor(&To, BranchProbability::getOne());
  To.replacePhiUsesWith(&From, New);
}

MachineInstr *Applier::insertConstant(const nvptx_ra_edit &E) {
  MachineInstrBuilder MIB = build(E, E.b).addDef(reg(E.a));
  switch (E.operand.kind) {
  case NVPTX_RA_OPERAND_IMMEDIATE:
    return MIB.addImm(E.operand.value);
  case NVPTX_RA_OPERAND_FLOAT: {
    Type *Ty = movedFloatType(MF, E.b);
    const fltSemantics &Semantics = Ty->getFltSemantics();
    APInt Bits(APFloat::getSizeInBits(Semantics),
               static_cast<uint64_t>(E.operand.value), /*isSigned=*/false,
               /*implicitTrunc=*/true);
    return MIB.addFPImm(
        ConstantFP::get(Ty->getContext(), APFloat(Semantics, Bits)));
  }
  default:
    return MIB.add(Flat.symbol(E.operand.id));
  }
}

MachineInstr *Applier::insertClone(const nvptx_ra_edit &E) {
  MachineInstr *New = MF.CloneMachineInstr(Flat.inst(E.b));
  block(E.block)->insert(place(E), New);
  for (MachineOperand &MO : New->all_defs())
    MO.setReg(reg(E.a));
  touchAll(*New);
  return New;
}

MachineInstr *Applier::insertInst(const nvptx_ra_edit &E) {
  MachineInstrBuilder MIB = build(E, *Opcodes.inserted(E.value));
  for (const nvptx_ra_operand &O :
       ArrayRef(Response.operands + E.a, Response.operands + E.b)) {
    if (O.kind == NVPTX_RA_OPERAND_IMMEDIATE)
      MIB.addImm(O.value);
    else
      MIB.addReg(reg(O.id), getDefRegState(O.flags & NVPTX_RA_FLAG_DEF));
  }
  const nvptx_ra_memory &Memory = E.memory;
  auto Flags = MachineMemOperand::MONone;
  if (Memory.flags & NVPTX_RA_MEMORY_LOAD)
    Flags |= MachineMemOperand::MOLoad;
  if (Memory.flags & NVPTX_RA_MEMORY_STORE)
    Flags |= MachineMemOperand::MOStore;
  if (Memory.flags & NVPTX_RA_MEMORY_VOLATILE)
    Flags |= MachineMemOperand::MOVolatile;
  if (Memory.flags)
    MIB.addMemOperand(MF.getMachineMemOperand(
        MachinePointerInfo(Memory.space), Flags,
        LLT::scalar(Memory.bytes * 8), Align(Memory.align)));
  return MIB;
}

MachineInstr *Applier::insertAssembly(const nvptx_ra_edit &E) {
  MachineInstrBuilder MIB =
      build(E, TargetOpcode::INLINEASM)
          .addExternalSymbol(MF.createExternalSymbolName(text(E)))
          .addImm(InlineAsm::Extra_HasSideEffects);
  for (uint32_t Id : ArrayRef(Response.numbers + E.operand.id,
                              Response.numbers + E.operand.value)) {
    InlineAsm::Flag Output(InlineAsm::Kind::RegDef, /*NumOps=*/1);
    Output.setRegClass(MRI.getRegClass(reg(Id))->getID());
    MIB.addImm(Output).addDef(reg(Id));
  }
  return MIB;
}

void Applier::permute(const nvptx_ra_edit &E) {
  // Each instruction moves to the front, from the last to the first. A branch
  // that was appended when an edge was split stays after them.
  MachineBasicBlock &MBB = *block(E.block);
  ArrayRef<uint32_t> Order(Response.numbers + E.a, E.b - E.a);
  for (uint32_t Id : reverse(Order)) {
    MBB.splice(MBB.begin(), &MBB, inst(Id)->getIterator());
    touchAll(*inst(Id));
  }
}

void Applier::setRegister(const nvptx_ra_edit &E) {
  MachineOperand &MO = inst(E.id)->getOperand(E.a);
  touch(MO.getReg());
  touch(reg(E.b));
  if (MO.isDef())
    LostDefs.push_back(MO.getReg());
  MO.setReg(reg(E.b));
}

void Applier::setImmediate(const nvptx_ra_edit &E) {
  MachineInstr &MI = *inst(E.id);
  MI.getOperand(E.a).ChangeToImmediate(E.value);
  MI.setDesc(TII.get(E.b));
}

void Applier::setAddress(const nvptx_ra_edit &E) {
  inst(E.id)->getOperand(E.a + 1).setImm(E.value);
  setRegister(E);
}

void Applier::setAssembly(const nvptx_ra_edit &E) {
  inst(E.id)->getOperand(InlineAsm::MIOp_AsmString)
      .ChangeToES(MF.createExternalSymbolName(text(E)));
}

/// Replaces an instruction in place by inline assembly. The first three
/// operands, one definition and two register reads, become the operands of the
/// assembly. Runs after all edits that refer to operands.
void Applier::becomeAssembly(MachineInstr &MI, StringRef Text) {
  Register Regs[3];
  for (auto [Number, Reg] : enumerate(Regs)) {
    if (!MI.getOperand(Number).isReg())
      return;
    Reg = MI.getOperand(Number).getReg();
  }
  while (MI.getNumOperands() > 0)
    MI.removeOperand(MI.getNumOperands() - 1);
  MI.setDesc(TII.get(TargetOpcode::INLINEASM));
  InlineAsm::Flag Output(InlineAsm::Kind::RegDef, /*NumOps=*/1);
  InlineAsm::Flag Input(InlineAsm::Kind::RegUse, /*NumOps=*/1);
  MachineInstrBuilder(MF, MI)
      .addExternalSymbol(MF.createExternalSymbolName(Text))
      .addImm(/*no side effects*/ 0)
      .addImm(Output)
      .addDef(Regs[0])
      .addImm(Input)
      .addUse(Regs[1])
      .addImm(Input)
      .addUse(Regs[2]);
}

void Applier::turnBranch(const nvptx_ra_edit &E) {
  MachineInstr &MI = *inst(E.id);
  if (text(E).empty())
    MI.getOperand(E.operand.id).setImm(E.operand.value);
  else
    Assemblies.emplace_back(&MI, text(E));
  auto targetOf = [](MachineInstr &MI) {
    return find_if(MI.operands(), [](auto &MO) { return MO.isMBB(); });
  };
  MachineInstr &Jump = block(E.block)->back();
  MachineInstr &Branch = *std::prev(Jump.getIterator());
  MachineBasicBlock *Taken = targetOf(Branch)->getMBB();
  targetOf(Branch)->setMBB(targetOf(Jump)->getMBB());
  targetOf(Jump)->setMBB(Taken);
}

void Applier::setDebugValue(const nvptx_ra_edit &E) {
  MachineInstr &MI = *inst(E.id);
  if (E.operand.kind == NVPTX_RA_OPERAND_NOREG)
    return MI.setDebugValueUndef();
  for (MachineOperand &MO : MI.debug_operands()) {
    if (!MO.isReg())
      continue;
    if (E.operand.kind == NVPTX_RA_OPERAND_IMMEDIATE)
      MO.ChangeToImmediate(E.operand.value);
    else
      MO.setReg(reg(E.operand.id));
  }
}

void Applier::merge(const nvptx_ra_edit &E) {
  Register From = reg(E.a), Into = reg(E.b);
  for (MachineOperand &MO : make_early_inc_range(MRI.reg_operands(From)))
    MO.setReg(Into);
  touch(Into);
}

void Applier::remove(const nvptx_ra_edit &E) {
  MachineInstr &MI = *inst(E.id);
  for (const MachineOperand &MO : MI.all_defs())
    if (MO.getReg().isVirtual())
      LostDefs.push_back(MO.getReg());
  if (MI.isCandidateForAdditionalCallInfo())
    MF.eraseAdditionalCallInfo(&MI);
  MI.eraseFromParent();
}

void Applier::insertDirective(const nvptx_ra_edit &E) {
  // In an assembly string `$` introduces operands.
  std::string Escaped;
  for (char C : text(E))
    Escaped.append(C == '$' ? 2 : 1, C);
  MachineBasicBlock &Entry = MF.front();
  auto Place =
      LastDirective ? std::next(LastDirective->getIterator()) : Entry.begin();
  LastDirective =
      BuildMI(Entry, Place, DebugLoc(), TII.get(TargetOpcode::INLINEASM))
          .addExternalSymbol(MF.createExternalSymbolName(Escaped))
          .addImm(InlineAsm::Extra_HasSideEffects);
}

void Applier::setAttribute(const nvptx_ra_edit &E) {
  auto [Key, Value] = text(E).split('=');
  MF.getFunction().addFnAttr(Key, Value);
}

void Applier::applyEdit(const nvptx_ra_edit &E) {
  switch (E.kind) {
  case NVPTX_RA_EDIT_CREATE_REGISTER:
    return createRegister(E);
  case NVPTX_RA_EDIT_SPLIT_EDGE:
    return splitEdge(E);
  case NVPTX_RA_EDIT_INSERT_COPY:
    NewInsts.push_back(
        build(E, TargetOpcode::COPY).addDef(reg(E.a)).addReg(reg(E.b)));
    break;
  case NVPTX_RA_EDIT_INSERT_CONSTANT:
    NewInsts.push_back(insertConstant(E));
    break;
  case NVPTX_RA_EDIT_INSERT_CLONE:
    NewInsts.push_back(insertClone(E));
    break;
  case NVPTX_RA_EDIT_INSERT_INST:
    NewInsts.push_back(insertInst(E));
    break;
  case NVPTX_RA_EDIT_INSERT_ASSEMBLY:
    NewInsts.push_back(insertAssembly(E));
    break;
  case NVPTX_RA_EDIT_MOVE:
    touchAll(*inst(E.id));
    block(E.block)->splice(place(E), inst(E.id)->getParent(),
                           inst(E.id)->getIterator());
    return;
  case NVPTX_RA_EDIT_PERMUTE:
    return permute(E);
  case NVPTX_RA_EDIT_SET_REGISTER:
    return setRegister(E);
  case NVPTX_RA_EDIT_SET_IMMEDIATE:
    return setImmediate(E);
  case NVPTX_RA_EDIT_SET_ADDRESS:
    return setAddress(E);
  case NVPTX_RA_EDIT_SET_ASSEMBLY:
    return setAssembly(E);
  case NVPTX_RA_EDIT_TURN_BRANCH:
    return turnBranch(E);
  case NVPTX_RA_EDIT_SET_DEBUG_VALUE:
    return setDebugValue(E);
  case NVPTX_RA_EDIT_MERGE:
    return merge(E);
  case NVPTX_RA_EDIT_DELETE:
    return remove(E);
  case NVPTX_RA_EDIT_INSERT_DIRECTIVE:
    return insertDirective(E);
  case NVPTX_RA_EDIT_SET_ATTRIBUTE:
    return setAttribute(E);
  default:
    llvm_unreachable("checkEdits() lets no other edit pass");
  }
  touchAll(*NewInsts.back());
}

/// Clears the kill and dead flags of touched registers: a read may no longer be
/// the last, and a definition may have a read. Linear in the operands of the
/// touched registers.
void Applier::clearStaleFlags() {
  BitVector Done(MRI.getNumVirtRegs());
  for (Register Reg : Touched) {
    if (Done.test(Reg.virtRegIndex()))
      continue;
    Done.set(Reg.virtRegIndex());
    for (MachineOperand &MO : MRI.reg_nodbg_operands(Reg)) {
      if (MO.isDef())
        MO.setIsDead(false);
      else
        MO.setIsKill(false);
    }
  }
}

void Applier::forgetLostDebugValues() {
  for (Register Reg : LostDefs)
    if (MRI.def_empty(Reg))
      MRI.markUsesInDebugValueAsUndef(Reg);
}

void Applier::apply() {
  // Deletions precede merges, so that merges rename fewer operands.
  ArrayRef<nvptx_ra_edit> Edits(Response.edits, Response.num_edits);
  auto IsDelete = [](const nvptx_ra_edit &E) {
    return E.kind == NVPTX_RA_EDIT_DELETE;
  };
  auto FirstMerge = find_if(Edits, [](const nvptx_ra_edit &E) {
    return E.kind >= NVPTX_RA_EDIT_MERGE &&
           E.kind <= NVPTX_RA_EDIT_SET_ATTRIBUTE;
  });
  for_each(make_range(Edits.begin(), FirstMerge),
           [&](const nvptx_ra_edit &E) { applyEdit(E); });
  auto Rest = make_range(FirstMerge, Edits.end());
  for_each(make_filter_range(Rest, IsDelete),
           [&](const nvptx_ra_edit &E) { applyEdit(E); });
  for_each(make_filter_range(Rest, std::not_fn(IsDelete)),
           [&](const nvptx_ra_edit &E) { applyEdit(E); });
  for (auto [MI, Text] : Assemblies)
    becomeAssembly(*MI, Text);
  clearStaleFlags();
  forgetLostDebugValues();
}

Error applyEdits(MachineFunction &MF, const FlatFunction &Flat,
                 const nvptx_ra_response &Response) {
  if (Error E = checkEdits(MF, Flat, Response))
    return E;
  Applier(MF, Flat, Response).apply();
  return Error::success();
}

} // namespace nvptx_ra
