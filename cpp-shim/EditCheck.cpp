//===- EditCheck.cpp - Whether edits fit a machine function ---------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Follows the edits in their order with ids alone: which registers, slots,
/// blocks and instructions there are, where each instruction lies, what is
/// renamed and deleted. A check returns the reason of a refusal, or null.
///
//===----------------------------------------------------------------------===//

#include "EditCheck.h"
#include "Compat.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Type.h"

using namespace llvm;

namespace nvptx_ra {

using Reason = const char *;

Type *movedFloatType(MachineFunction &MF, unsigned Opcode) {
  LLVMContext &Context = MF.getFunction().getContext();
  StringRef Name = MF.getSubtarget().getInstrInfo()->getName(Opcode);
  return StringSwitch<Type *>(Name)
      .Case("MOV_F16_i", Type::getHalfTy(Context))
      .Case("MOV_BF16_i", Type::getBFloatTy(Context))
      .Case("MOV_F32_i", Type::getFloatTy(Context))
      .Case("MOV_F64_i", Type::getDoubleTy(Context))
      .Default(nullptr);
}

uint64_t spillSize(uint32_t Class) {
  constexpr uint64_t Sizes[NumClasses] = {0, 2, 4, 8, 0};
  return Class < NumClasses ? Sizes[Class] : 0;
}

unsigned pointerIndex(const MachineFunction &MF) {
  return MF.getDataLayout().getPointerSize() == 8 ? 1 : 0;
}

namespace {

/// The order in which edits must come: ids, insertions, moves, permutations,
/// operands, names, deletions, attributes. In words and for messages.
struct KindInfo {
  const char *Name;
  unsigned Phase;
};
constexpr KindInfo Kinds[] = {
    {"unknown", 0},       {"create register", 0},  {"create slot", 0},
    {"split edge", 0},    {"insert copy", 1},      {"insert constant", 1},
    {"insert clone", 1},  {"insert spill", 1},     {"insert reload", 1},
    {"move", 2},          {"permute", 3},          {"set register", 4},
    {"set immediate", 4}, {"set debug value", 4},  {"merge", 5},
    {"delete", 6},        {"insert directive", 7}, {"set attribute", 7},
};

class Checker {
public:
  Checker(MachineFunction &MF, const FlatFunction &Flat,
          const nvptx_ra_response &Response)
      : MF(MF), MRI(MF.getRegInfo()), TII(*MF.getSubtarget().getInstrInfo()),
        Opcodes(opcodeTableOf(TII)), Flat(Flat), View(Flat.view()),
        Response(Response),
        Classes(registerClassesOf(*MF.getSubtarget().getRegisterInfo())),
        NumBlocks(View.num_blocks), NumInsts(View.num_insts) {}

  Error check();

private:
  Reason checkEdit(const nvptx_ra_edit &E);
  Reason createRegister(const nvptx_ra_edit &E);
  Reason createSlot(const nvptx_ra_edit &E);
  Reason splitEdge(const nvptx_ra_edit &E);
  Reason insertion(const nvptx_ra_edit &E);
  Reason insertCopy(const nvptx_ra_edit &E);
  Reason insertConstant(const nvptx_ra_edit &E);
  Reason insertClone(const nvptx_ra_edit &E);
  Reason insertSpillOrReload(const nvptx_ra_edit &E);
  Reason move(const nvptx_ra_edit &E);
  Reason permute(const nvptx_ra_edit &E);
  Reason setRegister(const nvptx_ra_edit &E);
  Reason setImmediate(const nvptx_ra_edit &E);
  Reason setDebugValue(const nvptx_ra_edit &E);
  Reason merge(const nvptx_ra_edit &E);
  Reason remove(const nvptx_ra_edit &E);
  Reason text(const nvptx_ra_edit &E);

  Reason place(uint32_t Block, uint32_t Before) const;
  Reason definitionsOf(Register Root) const;
  Reason tiedOperands() const;

  bool isReg(uint32_t Id) const { return Id < View.num_regs + NewRegs.size(); }
  bool isViewInst(uint32_t Id) const { return Id < View.num_insts; }
  uint32_t classOf(uint32_t Reg) const {
    return Reg < View.num_regs ? View.regs[Reg].reg_class
                               : NewRegs[Reg - View.num_regs];
  }
  uint64_t slotSize(uint32_t Slot) const {
    return Slot < View.num_slots ? View.slots[Slot].size
                                 : NewSlots[Slot - View.num_slots];
  }
  /// The block in which an instruction lies after insertions and moves.
  uint32_t home(uint32_t Inst) const;
  bool between(uint32_t Begin, uint32_t End, uint64_t Size) const {
    return Begin <= End && End <= Size;
  }

  /// The register of an operand once operands are set, before merges; none
  /// where it is not a register any more.
  Register current(const MachineOperand &MO) const;
  Register root(Register Reg) const;
  /// Counts definitions (or reads) that the edits add to a register.
  void gains(Register Reg, bool IsDef, int64_t Number = 1) {
    Gains[IsDef][Reg] += Number;
    Touched.push_back(Reg);
  }

  MachineFunction &MF;
  const MachineRegisterInfo &MRI;
  const TargetInstrInfo &TII;
  const OpcodeTable &Opcodes;
  const FlatFunction &Flat;
  const nvptx_ra_view &View;
  const nvptx_ra_response &Response;
  const std::array<const TargetRegisterClass *, NumClasses> Classes;

  uint64_t NumBlocks, NumInsts;
  SmallVector<uint32_t, 0> NewRegs;   // classes
  SmallVector<uint64_t, 0> NewSlots;  // sizes
  SmallVector<uint32_t, 0> NewInsts;  // blocks
  DenseMap<uint32_t, uint32_t> Moved; // instruction to block
  DenseMap<uint32_t, int64_t> Growth; // block to instructions gained
  DenseSet<std::pair<uint32_t, uint32_t>> Split;
  DenseSet<uint32_t> Permuted;
  DenseSet<const MachineInstr *> Deleted;
  DenseMap<const MachineOperand *, Register> Set;
  DenseMap<Register, Register> MergedInto;
  DenseMap<Register, SmallVector<Register, 2>> Members;
  /// What registers gain by insertions and by operands that are set.
  DenseMap<Register, int64_t> Gains[2];
  /// Registers whose definitions or reads the edits change, in their order.
  SmallVector<Register, 0> Touched;
};

} // namespace

uint32_t Checker::home(uint32_t Inst) const {
  if (!isViewInst(Inst))
    return NewInsts[Inst - View.num_insts];
  auto It = Moved.find(Inst);
  return It == Moved.end() ? Flat.numberOf(*Flat.inst(Inst)->getParent())
                           : It->second;
}

Reason Checker::place(uint32_t Block, uint32_t Before) const {
  if (Block >= NumBlocks)
    return "no such block";
  if (Before == NVPTX_RA_NONE)
    return nullptr;
  if (!isViewInst(Before))
    return "the place is not before an instruction of the view";
  const MachineInstr &MI = *Flat.inst(Before);
  if (Block >= View.num_blocks || MI.getParent() != Flat.block(Block))
    return "the place is in another block";
  if (MI.isPHI())
    return "the place is before a PHI";
  const MachineInstr *Prev = MI.getPrevNode();
  if (MI.isTerminator() && Prev && Prev->isTerminator())
    return "the place is between terminators";
  return nullptr;
}

Reason Checker::createRegister(const nvptx_ra_edit &E) {
  if (E.id != View.num_regs + NewRegs.size())
    return "not the next free register";
  if (E.a >= NumClasses || !Classes[E.a])
    return "no such class";
  NewRegs.push_back(E.a);
  return nullptr;
}

Reason Checker::createSlot(const nvptx_ra_edit &E) {
  if (E.id != View.num_slots + NewSlots.size())
    return "not the next free slot";
  if (E.value <= 0 || E.value > INT32_MAX)
    return "the size is not between 1 and 2^31 - 1";
  if (!isPowerOf2_32(E.a))
    return "the alignment is not a power of two";
  NewSlots.push_back(static_cast<uint64_t>(E.value));
  return nullptr;
}

Reason Checker::splitEdge(const nvptx_ra_edit &E) {
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

Reason Checker::insertion(const nvptx_ra_edit &E) {
  if (E.id != NumInsts)
    return "not the next free instruction";
  if (!isReg(E.a) || classOf(E.a) == OtherClass)
    return "no such register, or none of a known class";
  if (Reason R = place(E.block, E.before))
    return R;
  ++NumInsts;
  NewInsts.push_back(E.block);
  ++Growth[E.block];
  gains(Flat.reg(E.a), E.kind != NVPTX_RA_EDIT_INSERT_SPILL);
  return nullptr;
}

Reason Checker::insertCopy(const nvptx_ra_edit &E) {
  if (!isReg(E.b))
    return "no such source register";
  if (classOf(E.a) != classOf(E.b))
    return "the classes differ";
  gains(Flat.reg(E.b), false);
  return nullptr;
}

Reason Checker::insertConstant(const nvptx_ra_edit &E) {
  if (E.b >= TII.getNumOpcodes())
    return "no such opcode";
  const MCInstrDesc &Desc = TII.get(E.b);
  if (Desc.getNumDefs() != 1 || Desc.getNumOperands() != 2 ||
      Desc.isVariadic() || Desc.isTerminator() || Desc.isCall() ||
      Desc.mayLoad() || Desc.mayStore() ||
      Desc.operands()[1].OperandType == MCOI::OPERAND_REGISTER ||
      compat::operandClass(MF, Desc, 1))
    return "the opcode does not move a constant into a register";
  if (compat::operandClass(MF, Desc, 0) != Classes[classOf(E.a)])
    return "the opcode writes another class";
  bool WantsFloat = movedFloatType(MF, E.b) != nullptr;
  bool IsFloat = E.operand.kind == NVPTX_RA_OPERAND_FLOAT;
  if (E.operand.kind != NVPTX_RA_OPERAND_IMMEDIATE && !IsFloat &&
      (E.operand.kind != NVPTX_RA_OPERAND_SYMBOL ||
       E.operand.id >= View.num_symbols))
    return "not an immediate, a float or a symbol of the view";
  if (WantsFloat != IsFloat)
    return "the opcode takes another kind of constant";
  return nullptr;
}

Reason Checker::insertClone(const nvptx_ra_edit &E) {
  if (!isViewInst(E.b))
    return "not an instruction of the view";
  const MachineInstr &MI = *Flat.inst(E.b);
  if (MI.isPHI() || MI.isTerminator() || MI.isCall() || MI.mayStore() ||
      MI.isInlineAsm() || MI.isMetaInstruction() || MI.isConvergent() ||
      MI.isNotDuplicable())
    return "the instruction may not be cloned";
  const MachineOperand *Def = nullptr;
  for (const MachineOperand &MO : MI.operands()) {
    if (!MO.isReg())
      continue;
    if (MO.isTied() || (MO.isDef() && (Def || !MO.getReg().isVirtual())))
      return "the instruction has other than one untied definition";
    if (MO.isDef())
      Def = &MO;
    else if (MO.readsReg() && MO.getReg().isVirtual())
      gains(MO.getReg(), false);
  }
  if (!Def)
    return "the instruction has no definition";
  if (classOf(Def->getReg().virtRegIndex()) != classOf(E.a))
    return "the classes differ";
  return nullptr;
}

Reason Checker::insertSpillOrReload(const nvptx_ra_edit &E) {
  if (E.b >= View.num_slots + NewSlots.size())
    return "no such slot";
  if (E.b < View.num_slots)
    return "the slot is the function's own";
  uint32_t Class = classOf(E.a);
  unsigned Pointer = pointerIndex(MF);
  if (spillSize(Class) == 0)
    return "PTX neither stores predicates nor 128 bits at once: spill their "
           "parts";
  if (slotSize(E.b) < spillSize(Class))
    return "the slot is too small";
  const SpillOpcodes &Spilling = Opcodes.spilling();
  unsigned Opcode = E.kind == NVPTX_RA_EDIT_INSERT_SPILL
                        ? Spilling.Store[Class]
                        : Spilling.Load[Class];
  if (Opcode == SpillOpcodes::None ||
      Spilling.FrameAddress[Pointer] == SpillOpcodes::None ||
      Spilling.ToLocal[Pointer] == SpillOpcodes::None)
    return "this LLVM lacks an opcode that spilling needs";
  const DataLayout &Layout = MF.getDataLayout();
  constexpr unsigned LocalSpace = 5;
  if (Layout.getPointerSize(LocalSpace) != Layout.getPointerSize())
    return "with short pointers nothing can be spilled";
  return nullptr;
}

Reason Checker::move(const nvptx_ra_edit &E) {
  if (!isViewInst(E.id))
    return "not an instruction of the view";
  const MachineInstr &MI = *Flat.inst(E.id);
  if (MI.isPHI() || MI.isTerminator() || MI.isPosition())
    return "PHIs, labels and terminators stay";
  if (Reason R = place(E.block, E.before))
    return R;
  if (E.before != NVPTX_RA_NONE &&
      (E.before == E.id || Moved.contains(E.before)))
    return "the place is before a moved instruction";
  --Growth[home(E.id)];
  ++Growth[E.block];
  if (!Moved.try_emplace(E.id, E.block).second)
    return "the instruction is moved already";
  return nullptr;
}

Reason Checker::permute(const nvptx_ra_edit &E) {
  if (E.block >= View.num_blocks)
    return "no such block, or one made by splitting an edge";
  if (!between(E.a, E.b, Response.num_numbers))
    return "the order is out of bounds";
  if (!Permuted.insert(E.block).second)
    return "the block is permuted already";
  ArrayRef<uint32_t> Order(Response.numbers + E.a, E.b - E.a);
  uint64_t First = E.block == 0 ? 0 : View.blocks[E.block - 1].inst_end;
  int64_t Wanted = static_cast<int64_t>(View.blocks[E.block].inst_end - First) +
                   Growth.lookup(E.block);
  if (static_cast<int64_t>(Order.size()) != Wanted)
    return "the order does not name every instruction of the block once";
  DenseSet<uint32_t> Seen;
  // PHIs, the rest, terminators; terminators keep their order.
  unsigned Zone = 0;
  uint32_t LastTerminator = 0;
  for (uint32_t Id : Order) {
    if (Id >= NumInsts || home(Id) != E.block || !Seen.insert(Id).second)
      return "the order does not name every instruction of the block once";
    bool IsView = isViewInst(Id);
    unsigned Next = IsView && Flat.inst(Id)->isTerminator() ? 2
                    : IsView && Flat.inst(Id)->isPHI()      ? 0
                                                            : 1;
    if (Next < Zone || (Next == 2 && Id < LastTerminator))
      return "PHIs stay first, and terminators last in their order";
    Zone = Next;
    LastTerminator = Next == 2 ? Id : 0;
  }
  return nullptr;
}

Reason Checker::setRegister(const nvptx_ra_edit &E) {
  if (!isViewInst(E.id))
    return "not an instruction of the view";
  const MachineInstr &MI = *Flat.inst(E.id);
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

Reason Checker::setImmediate(const nvptx_ra_edit &E) {
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

Reason Checker::setDebugValue(const nvptx_ra_edit &E) {
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

Reason Checker::merge(const nvptx_ra_edit &E) {
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

Reason Checker::remove(const nvptx_ra_edit &E) {
  if (!isViewInst(E.id))
    return "not an instruction of the view";
  const MachineInstr &MI = *Flat.inst(E.id);
  if (MI.isTerminator())
    return "terminators stay";
  // Copies among them are not: they may go.
  bool IsInCall = View.insts[E.id].flags & NVPTX_RA_INST_CALL_SEQUENCE;
  if (IsInCall && (MI.isCall() || MI.mayLoadOrStore() ||
                   MI.hasUnmodeledSideEffects()))
    return "parts of a call stay";
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

Reason Checker::text(const nvptx_ra_edit &E) {
  if (!between(E.a, E.b, Response.text.len))
    return "the text is out of bounds";
  StringRef Text(Response.text.data + E.a, E.b - E.a);
  if (E.kind == NVPTX_RA_EDIT_SET_ATTRIBUTE)
    return Text.find('=') == StringRef::npos || Text.starts_with("=")
               ? "an attribute is KEY=VALUE"
               : nullptr;
  return Text.find_first_of(StringRef("\n\r\0", 3)) != StringRef::npos
             ? "a directive is one line"
             : nullptr;
}

Reason Checker::checkEdit(const nvptx_ra_edit &E) {
  switch (E.kind) {
  case NVPTX_RA_EDIT_CREATE_REGISTER:
    return createRegister(E);
  case NVPTX_RA_EDIT_CREATE_SLOT:
    return createSlot(E);
  case NVPTX_RA_EDIT_SPLIT_EDGE:
    return splitEdge(E);
  case NVPTX_RA_EDIT_INSERT_COPY:
  case NVPTX_RA_EDIT_INSERT_CONSTANT:
  case NVPTX_RA_EDIT_INSERT_CLONE:
  case NVPTX_RA_EDIT_INSERT_SPILL:
  case NVPTX_RA_EDIT_INSERT_RELOAD:
    if (Reason R = insertion(E))
      return R;
    return E.kind == NVPTX_RA_EDIT_INSERT_COPY       ? insertCopy(E)
           : E.kind == NVPTX_RA_EDIT_INSERT_CONSTANT ? insertConstant(E)
           : E.kind == NVPTX_RA_EDIT_INSERT_CLONE    ? insertClone(E)
                                                     : insertSpillOrReload(E);
  case NVPTX_RA_EDIT_MOVE:
    return move(E);
  case NVPTX_RA_EDIT_PERMUTE:
    return permute(E);
  case NVPTX_RA_EDIT_SET_REGISTER:
    return setRegister(E);
  case NVPTX_RA_EDIT_SET_IMMEDIATE:
    return setImmediate(E);
  case NVPTX_RA_EDIT_SET_DEBUG_VALUE:
    return setDebugValue(E);
  case NVPTX_RA_EDIT_MERGE:
    return merge(E);
  case NVPTX_RA_EDIT_DELETE:
    return remove(E);
  case NVPTX_RA_EDIT_INSERT_DIRECTIVE:
  case NVPTX_RA_EDIT_SET_ATTRIBUTE:
    return text(E);
  default:
    return "the edit is unknown";
  }
}

Register Checker::current(const MachineOperand &MO) const {
  auto It = Set.find(&MO);
  return It == Set.end() ? MO.getReg() : It->second;
}

Register Checker::root(Register Reg) const {
  auto It = MergedInto.find(Reg);
  return It == MergedInto.end() ? Reg : It->second;
}

/// Whether a register keeps what the machine verifier asks for: a definition
/// while it is read, and in SSA no second one.
Reason Checker::definitionsOf(Register Root) const {
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

Reason Checker::tiedOperands() const {
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

Error Checker::check() {
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
  return Checker(MF, Flat, Response).check();
}

} // namespace nvptx_ra
