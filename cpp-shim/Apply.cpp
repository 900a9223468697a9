//===- Apply.cpp - Edits applied to a machine function --------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The meaning of each edit is in src/function/edit.rs. All ids have been
/// checked when the first change is made; nothing here can fail.
///
//===----------------------------------------------------------------------===//

#include "Apply.h"
#include "Compat.h"
#include "EditCheck.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/MachineJumpTableInfo.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/PseudoSourceValue.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace nvptx_ra {

namespace {

/// What NVPTXInstrInfo.td means by the immediates of LD_ and ST_: neither
/// atomic nor volatile, in local memory, untyped, every byte used.
constexpr int64_t NotAtomic = 0, ThreadScope = 0, LocalSpace = 5, Untyped = 3,
                  AllBytesUsed = -1;

class Applier {
public:
  Applier(MachineFunction &MF, const FlatFunction &Flat,
          const nvptx_ra_response &Response)
      : MF(MF), MRI(MF.getRegInfo()), TII(*MF.getSubtarget().getInstrInfo()),
        Opcodes(opcodeTableOf(TII)), Flat(Flat), Response(Response),
        Classes(registerClassesOf(*MF.getSubtarget().getRegisterInfo())),
        NumViewBlocks(Flat.view().num_blocks),
        NumViewInsts(Flat.view().num_insts), NumViewRegs(Flat.view().num_regs) {
  }

  void apply();

private:
  void applyEdit(const nvptx_ra_edit &E);
  void createRegister(const nvptx_ra_edit &E);
  void splitEdge(const nvptx_ra_edit &E);
  MachineInstr *insertConstant(const nvptx_ra_edit &E);
  MachineInstr *insertClone(const nvptx_ra_edit &E);
  MachineInstr *insertSpill(const nvptx_ra_edit &E);
  MachineInstr *insertReload(const nvptx_ra_edit &E);
  void permute(const nvptx_ra_edit &E);
  void setRegister(const nvptx_ra_edit &E);
  void setImmediate(const nvptx_ra_edit &E);
  void setDebugValue(const nvptx_ra_edit &E);
  void merge(const nvptx_ra_edit &E);
  void remove(const nvptx_ra_edit &E);
  void insertDirective(const nvptx_ra_edit &E);
  void setAttribute(const nvptx_ra_edit &E);
  void clearStaleFlags();
  void forgetLostDebugValues();

  MachineBasicBlock *block(uint32_t Id) const {
    return Id < NumViewBlocks ? Flat.block(Id) : NewBlocks[Id - NumViewBlocks];
  }
  MachineInstr *inst(uint32_t Id) const {
    return Id < NumViewInsts ? Flat.inst(Id) : NewInsts[Id - NumViewInsts];
  }
  /// New registers continue LLVM's numbers as they continue the view's.
  Register reg(uint32_t Id) const { return Flat.reg(Id); }
  MachineBasicBlock::iterator place(const nvptx_ra_edit &E) const;
  /// The register that holds the local address of a slot, and the code at the
  /// entry that computes all of them, once everything else is in its place.
  Register localAddress(uint32_t Slot);
  void computeLocalAddresses();
  uint32_t classOf(Register Reg) const;
  StringRef text(const nvptx_ra_edit &E) const {
    return StringRef(Response.text.data + E.a, E.b - E.a);
  }
  MachineInstrBuilder build(const nvptx_ra_edit &E, unsigned Opcode) {
    return BuildMI(*block(E.block), place(E), DebugLoc(), TII.get(Opcode));
  }
  /// The flags of this register may no longer hold.
  void touch(Register Reg) {
    if (Reg.isVirtual())
      Touched.push_back(Reg);
  }
  void touchAll(const MachineInstr &MI) {
    for (const MachineOperand &MO : MI.operands())
      if (MO.isReg())
        touch(MO.getReg());
  }

  MachineFunction &MF;
  MachineRegisterInfo &MRI;
  const TargetInstrInfo &TII;
  const OpcodeTable &Opcodes;
  const FlatFunction &Flat;
  const nvptx_ra_response &Response;
  const std::array<const TargetRegisterClass *, NumClasses> Classes;
  const uint64_t NumViewBlocks, NumViewInsts, NumViewRegs;
  SmallVector<MachineBasicBlock *, 0> NewBlocks;
  SmallVector<MachineInstr *, 0> NewInsts;
  SmallVector<uint32_t, 0> NewRegClasses;
  SmallVector<Register, 0> SlotAddresses;
  SmallVector<Register, 0> Touched;
  /// Registers that lost a definition.
  SmallVector<Register, 0> LostDefs;
  MachineInstr *LastDirective = nullptr;
};

} // namespace

MachineBasicBlock::iterator Applier::place(const nvptx_ra_edit &E) const {
  if (E.before != NVPTX_RA_NONE)
    return Flat.inst(E.before)->getIterator();
  // Not getFirstTerminator(): it skips debug instructions, too.
  MachineBasicBlock &MBB = *block(E.block);
  auto It = MBB.end();
  while (It != MBB.begin() && std::prev(It)->isTerminator())
    --It;
  return It;
}

uint32_t Applier::classOf(Register Reg) const {
  uint32_t Id = Reg.virtRegIndex();
  return Id < NumViewRegs ? Flat.view().regs[Id].reg_class
                          : NewRegClasses[Id - NumViewRegs];
}

void Applier::createRegister(const nvptx_ra_edit &E) {
  MRI.createVirtualRegister(Classes[E.a]);
  NewRegClasses.push_back(E.a);
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

Register Applier::localAddress(uint32_t Slot) {
  if (SlotAddresses.size() <= Slot)
    SlotAddresses.resize(Slot + 1);
  Register &Address = SlotAddresses[Slot];
  if (!Address) {
    const SpillOpcodes &Spilling = Opcodes.spilling();
    const MCInstrDesc &Local = TII.get(Spilling.ToLocal[pointerIndex(MF)]);
    Address = MRI.createVirtualRegister(compat::operandClass(MF, Local, 0));
  }
  return Address;
}

void Applier::computeLocalAddresses() {
  // A frame index becomes an offset from the generic stack pointer, which no
  // st.local takes. LLVM's peephole folds the two instructions into one that
  // adds to the local stack pointer, while the registers have one definition.
  if (SlotAddresses.empty())
    return;
  unsigned Pointer = pointerIndex(MF);
  const SpillOpcodes &Spilling = Opcodes.spilling();
  const MCInstrDesc &Frame = TII.get(Spilling.FrameAddress[Pointer]);
  MachineBasicBlock &Entry = MF.front();
  auto Begin = Entry.begin();
  for (const auto &[Slot, Address] : enumerate(SlotAddresses)) {
    if (!Address)
      continue;
    Register Generic = MRI.cloneVirtualRegister(Address);
    BuildMI(Entry, Begin, DebugLoc(), Frame, Generic)
        .addFrameIndex(Flat.slot(Slot))
        .addImm(0);
    BuildMI(Entry, Begin, DebugLoc(), TII.get(Spilling.ToLocal[Pointer]),
            Address)
        .addReg(Generic);
  }
}

static MachineMemOperand *slotAccess(MachineFunction &MF, int FrameIndex,
                                     uint64_t Size,
                                     MachineMemOperand::Flags Flags) {
  MachinePointerInfo Info = MachinePointerInfo::getFixedStack(MF, FrameIndex);
  Info.AddrSpace = LocalSpace;
  return MF.getMachineMemOperand(Info, Flags, LLT::scalar(Size * 8),
                                 MF.getFrameInfo().getObjectAlign(FrameIndex));
}

MachineInstr *Applier::insertSpill(const nvptx_ra_edit &E) {
  uint32_t Class = classOf(reg(E.a));
  uint64_t Size = spillSize(Class);
  Register Address = localAddress(E.b);
  return build(E, Opcodes.spilling().Store[Class])
      .addReg(reg(E.a))
      .addImm(NotAtomic)
      .addImm(ThreadScope)
      .addImm(LocalSpace)
      .addImm(static_cast<int64_t>(Size * 8))
      .addReg(Address)
      .addImm(0)
      .addMemOperand(
          slotAccess(MF, Flat.slot(E.b), Size, MachineMemOperand::MOStore));
}

MachineInstr *Applier::insertReload(const nvptx_ra_edit &E) {
  uint32_t Class = classOf(reg(E.a));
  uint64_t Size = spillSize(Class);
  Register Address = localAddress(E.b);
  return build(E, Opcodes.spilling().Load[Class])
      .addDef(reg(E.a))
      .addImm(NotAtomic)
      .addImm(ThreadScope)
      .addImm(LocalSpace)
      .addImm(Untyped)
      .addImm(static_cast<int64_t>(Size * 8))
      .addImm(AllBytesUsed)
      .addReg(Address)
      .addImm(0)
      .addMemOperand(
          slotAccess(MF, Flat.slot(E.b), Size, MachineMemOperand::MOLoad));
}

void Applier::permute(const nvptx_ra_edit &E) {
  // From the last to the first, each to the front: a branch that splitting an
  // edge appended stays behind.
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
  auto Place = LastDirective ? std::next(LastDirective->getIterator())
                             : Entry.begin();
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
  case NVPTX_RA_EDIT_CREATE_SLOT:
    MF.getFrameInfo().CreateStackObject(static_cast<uint64_t>(E.value),
                                        Align(E.a), /*isSpillSlot=*/true);
    return;
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
  case NVPTX_RA_EDIT_INSERT_SPILL:
    NewInsts.push_back(insertSpill(E));
    break;
  case NVPTX_RA_EDIT_INSERT_RELOAD:
    NewInsts.push_back(insertReload(E));
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

/// Clears what may no longer hold: a read that was the last, a definition that
/// nobody read. Linear in the operands of the registers touched.
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
  // Deletions before merges: fewer operands to rename.
  ArrayRef<nvptx_ra_edit> Edits(Response.edits, Response.num_edits);
  auto IsDelete = [](const nvptx_ra_edit &E) {
    return E.kind == NVPTX_RA_EDIT_DELETE;
  };
  auto FirstMerge = find_if(Edits, [](const nvptx_ra_edit &E) {
    return E.kind >= NVPTX_RA_EDIT_MERGE;
  });
  for_each(make_range(Edits.begin(), FirstMerge),
           [&](const nvptx_ra_edit &E) { applyEdit(E); });
  computeLocalAddresses();
  auto Rest = make_range(FirstMerge, Edits.end());
  for_each(make_filter_range(Rest, IsDelete),
           [&](const nvptx_ra_edit &E) { applyEdit(E); });
  for_each(make_filter_range(Rest, std::not_fn(IsDelete)),
           [&](const nvptx_ra_edit &E) { applyEdit(E); });
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
