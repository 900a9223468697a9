//===- EditCheckOperands.cpp - Checks of changes and deletions ------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EditChecker.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace nvptx_ra {

Register EditChecker::current(const MachineOperand &MO) const {
  auto It = Set.find(&MO);
  return It == Set.end() ? MO.getReg() : It->second;
}

Register EditChecker::root(Register Reg) const {
  auto It = MergedInto.find(Reg);
  return It == MergedInto.end() ? Reg : It->second;
}
Reason EditChecker::setRegister(const nvptx_ra_edit &E) {
  const MachineInstr *Cloned = Clones.lookup(E.id);
  if (!Cloned && !isViewInst(E.id))
    return "not an instruction of the view, nor a clone of one";
  const MachineInstr &MI = Cloned ? *Cloned : *Flat.inst(E.id);
  if (E.a >= MI.getNumOperands())
    return "no such operand";
  const MachineOperand &MO = MI.getOperand(E.a);
  if (!MO.isReg() || !MO.getReg().isVirtual())
    return "the operand is not a virtual register";
  if (!isReg(E.b))
    return "no such register";
  if (classOf(MO.getReg().virtRegIndex()) != classOf(E.b) ||
      classOf(E.b) == OtherClass)
    return "the classes differ";
  if (Cloned)
    return setRegisterOfClone(E, MO);
  Register Old = current(MO);
  if (!Old)
    return "the operand is an immediate now";
  if (!MO.isDebug() && !MO.isUndef()) {
    if (Set.contains(&MO))
      gains(Old, MO.isDef(), -1);
    gains(Flat.reg(E.b), MO.isDef());
  }
  if (MO.isDef())
    Touched.push_back(Old);
  Set[&MO] = Flat.reg(E.b);
  return nullptr;
}

Reason EditChecker::setRegisterOfClone(const nvptx_ra_edit &E,
                                       const MachineOperand &MO) {
  if (MO.isDef())
    return "a clone has its definition from the start";
  auto [It, IsFirst] = SetOfClones.try_emplace({E.id, E.a}, MO.getReg());
  if (!MO.isUndef()) {
    gains(It->second, /*IsDef=*/false, -1);
    gains(Flat.reg(E.b), /*IsDef=*/false);
  }
  It->second = Flat.reg(E.b);
  return nullptr;
}

Reason EditChecker::setAddress(const nvptx_ra_edit &E) {
  if (!isViewInst(E.id))
    return "not an instruction of the view";
  const MachineInstr &MI = *Flat.inst(E.id);
  if (MI.isInlineAsm())
    return "inline assembly has its offsets in its text";
  auto IsAddress = [&](unsigned Index) {
    const MachineOperand &MO = MI.getOperand(Index);
    return MO.isReg() && !MO.isDef() && !MO.isTied() && !MO.isImplicit() &&
           MI.getOperand(Index + 1).isImm();
  };
  bool IsAccess = MI.mayLoadOrStore() || MI.hasUnmodeledSideEffects();
  if (!IsAccess || E.a + uint64_t(1) >= MI.getNumOperands() || !IsAddress(E.a))
    return "no register that is read, with an offset behind it";
  // Other immediates are modes, and LLVM crashes on an unknown mode. The modes
  // follow the value of a store and all registers of an atomic.
  StringRef Name = TII.getName(MI.getOpcode());
  bool IsLast = any_of(ArrayRef<StringRef>{"LD_", "LDV_", "ST_", "STV_"},
                       [&](StringRef Stem) { return Name.starts_with(Stem); });
  if (IsLast ? E.a + 2 != MI.getNumExplicitOperands()
             : any_of(seq(E.a), IsAddress))
    return "the operand is not the address";
  if (!isInt<32>(E.value))
    return "the offset has more than 32 bits";
  return setRegister(E);
}

Reason EditChecker::setAssembly(const nvptx_ra_edit &E) {
  if (!isViewInst(E.id) || !Flat.inst(E.id)->isInlineAsm())
    return "not inline assembly of the view";
  if (!between(E.a, E.b, Response.text.len))
    return "the text is out of bounds";
  return assembly(E, Flat.inst(E.id)
                         ->getOperand(InlineAsm::MIOp_AsmString)
                         .getSymbolName());
}

/// LLVM crashes if a `$` refers to no operand. The text `Old` contains all
/// valid references.
Reason EditChecker::assembly(const nvptx_ra_edit &E, StringRef Old) {
  StringRef New(Response.text.data + E.a, E.b - E.a);
  if (New.contains('\0'))
    return "the text has a character NUL";
  while (New.contains('$')) {
    New = New.split('$').second;
    StringRef Name = New.substr(0, New.starts_with("{")
                                       ? New.find('}') + 1
                                       : New.find_if_not(isDigit));
    if (!New.consume_front("$") &&
        (Name.empty() || !Old.contains(("$" + Name).str())))
      return "the text names an operand that the instruction's own does not";
  }
  return nullptr;
}

Reason EditChecker::turnBranch(const nvptx_ra_edit &E) {
  if (E.block >= View.num_blocks || !isViewInst(E.id))
    return "no such block or instruction of the view";
  MachineBasicBlock *True = nullptr, *False = nullptr;
  SmallVector<MachineOperand, 1> Condition;
  if (TII.analyzeBranch(*Flat.block(E.block), True, False, Condition) ||
      Condition.empty() || !False)
    return "the block does not end in two jumps that are understood";
  const MachineInstr &MI = *Flat.inst(E.id);
  // LLVM's printer crashes on an unknown kind of comparison.
  if (!TII.getName(MI.getOpcode()).starts_with("SETP_i") ||
      !Turned.insert(&MI).second)
    return "the instruction is no comparison of integers, or turned already";
  if (!between(E.a, E.b, Response.text.len))
    return "the text is out of bounds";
  if (E.a < E.b)
    return MI.getOperand(1).isReg() && MI.getOperand(2).isReg()
               ? assembly(E, "$0, $1, $2")
               : "the instruction does not compare registers";
  return E.operand.id + 1 == MI.getNumExplicitOperands() &&
                 E.operand.value >= 0 && E.operand.value <= 9
             ? nullptr
             : "no kind of comparison, or not at its operand";
}

Reason EditChecker::setImmediate(const nvptx_ra_edit &E) {
  if (!isViewInst(E.id))
    return "not an instruction of the view";
  const MachineInstr &MI = *Flat.inst(E.id);
  if (E.a >= MI.getNumOperands() || E.b >= TII.getNumOpcodes())
    return "no such operand or opcode";
  const MachineOperand &MO = MI.getOperand(E.a);
  const MCInstrDesc &Old = MI.getDesc(), &New = TII.get(E.b);
  if (!MO.isReg() || MO.isDef() || MO.isTied() || MO.isImplicit() ||
      Set.contains(&MO))
    return "the operand is not a plain register that is read";
  if (MI.isPHI() || MI.isInlineAsm() || MI.isMetaInstruction())
    return "the instruction takes no immediates";
  if (New.getNumOperands() != Old.getNumOperands() ||
      New.getNumDefs() != Old.getNumDefs() ||
      New.isVariadic() != Old.isVariadic() ||
      New.isTerminator() != Old.isTerminator() || E.a >= New.getNumOperands())
    return "the opcodes have different operands";
  for (unsigned Index = 0; Index != New.getNumOperands(); ++Index) {
    const TargetRegisterClass *Class = compat::operandClass(MF, New, Index);
    const MachineOperand &Other = MI.getOperand(Index);
    bool IsRegister = Index != E.a && Other.isReg() &&
                      (!Set.contains(&Other) || Set.lookup(&Other));
    if (IsRegister != (Class != nullptr))
      return "the opcode takes registers in other places";
    if (IsRegister && Other.getReg().isVirtual() &&
        MRI.getRegClassOrNull(Other.getReg()) != Class)
      return "the opcode takes other classes";
  }
  Set[&MO] = Register();
  return nullptr;
}

Reason EditChecker::setDebugValue(const nvptx_ra_edit &E) {
  if (!isViewInst(E.id) || !Flat.inst(E.id)->isDebugValue())
    return "not a debug value of the view";
  switch (E.operand.kind) {
  case NVPTX_RA_OPERAND_NOREG:
    return nullptr;
  case NVPTX_RA_OPERAND_IMMEDIATE:
    if (Flat.inst(E.id)->isIndirectDebugValue())
      return "the debug value is an address: a number cannot stand for it";
    break;
  case NVPTX_RA_OPERAND_REG:
    if (!isReg(E.operand.id))
      return "no such register";
    break;
  default:
    return "a debug value describes a register, a number or nothing";
  }
  const MachineOperand *Register = nullptr;
  for (const MachineOperand &MO : Flat.inst(E.id)->debug_operands()) {
    if (!MO.isReg())
      continue;
    if (Register && Register->getReg() != MO.getReg())
      return "the debug value describes several registers: set each operand";
    Register = &MO;
  }
  return Register ? nullptr : "the debug value describes no register";
}

Reason EditChecker::merge(const nvptx_ra_edit &E) {
  if (!isReg(E.a) || !isReg(E.b) || E.a == E.b)
    return "no such registers, or the same";
  if (classOf(E.a) != classOf(E.b) || classOf(E.a) == OtherClass)
    return "the classes differ";
  Register From = Flat.reg(E.a), Into = Flat.reg(E.b);
  if (MergedInto.contains(Into) || Members.contains(From))
    return "the register that stays is itself merged";
  if (!MergedInto.try_emplace(From, Into).second)
    return "the register is merged already";
  Members[Into].push_back(From);
  Touched.push_back(Into);
  return nullptr;
}

Reason EditChecker::remove(const nvptx_ra_edit &E) {
  if (!isViewInst(E.id))
    return "not an instruction of the view";
  const MachineInstr &MI = *Flat.inst(E.id);
  if (MI.isTerminator())
    return "terminators stay";
  // Copies in a call sequence may be deleted.
  bool IsInCall = View.insts[E.id].flags & NVPTX_RA_INST_CALL_SEQUENCE;
  if (IsInCall &&
      (MI.isCall() || MI.mayLoadOrStore() || MI.hasUnmodeledSideEffects()))
    return "parts of a call stay";
  if (Turned.contains(&MI))
    return "a comparison that is turned stays";
  if (!Deleted.insert(&MI).second)
    return "the instruction is deleted already";
  for (const MachineOperand &MO : MI.all_defs())
    if (Register Reg = current(MO); Reg.isVirtual())
      Touched.push_back(Reg);
  if (!Set.empty())
    for (const MachineOperand &MO : MI.operands())
      if (Set.lookup(&MO) && !MO.isDebug() && !MO.isUndef())
        gains(Set.lookup(&MO), MO.isDef(), -1);
  return nullptr;
}

} // namespace nvptx_ra
