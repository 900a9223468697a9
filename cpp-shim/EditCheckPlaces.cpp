//===- EditCheckPlaces.cpp - Checks of insertions and moves ---------------===//
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
  if (Reason R = place(E.block, E.before))
    return R;
  ++NumInsts;
  NewInsts.push_back(E.block);
  ++Growth[E.block];
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
  // A view's symbols include metadata and the text of inline assembly, which
  // LLVM cannot print in another instruction.
  if (E.operand.kind == NVPTX_RA_OPERAND_SYMBOL) {
    const MachineOperand &Symbol = Flat.symbol(E.operand.id);
    if (!Symbol.isGlobal() &&
        (!Symbol.isSymbol() || Symbol.getParent()->isInlineAsm()))
      return "the symbol has no address";
  }
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

Reason EditChecker::insertInst(const nvptx_ra_edit &E) {
  if (Reason R = insertion(E))
    return R;
  std::optional<unsigned> Opcode = Opcodes.inserted(E.value);
  if (!Opcode)
    return "no such instruction, or this LLVM lacks its opcode";
  if (!between(E.a, E.b, Response.num_operands))
    return "the operands are out of bounds";
  const MCInstrDesc &Desc = TII.get(*Opcode);
  if (E.b - E.a != Desc.getNumOperands())
    return "the opcode has another number of operands";
  for (unsigned Index = 0; Index != Desc.getNumOperands(); ++Index) {
    const nvptx_ra_operand &O = Response.operands[E.a + Index];
    bool IsReg = O.kind == NVPTX_RA_OPERAND_REG;
    if (IsReg && (!isReg(O.id) || classOf(O.id) == OtherClass))
      return "no such register, or none of a known class";
    uint32_t Class = IsReg ? classOf(O.id) : OtherClass;
    if (!nvptx_ra_inserted_takes(static_cast<uint32_t>(E.value), Index, O,
                                 Class))
      return "the instruction takes another operand";
    // The core may assume the operands of another LLVM version.
    bool IsDef = O.flags & NVPTX_RA_FLAG_DEF;
    const TargetRegisterClass *Wanted = compat::operandClass(MF, Desc, Index);
    if (IsDef != (Index < Desc.getNumDefs()) ||
        (Wanted && (!IsReg || Classes[Class] != Wanted)))
      return "this LLVM's opcode takes another operand";
    if (IsReg)
      gains(Flat.reg(O.id), IsDef);
  }
  return memory(E.memory, Desc);
}

Reason EditChecker::memory(const nvptx_ra_memory &Memory,
                           const MCInstrDesc &Desc) const {
  bool Loads = Memory.flags & NVPTX_RA_MEMORY_LOAD;
  bool Stores = Memory.flags & NVPTX_RA_MEMORY_STORE;
  bool IsAccess = Loads || Stores;
  if (Loads != Desc.mayLoad() || Stores != Desc.mayStore() ||
      Memory.flags > (NVPTX_RA_MEMORY_LOAD | NVPTX_RA_MEMORY_STORE |
                      NVPTX_RA_MEMORY_VOLATILE) ||
      (!IsAccess && Memory.flags != 0))
    return "the opcode accesses memory in another way";
  if (!IsAccess)
    return nullptr;
  return isPowerOf2_32(Memory.align) && Memory.bytes != 0 &&
                 Memory.bytes <= 16 && Memory.space < 256
             ? nullptr
             : "no such address space, size or alignment";
}

Reason EditChecker::insertAssembly(const nvptx_ra_edit &E) {
  if (Reason R = insertion(E))
    return R;
  if (E.operand.value < 0 ||
      !between(E.operand.id, E.operand.value, Response.num_numbers) ||
      !between(E.a, E.b, Response.text.len))
    return "the text or the registers are out of bounds";
  std::string Names;
  for (uint64_t Index = E.operand.id, End = E.operand.value; Index != End;
       ++Index) {
    uint32_t Reg = Response.numbers[Index];
    if (!isReg(Reg) || classOf(Reg) == OtherClass)
      return "no such register, or none of a known class";
    gains(Flat.reg(Reg), /*IsDef=*/true);
    Names += "$" + std::to_string(Index - E.operand.id) + " ";
  }
  return assembly(E, Names);
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
  // 0: PHIs, 1: other instructions, 2: terminators, which keep their order.
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
