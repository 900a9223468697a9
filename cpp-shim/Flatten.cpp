//===- Flatten.cpp - A machine function as a flat view --------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Flattens a function in one walk. This runs for every compiled kernel, so
/// nothing is allocated per instruction or operand: the arrays grow by doubling
/// and are kept for the next function of the thread.
///
//===----------------------------------------------------------------------===//

#include "Flattener.h"
#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace nvptx_ra {

/// Number of arrays kept for the next function: two, because a verified run
/// holds the views before and after the edits. Very large arrays are freed.
static constexpr size_t MaxSpareArrays = 2;
static constexpr size_t MaxSpareOperands = 1 << 20;

void FlatFunction::Writer::writeRegs() {
  const MachineRegisterInfo &MRI = MF.getRegInfo();
  auto Classes = registerClassesOf(*MF.getSubtarget().getRegisterInfo());
  unsigned NumRegs = MRI.getNumVirtRegs();
  Data.Regs.resize_for_overwrite(NumRegs);
  for (unsigned Index = 0; Index != NumRegs; ++Index) {
    Register Reg = Register::index2VirtReg(Index);
    uint32_t Number = OtherClass;
    if (const TargetRegisterClass *Class = MRI.getRegClassOrNull(Reg))
      for (unsigned I = 0; I != NumClasses; ++I)
        if (Classes[I] == Class)
          Number = I;
    Data.Regs[Index] = {toStr(MRI.getVRegName(Reg)), Number, 0};
  }
}

void FlatFunction::Writer::writeSlots() {
  const MachineFrameInfo &MFI = MF.getFrameInfo();
  Flat.FirstFrameIndex = MFI.getObjectIndexBegin();
  for (int FI = MFI.getObjectIndexBegin(); FI != MFI.getObjectIndexEnd();
       ++FI) {
    bool Sized =
        !MFI.isDeadObjectIndex(FI) && !MFI.isVariableSizedObjectIndex(FI);
    uint64_t Size = Sized ? static_cast<uint64_t>(MFI.getObjectSize(FI)) : 0;
    uint64_t Align =
        MFI.isDeadObjectIndex(FI) ? 1 : MFI.getObjectAlign(FI).value();
    Data.Slots.push_back({{}, Size, Align, 0, 0});
    nameSlot(FI, Data.Slots.back());
  }
}

/// Names the variable that lives in a slot: by debug information, or else by
/// LLVM's name.
void FlatFunction::Writer::nameSlot(int FI, nvptx_ra_slot &Slot) const {
  const AllocaInst *Alloca = MF.getFrameInfo().getObjectAllocation(FI);
  if (Alloca)
    Slot.name = toStr(Alloca->getName());
  auto Take = [&](const DILocalVariable *Variable) {
    Slot.name = toStr(Variable->getName());
    if (Variable->getFile() == File)
      Slot.line = Variable->getLine();
  };
  for (const MachineFunction::VariableDbgInfo &Info :
       MF.getInStackSlotVariableDbgInfo())
    if (Info.getStackSlot() == FI)
      return Take(Info.Var);
  // LLVM does not record variables whose address space is cast.
  if (Alloca && MF.getFunction().getSubprogram())
    for (const DbgVariableRecord *Record :
         findDVRDeclares(const_cast<AllocaInst *>(Alloca)))
      return Take(Record->getVariable());
}

void FlatFunction::Writer::numberBlocks() {
  Data.BlockIds.assign(MF.getNumBlockIDs(), NVPTX_RA_NONE);
  for (MachineBasicBlock &MBB : MF) {
    Data.BlockIds[MBB.getNumber()] = Data.BlockPointers.size();
    Data.BlockPointers.push_back(&MBB);
  }
  Data.NamedBy.assign(Data.BlockPointers.size(), NVPTX_RA_NONE);
}

/// Returns the line in the function's own file.
uint32_t FlatFunction::Writer::lineOf(const DILocation *Loc) {
  if (Loc == LastLoc)
    return LastLine;
  LastLoc = Loc;
  LastLine = ownLocation(Loc, File)->getLine();
  return LastLine;
}

/// Returns what LLVM knows of an instruction's memory accesses.
static uint32_t memoryFlags(const MachineInstr &MI, uint32_t &AddressSpace) {
  uint32_t Flags = (MI.mayLoad() ? NVPTX_RA_INST_LOAD : 0) |
                   (MI.mayStore() ? NVPTX_RA_INST_STORE : 0);
  if (Flags == 0)
    return 0;
  // Without memory operands nothing is known, and LLVM returns "ordered".
  if (MI.hasOrderedMemoryRef())
    Flags |= NVPTX_RA_INST_ORDERED;
  if (MI.memoperands_empty())
    return Flags;
  AddressSpace = MI.memoperands().front()->getAddrSpace();
  bool Invariant = (Flags & NVPTX_RA_INST_STORE) == 0;
  bool Dereferenceable = true;
  for (const MachineMemOperand *MMO : MI.memoperands()) {
    if (MMO->getAddrSpace() != AddressSpace)
      AddressSpace = 0;
    Invariant &= MMO->isInvariant();
    Dereferenceable &= MMO->isDereferenceable();
  }
  return Flags | (Invariant ? NVPTX_RA_INST_INVARIANT : 0) |
         (Dereferenceable ? NVPTX_RA_INST_DEREFERENCEABLE : 0);
}

static uint32_t asmFlags(const MachineInstr &MI) {
  auto Extra =
      static_cast<uint64_t>(MI.getOperand(InlineAsm::MIOp_ExtraInfo).getImm());
  uint32_t Flags = 0;
  if (Extra & InlineAsm::Extra_HasSideEffects)
    Flags |= NVPTX_RA_INST_ASM_EFFECTS;
  if (Extra & (InlineAsm::Extra_MayLoad | InlineAsm::Extra_MayStore))
    Flags |= NVPTX_RA_INST_ASM_MEMORY;
  return Flags;
}

void FlatFunction::Writer::writeInst(MachineInstr &MI, uint32_t Flags) {
  unsigned NumOperands = MI.getNumOperands();
  size_t First = Data.Operands.size();
  Data.Operands.resize_for_overwrite(First + NumOperands);
  for (unsigned Index = 0; Index != NumOperands; ++Index)
    writeOperand(MI, Index, Data.Operands[First + Index]);

  uint32_t AddressSpace = 0;
  Flags |= memoryFlags(MI, AddressSpace);
  if (MI.isInlineAsm()) {
    Flags |= asmFlags(MI);
    writeAsmTies(MI, MutableArrayRef(Data.Operands).drop_front(First));
  }
  if (MI.isConvergent())
    Flags |= NVPTX_RA_INST_CONVERGENT;
  if (MI.isBundled())
    Flat.Refusal = "instructions are bundled, which NVPTX never does";
  const DILocation *Loc = MI.getDebugLoc().get();
  Data.Insts.push_back({MI.getOpcode(), Flags, Loc ? lineOf(Loc) : 0,
                        static_cast<uint32_t>(Data.Operands.size()),
                        AddressSpace, 0});
  Data.InstPointers.push_back(&MI);
}

void FlatFunction::Writer::findPhiRegs() {
  PhiRegs.resize(MF.getRegInfo().getNumVirtRegs());
  for (const MachineBasicBlock *MBB : Data.BlockPointers)
    for (const MachineInstr &Phi : MBB->phis())
      for (const MachineOperand &MO : Phi.operands())
        if (MO.isReg() && MO.getReg().isVirtual())
          PhiRegs.set(MO.getReg().virtRegIndex());
}

bool FlatFunction::Writer::concernsPhis(const MachineInstr &MI) const {
  if (MI.isPHI() || MI.isTerminator())
    return true;
  return any_of(MI.operands(), [this](const MachineOperand &MO) {
    return MO.isReg() && MO.getReg().isVirtual() &&
           PhiRegs.test(MO.getReg().virtRegIndex());
  });
}

void FlatFunction::Writer::writeInsts(MachineBasicBlock &MBB, ViewScope Scope) {
  // A call sequence never leaves its block.
  bool InCall = false;
  // Instructions can be inserted before the first non-PHI, and after the last
  // instruction, so both are in the view.
  bool IsPlace = true;
  for (MachineInstr &MI : MBB.instrs()) {
    OpcodeRole Role = Opcodes.role(MI.getOpcode());
    InCall |= Role == OpcodeRole::CallStart;
    bool IsLast = &MI == &MBB.back();
    if (Scope == ViewScope::Whole || IsPlace || IsLast || concernsPhis(MI))
      writeInst(MI, InCall ? NVPTX_RA_INST_CALL_SEQUENCE : 0);
    InCall &= Role != OpcodeRole::CallEnd;
    IsPlace &= MI.isPHI();
  }
}

/// Whether NVPTX prints `.pragma "nounroll"` at the header of the loop that a
/// block ends.
static uint32_t blockFlags(const BasicBlock *Block) {
  const Instruction *End = Block ? Block->getTerminator() : nullptr;
  MDNode *Loop = End ? End->getMetadata(LLVMContext::MD_loop) : nullptr;
  if (!Loop)
    return 0;
  bool Stops = GetUnrollMetadata(Loop, "llvm.loop.unroll.disable");
  if (const MDNode *Count = GetUnrollMetadata(Loop, "llvm.loop.unroll.count"))
    Stops |= mdconst::extract<ConstantInt>(Count->getOperand(1))->isOne();
  return Stops ? NVPTX_RA_BLOCK_NO_UNROLL : 0;
}

void FlatFunction::Writer::write(const MachineBlockFrequencyInfo *MBFI,
                                 const MachineLoopInfo *MLI, ViewScope Scope) {
  writeRegs();
  writeSlots();
  numberBlocks();
  if (Scope == ViewScope::Phis)
    findPhiRegs();

  uint64_t EntryFrequency = MBFI ? MBFI->getEntryFreq().getFrequency() : 0;
  for (MachineBasicBlock *MBB : Data.BlockPointers) {
    writeInsts(*MBB, Scope);
    // LLVM may list a successor twice; the view lists it once.
    uint32_t Number = Data.Blocks.size();
    for (const MachineBasicBlock *Succ : MBB->successors()) {
      uint32_t Id = Data.BlockIds[Succ->getNumber()];
      if (std::exchange(Data.NamedBy[Id], Number) != Number)
        Data.Succs.push_back(Id);
    }
    double Frequency = 1.0;
    if (EntryFrequency != 0)
      Frequency = static_cast<double>(MBFI->getBlockFreq(MBB).getFrequency()) /
                  static_cast<double>(EntryFrequency);
    Data.Blocks.push_back({static_cast<uint32_t>(Data.Insts.size()),
                           static_cast<uint32_t>(Data.Succs.size()),
                           MLI ? MLI->getLoopDepth(MBB) : 0,
                           blockFlags(MBB->getBasicBlock()), Frequency});
  }
}

FlatFunction::Pool::Pool() = default;
FlatFunction::Pool::~Pool() = default;

std::unique_ptr<FlatFunction::Arrays> FlatFunction::takeArrays(Pool &Memory) {
  return Memory.Spare.empty() ? std::make_unique<Arrays>()
                              : Memory.Spare.pop_back_val();
}

FlatFunction::FlatFunction(Pool &Memory, MachineFunction &MF,
                           const MachineBlockFrequencyInfo *MBFI,
                           const MachineLoopInfo *MLI,
                           const nvptx_ra_opcodes *Opcodes, ViewScope Scope)
    : Memory(Memory), Data(takeArrays(Memory)) {
  Writer(*this, MF).write(MBFI, MLI, Scope);
  View.version = NVPTX_RA_ABI_VERSION;
  View.size = sizeof(View);
  View.opcodes = Opcodes;
  describeFunction(MF, Data->Text, View);
  View.blocks = Data->Blocks.data();
  View.num_blocks = Data->Blocks.size();
  View.succs = Data->Succs.data();
  View.num_succs = Data->Succs.size();
  View.insts = Data->Insts.data();
  View.num_insts = Data->Insts.size();
  View.operands = Data->Operands.data();
  View.num_operands = Data->Operands.size();
  View.regs = Data->Regs.data();
  View.num_regs = Data->Regs.size();
  View.slots = Data->Slots.data();
  View.num_slots = Data->Slots.size();
  View.symbols = Data->Symbols.data();
  View.num_symbols = Data->Symbols.size();
  View.refusal = toStr(Refusal);
}

FlatFunction::~FlatFunction() {
  if (Memory.Spare.size() == MaxSpareArrays ||
      Data->Operands.capacity() > MaxSpareOperands)
    return;
  Data->clear();
  Memory.Spare.push_back(std::move(Data));
}

MachineInstr *FlatFunction::inst(uint32_t Id) const {
  return Data->InstPointers[Id];
}

MachineBasicBlock *FlatFunction::block(uint32_t Id) const {
  return Data->BlockPointers[Id];
}

const MachineOperand &FlatFunction::symbol(uint32_t Id) const {
  return *Data->SymbolOperands[Id];
}

uint32_t FlatFunction::numberOf(const MachineBasicBlock &MBB) const {
  return Data->BlockIds[MBB.getNumber()];
}

} // namespace nvptx_ra
