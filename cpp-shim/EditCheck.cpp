//===- EditCheck.cpp - Validity of edits for a machine function -----------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Checks only the conditions whose violation crashes LLVM. The meaning of
/// edits is checked in src/function/apply. This file checks the order of edits,
/// what they create, and conditions on all edits together. EditCheckPlaces.cpp
/// checks insertions and moves. EditCheckOperands.cpp checks changes of
/// operands and deletions.
///
//===----------------------------------------------------------------------===//

#include "EditChecker.h"

using namespace llvm;

namespace nvptx_ra {

namespace {

/// The name of each kind of edit, for messages, and its phase. Edits must come
/// in the order of phases: ids, insertions, moves, permutations, operands,
/// merges, deletions, attributes.
struct KindInfo {
  const char *Name;
  unsigned Phase;
};
constexpr KindInfo Kinds[] = {
    {"unknown", 0},       {"create register", 0},  {"split edge", 0},
    {"insert copy", 1},   {"insert constant", 1},  {"insert clone", 1},
    {"insert instruction", 1}, {"insert assembly", 1}, {"move", 2},
    {"permute", 3},       {"set register", 4},     {"set immediate", 4},
    {"set address", 4},   {"set assembly", 4},     {"turn branch", 4},
    {"set debug value", 4}, {"merge", 5},          {"delete", 6},
    {"insert directive", 7}, {"set attribute", 7},
};

} // namespace

Reason EditChecker::createRegister(const nvptx_ra_edit &E) {
  if (E.id != View.num_regs + NewRegs.size())
    return "not the next free register";
  if (E.a >= NumClasses || !Classes[E.a])
    return "no such class";
  NewRegs.push_back(E.a);
  return nullptr;
}

Reason EditChecker::splitEdge(const nvptx_ra_edit &E) {
  if (E.id != NumBlocks)
    return "not the next free block";
  if (E.block >= View.num_blocks || E.a >= View.num_blocks)
    return "no such block";
  MachineBasicBlock &From = *Flat.block(E.block);
  if (!From.isSuccessor(Flat.block(E.a)))
    return "no such edge";
  if (!Split.insert({E.block, E.a}).second)
    return "the edge is split already";
  MachineBasicBlock *True = nullptr, *False = nullptr;
  SmallVector<MachineOperand, 1> Condition;
  bool Understood = !TII.analyzeBranch(From, True, False, Condition);
  bool IsTable = all_of(From.terminators(), [&](const MachineInstr &MI) {
    OpcodeRole Role = Opcodes.role(MI.getOpcode());
    return Role == OpcodeRole::BrxStart || Role == OpcodeRole::BrxItemOrEnd;
  });
  if (!Understood && !IsTable)
    return "the branch at the edge's start is not understood";
  ++NumBlocks;
  return nullptr;
}

Reason EditChecker::checkEdit(const nvptx_ra_edit &E) {
  switch (E.kind) {
  case NVPTX_RA_EDIT_CREATE_REGISTER:
    return createRegister(E);
  case NVPTX_RA_EDIT_SPLIT_EDGE:
    return splitEdge(E);
  case NVPTX_RA_EDIT_INSERT_COPY:
  case NVPTX_RA_EDIT_INSERT_CONSTANT:
  case NVPTX_RA_EDIT_INSERT_CLONE:
    if (Reason R = insertion(E))
      return R;
    if (!isReg(E.a) || classOf(E.a) == OtherClass)
      return "no such register, or none of a known class";
    gains(Flat.reg(E.a), /*IsDef=*/true);
    return E.kind == NVPTX_RA_EDIT_INSERT_COPY       ? insertCopy(E)
           : E.kind == NVPTX_RA_EDIT_INSERT_CONSTANT ? insertConstant(E)
                                                     : insertClone(E);
  case NVPTX_RA_EDIT_INSERT_INST:
    return insertInst(E);
  case NVPTX_RA_EDIT_INSERT_ASSEMBLY:
    return insertAssembly(E);
  case NVPTX_RA_EDIT_MOVE:
    return move(E);
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
  case NVPTX_RA_EDIT_SET_ATTRIBUTE:
    return between(E.a, E.b, Response.text.len) ? nullptr
                                                : "the text is out of bounds";
  default:
    return "the edit is unknown";
  }
}
/// Whether a register stays valid for the machine verifier: it has a definition
/// if it is read, and at most one in SSA form.
Reason EditChecker::definitionsOf(Register Root) const {
  SmallVector<Register, 4> Group{Root};
  if (auto It = Members.find(Root); It != Members.end())
    append_range(Group, It->second);
  auto Stays = [&](const MachineOperand &MO) {
    return !Deleted.contains(MO.getParent()) && !Set.contains(&MO);
  };
  int64_t Defs = 0, Reads = 0;
  bool IsSSA = compat::isSSA(MF);
  for (Register Reg : Group) {
    Defs += Gains[true].lookup(Reg);
    Reads += Gains[false].lookup(Reg);
    if (Reg.virtRegIndex() >= View.num_regs)
      continue;
    for (const MachineOperand &MO : MRI.def_operands(Reg))
      if ((Defs += Stays(MO)) != 0 && !IsSSA)
        return nullptr;
  }
  if (Defs > 1 && IsSSA)
    return "a register would get a second definition, but the function is in "
           "SSA form";
  if (Defs != 0)
    return nullptr;
  for (Register Reg : Group)
    if (Reg.virtRegIndex() < View.num_regs)
      for (const MachineOperand &MO : MRI.use_nodbg_operands(Reg))
        Reads += MO.readsReg() && Stays(MO);
  return Reads == 0 ? nullptr : "a register would be read that nothing writes";
}

Reason EditChecker::tiedOperands() const {
  if (!compat::tiedOperandsRewritten(MF))
    return nullptr;
  for (const auto &[MO, Reg] : Set) {
    if (!Reg || !MO->isTied())
      continue;
    const MachineInstr &MI = *MO->getParent();
    unsigned Other = MI.findTiedOperandIdx(MO->getOperandNo());
    if (root(Reg) != root(current(MI.getOperand(Other))))
      return "tied operands would be different registers";
  }
  return nullptr;
}

Error EditChecker::check() {
  auto Refuse = [](size_t Index, Twine What, Reason R) {
    return createStringError("edit " + Twine(Index) + " (" + What + "): " + R);
  };
  ArrayRef<nvptx_ra_edit> Edits(Response.edits, Response.num_edits);
  unsigned Phase = 0;
  for (const auto &[Index, E] : enumerate(Edits)) {
    KindInfo Kind = Kinds[E.kind < std::size(Kinds) ? E.kind : 0];
    if (Kind.Phase < Phase)
      return Refuse(Index, Kind.Name, "the edits are not in order");
    Phase = Kind.Phase;
    if (Reason R = checkEdit(E))
      return Refuse(Index, Kind.Name, R);
  }
  if (Reason R = tiedOperands())
    return createStringError(R);
  DenseSet<Register> Checked;
  for (Register Reg : Touched)
    if (Register Root = root(Reg); Checked.insert(Root).second)
      if (Reason R = definitionsOf(Root))
        return createStringError(Twine(R) + ": %" + Twine(Root.virtRegIndex()));
  return Error::success();
}

Error checkEdits(MachineFunction &MF, const FlatFunction &Flat,
                 const nvptx_ra_response &Response) {
  return EditChecker(MF, Flat, Response).check();
}

} // namespace nvptx_ra
