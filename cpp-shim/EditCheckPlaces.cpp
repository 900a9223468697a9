//===- EditCheckPlaces.cpp - What edits insert and move -------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EditChecker.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Type.h"

using namespace llvm;

namespace nvptx_ra {

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
  constexpr uint64_t Sizes[NumClasses] = {2, 2, 4, 8, 16};
  return Class < NumClasses ? Sizes[Class] : 0;
}

uint32_t EditChecker::home(uint32_t Inst) const {
  if (!isViewInst(Inst))
    return NewInsts[Inst - View.num_insts];
  auto It = Moved.find(Inst);
  return It == Moved.end() ? Flat.numberOf(*Flat.inst(Inst)->getParent())
                           : It->second;
}

Reason EditChecker::place(uint32_t Block, uint32_t Before) const {
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
Reason EditChecker::insertion(const nvptx_ra_edit &E) {
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

Reason EditChecker::insertCopy(const nvptx_ra_edit &E) {
  if (!isReg(E.b))
    return "no such source register";
  if (classOf(E.a) != classOf(E.b))
    return "the classes differ";
  gains(Flat.reg(E.b), false);
  return nullptr;
}

Reason EditChecker::insertConstant(const nvptx_ra_edit &E) {
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

Reason EditChecker::insertClone(const nvptx_ra_edit &E) {
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
  Clones[E.id] = &MI;
  return nullptr;
}

Reason EditChecker::insertSpillOrReload(const nvptx_ra_edit &E) {
  if (E.b >= View.num_slots + NewSlots.size())
    return "no such slot";
  if (E.b < View.num_slots)
    return "the slot is the function's own";
  const nvptx_ra_edit &Slot = *NewSlots[E.b - View.num_slots];
  if (Slot.kind == NVPTX_RA_EDIT_CREATE_BIT_SLOT &&
      classOf(E.a) != PredicateClass)
    return "a bit holds a predicate";
  return Opcodes.spilling().isComplete()
             ? nullptr
             : "this LLVM lacks an opcode that spilling needs";
}

Reason EditChecker::insertWide(const nvptx_ra_edit &E) {
  if (!between(E.a, E.b, Response.num_numbers) || (E.b - E.a) % 2 != 0 ||
      E.b - E.a < 4)
    return "not a list of registers, each with its slot";
  bool IsSpill = E.kind == NVPTX_RA_EDIT_INSERT_WIDE_SPILL;
  nvptx_ra_edit Part = E;
  Part.kind = IsSpill ? NVPTX_RA_EDIT_INSERT_SPILL : NVPTX_RA_EDIT_INSERT_RELOAD;
  const uint32_t *Pairs = Response.numbers + E.a;
  uint32_t Number = (E.b - E.a) / 2, Class = OtherClass;
  for (uint32_t Index = 0; Index != Number; ++Index) {
    Part.a = Pairs[2 * Index];
    Part.b = Pairs[2 * Index + 1];
    // The instruction is inserted with its first register; the others follow.
    if (Index == 0) {
      if (Reason R = insertion(Part))
        return R;
      Class = classOf(Part.a);
      uint64_t All = spillSize(Class) * Number;
      if (spillSize(Class) < 4 || (All != 8 && All != 16))
        return "not 8 or 16 bytes of 4 or 8 bytes each";
    } else if (!isReg(Part.a) || classOf(Part.a) != Class) {
      return "no such register, or none of the first one's class";
    } else {
      gains(Flat.reg(Part.a), !IsSpill);
    }
    if (Reason R = insertSpillOrReload(Part))
      return R;
  }
  return nullptr;
}

Reason EditChecker::move(const nvptx_ra_edit &E) {
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

Reason EditChecker::permute(const nvptx_ra_edit &E) {
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

} // namespace nvptx_ra
