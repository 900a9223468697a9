//===- Flatten.cpp - A machine function as a flat view --------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One walk over the function. Its cost counts for every kernel compiled, so
/// nothing is allocated per instruction or operand: the arrays grow by doubling
/// and are kept, per thread, for the next function.
///
//===----------------------------------------------------------------------===//

#include "Flatten.h"
#include "FunctionFacts.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalValue.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/raw_ostream.h"
#include <cstddef>

using namespace llvm;

namespace nvptx_ra {

// The other half of these assertions is in src/ffi/abi.rs.
static_assert(sizeof(nvptx_ra_str) == 16 && offsetof(nvptx_ra_str, len) == 8);
static_assert(sizeof(nvptx_ra_opcode_desc) == 24 &&
              offsetof(nvptx_ra_opcode_desc, flags) == 16);
static_assert(sizeof(nvptx_ra_operand) == 16 &&
              offsetof(nvptx_ra_operand, id) == 4 &&
              offsetof(nvptx_ra_operand, value) == 8);
static_assert(sizeof(nvptx_ra_inst) == 24 &&
              offsetof(nvptx_ra_inst, operand_end) == 12);
static_assert(sizeof(nvptx_ra_block) == 24 &&
              offsetof(nvptx_ra_block, frequency) == 16);
static_assert(sizeof(nvptx_ra_reg) == 24 &&
              offsetof(nvptx_ra_reg, reg_class) == 16);
static_assert(sizeof(nvptx_ra_slot) == 16 &&
              offsetof(nvptx_ra_slot, align) == 8);
static_assert(sizeof(nvptx_ra_symbol) == 24 &&
              offsetof(nvptx_ra_symbol, shared_bytes) == 16);
static_assert(sizeof(nvptx_ra_view) == 248 &&
              offsetof(nvptx_ra_view, blocks) == 32 &&
              offsetof(nvptx_ra_view, maxntid) == 160 &&
              offsetof(nvptx_ra_view, flags) == 224 &&
              offsetof(nvptx_ra_view, refusal) == 232);
static_assert(sizeof(nvptx_ra_edit) == 48 &&
              offsetof(nvptx_ra_edit, value) == 24 &&
              offsetof(nvptx_ra_edit, operand) == 32);
static_assert(sizeof(nvptx_ra_request) == 104 &&
              offsetof(nvptx_ra_request, view) == 88);
static_assert(sizeof(nvptx_ra_remark) == 64 &&
              offsetof(nvptx_ra_remark, value) == 40);
static_assert(sizeof(nvptx_ra_response) == 128 &&
              offsetof(nvptx_ra_response, message) == 32 &&
              offsetof(nvptx_ra_response, num_remarks) == 120);
static_assert(sizeof(nvptx_ra_option_info) == 56 &&
              offsetof(nvptx_ra_option_info, hidden) == 52);

namespace {

/// Finds operands by identity: equal where LLVM says that they are identical,
/// target flags included.
struct OperandIdentity {
  static const MachineOperand *getEmptyKey() {
    return DenseMapInfo<const MachineOperand *>::getEmptyKey();
  }
  static const MachineOperand *getTombstoneKey() {
    return DenseMapInfo<const MachineOperand *>::getTombstoneKey();
  }
  static unsigned getHashValue(const MachineOperand *MO) {
    return static_cast<unsigned>(hash_value(*MO));
  }
  static bool isEqual(const MachineOperand *A, const MachineOperand *B) {
    if (A == B)
      return true;
    bool Marker = A == getEmptyKey() || A == getTombstoneKey() ||
                  B == getEmptyKey() || B == getTombstoneKey();
    return !Marker && A->isIdenticalTo(*B);
  }
};

} // namespace

struct FlatFunction::Arrays {
  SmallVector<nvptx_ra_block, 0> Blocks;
  SmallVector<uint32_t, 0> Succs;
  SmallVector<nvptx_ra_inst, 0> Insts;
  SmallVector<nvptx_ra_operand, 0> Operands;
  SmallVector<nvptx_ra_reg, 0> Regs;
  SmallVector<nvptx_ra_slot, 0> Slots;
  SmallVector<nvptx_ra_symbol, 0> Symbols;
  SmallVector<MachineBasicBlock *, 0> BlockPointers;
  SmallVector<MachineInstr *, 0> InstPointers;
  SmallVector<const MachineOperand *, 0> SymbolOperands;
  /// By MachineBasicBlock::getNumber(), which has holes.
  SmallVector<uint32_t, 0> BlockIds;
  /// By block: the last block that has named it as a successor.
  SmallVector<uint32_t, 0> NamedBy;
  DenseMap<const MachineOperand *, uint32_t, OperandIdentity> SymbolIds;
  BumpPtrAllocator Text;

  void clear() {
    Blocks.clear();
    Succs.clear();
    Insts.clear();
    Operands.clear();
    Regs.clear();
    Slots.clear();
    Symbols.clear();
    BlockPointers.clear();
    InstPointers.clear();
    SymbolOperands.clear();
    BlockIds.clear();
    NamedBy.clear();
    SymbolIds.clear();
    Text.Reset();
  }
};

/// The arrays that are kept for the next function: two, because a verified run
/// holds the view before and the one after. Very large ones are given back.
static constexpr size_t MaxSpareArrays = 2;
static constexpr size_t MaxSpareOperands = 1 << 20;

/// Fills the arrays of a FlatFunction.
class FlatFunction::Writer {
public:
  Writer(FlatFunction &Flat, MachineFunction &MF)
      : Flat(Flat), Data(*Flat.Data), MF(MF),
        Opcodes(opcodeTableOf(*MF.getSubtarget().getInstrInfo())),
        File(fileOf(MF.getFunction())) {}

  void write(const MachineBlockFrequencyInfo *MBFI, const MachineLoopInfo *MLI,
             ViewScope Scope);

private:
  void writeRegs();
  void writeSlots();
  void numberBlocks();
  void findPhiRegs();
  bool concernsPhis(const MachineInstr &MI) const;
  void writeInsts(MachineBasicBlock &MBB, ViewScope Scope);
  void writeInst(MachineInstr &MI, uint32_t Flags);
  void writeOperand(const MachineInstr &MI, unsigned Index,
                    nvptx_ra_operand &Out);
  void writeRegOperand(const MachineInstr &MI, unsigned Index,
                       nvptx_ra_operand &Out);
  uint32_t symbolOf(const MachineOperand &MO);
  nvptx_ra_str textOf(const MachineOperand &MO, uint32_t Id);
  uint32_t lineOf(const DILocation *Loc);

  FlatFunction &Flat;
  Arrays &Data;
  MachineFunction &MF;
  const OpcodeTable &Opcodes;
  /// By virtual register: whether a PHI names it. Of a view of PHIs alone.
  BitVector PhiRegs;
  /// The function's own file, null where it has no debug information.
  const DIFile *File;
  /// The last location that a line was asked for: neighbours share theirs.
  const DILocation *LastLoc = nullptr;
  uint32_t LastLine = 0;
};

static nvptx_ra_str asStr(StringRef Text) { return {Text.data(), Text.size()}; }

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
    Data.Regs[Index] = {asStr(MRI.getVRegName(Reg)), Number, 0};
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
    Data.Slots.push_back({Size, Align});
  }
}

void FlatFunction::Writer::numberBlocks() {
  Data.BlockIds.assign(MF.getNumBlockIDs(), NVPTX_RA_NONE);
  for (MachineBasicBlock &MBB : MF) {
    Data.BlockIds[MBB.getNumber()] = Data.BlockPointers.size();
    Data.BlockPointers.push_back(&MBB);
  }
  Data.NamedBy.assign(Data.BlockPointers.size(), NVPTX_RA_NONE);
}

nvptx_ra_str FlatFunction::Writer::textOf(const MachineOperand &MO,
                                          uint32_t Id) {
  // For readers alone. Names are as in MIR; what has none, or what LLVM could
  // only print at length, is a letter and the number of the symbol, so that
  // different symbols never look alike.
  SmallString<64> Buffer;
  raw_svector_ostream OS(Buffer);
  bool Offset = false;
  if (MO.isGlobal() && MO.getGlobal()->hasName()) {
    OS << '@' << MO.getGlobal()->getName();
    Offset = true;
  } else if (MO.isSymbol()) {
    OS << '&' << MO.getSymbolName();
    Offset = true;
  } else if (MO.isMetadata()) {
    OS << "metadata." << Id;
  } else {
    OS << "operand." << Id;
  }
  if (Offset && MO.getOffset() != 0)
    OS << '+' << MO.getOffset();
  if (Offset && MO.getTargetFlags() != 0)
    OS << ":flags=" << MO.getTargetFlags();
  return asStr(Buffer.str().copy(Data.Text));
}

/// The line in the function's own file.
uint32_t FlatFunction::Writer::lineOf(const DILocation *Loc) {
  if (Loc == LastLoc)
    return LastLine;
  LastLoc = Loc;
  LastLine = ownLocation(Loc, File)->getLine();
  return LastLine;
}

uint32_t FlatFunction::Writer::symbolOf(const MachineOperand &MO) {
  auto [It, New] = Data.SymbolIds.try_emplace(&MO, Data.Symbols.size());
  if (New) {
    uint64_t SharedBytes = sharedBytesOf(MO, MF.getDataLayout());
    Data.Symbols.push_back({textOf(MO, It->second), SharedBytes});
    Data.SymbolOperands.push_back(&MO);
  }
  return It->second;
}

void FlatFunction::Writer::writeRegOperand(const MachineInstr &MI,
                                           unsigned Index,
                                           nvptx_ra_operand &Out) {
  const MachineOperand &MO = MI.getOperand(Index);
  Register Reg = MO.getReg();
  if (!Reg) {
    Out.kind = NVPTX_RA_OPERAND_NOREG;
    return;
  }
  if (Reg.isVirtual()) {
    Out.kind = NVPTX_RA_OPERAND_REG;
    Out.id = Reg.virtRegIndex();
  } else {
    Out.kind = NVPTX_RA_OPERAND_PHYSICAL;
    Out.id = Reg.id();
  }
  uint8_t Flags = 0;
  if (MO.isDef())
    Flags |= NVPTX_RA_FLAG_DEF | (MO.isDead() ? NVPTX_RA_FLAG_DEAD : 0);
  else
    Flags |= MO.isKill() ? NVPTX_RA_FLAG_KILL : 0;
  Flags |= MO.isImplicit() ? NVPTX_RA_FLAG_IMPLICIT : 0;
  Flags |= MO.isUndef() ? NVPTX_RA_FLAG_UNDEF : 0;
  Flags |= MO.isEarlyClobber() ? NVPTX_RA_FLAG_EARLY_CLOBBER : 0;
  Out.flags = Flags;
  if (MO.isTied()) {
    unsigned Tied = MI.findTiedOperandIdx(Index);
    if (Tied >= NVPTX_RA_NOT_TIED)
      Flat.Refusal = "an instruction has tied operands beyond its 65,535th";
    else
      Out.tied = static_cast<uint16_t>(Tied);
  }
  if (MO.getSubReg() != 0)
    Flat.Refusal = "an operand names a part of a register, which NVPTX has not";
}

void FlatFunction::Writer::writeOperand(const MachineInstr &MI, unsigned Index,
                                        nvptx_ra_operand &Out) {
  const MachineOperand &MO = MI.getOperand(Index);
  Out = {NVPTX_RA_OPERAND_SYMBOL, 0, NVPTX_RA_NOT_TIED, 0, 0};
  switch (MO.getType()) {
  case MachineOperand::MO_Register:
    return writeRegOperand(MI, Index, Out);
  case MachineOperand::MO_Immediate:
    if (MO.getTargetFlags() != 0)
      break;
    Out.kind = NVPTX_RA_OPERAND_IMMEDIATE;
    Out.value = MO.getImm();
    return;
  case MachineOperand::MO_FPImmediate: {
    APInt Bits = MO.getFPImm()->getValueAPF().bitcastToAPInt();
    if (MO.getTargetFlags() != 0 || Bits.getBitWidth() > 64)
      break;
    Out.kind = NVPTX_RA_OPERAND_FLOAT;
    Out.value = static_cast<int64_t>(Bits.getZExtValue());
    return;
  }
  case MachineOperand::MO_MachineBasicBlock:
    if (MO.getTargetFlags() != 0)
      break;
    Out.kind = NVPTX_RA_OPERAND_BLOCK;
    Out.id = Data.BlockIds[MO.getMBB()->getNumber()];
    return;
  case MachineOperand::MO_FrameIndex:
    if (MO.getTargetFlags() != 0)
      break;
    Out.kind = NVPTX_RA_OPERAND_SLOT;
    Out.id = static_cast<uint32_t>(MO.getIndex() - Flat.FirstFrameIndex);
    return;
  default:
    break;
  }
  Out.id = symbolOf(MO);
}

/// What LLVM knows of this instruction's memory accesses.
static uint32_t memoryFlags(const MachineInstr &MI, uint32_t &AddressSpace) {
  uint32_t Flags = (MI.mayLoad() ? NVPTX_RA_INST_LOAD : 0) |
                   (MI.mayStore() ? NVPTX_RA_INST_STORE : 0);
  if (Flags == 0)
    return 0;
  // Without memory operands nothing is known: LLVM then says "ordered".
  if (MI.hasOrderedMemoryRef())
    Flags |= NVPTX_RA_INST_ORDERED;
  if (MI.memoperands_empty())
    return Flags;
  AddressSpace = MI.memoperands().front()->getAddrSpace();
  bool Invariant = (Flags & NVPTX_RA_INST_STORE) == 0;
  for (const MachineMemOperand *MMO : MI.memoperands()) {
    if (MMO->getAddrSpace() != AddressSpace)
      AddressSpace = 0;
    Invariant &= MMO->isInvariant();
  }
  return Flags | (Invariant ? NVPTX_RA_INST_INVARIANT : 0);
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
  if (MI.isInlineAsm())
    Flags |= asmFlags(MI);
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

void FlatFunction::Writer::writeInsts(MachineBasicBlock &MBB,
                                      ViewScope Scope) {
  // A call sequence never leaves its block.
  bool InCall = false;
  // The first instruction behind the PHIs is a place to insert at, and behind
  // the last one is another.
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

void FlatFunction::Writer::write(const MachineBlockFrequencyInfo *MBFI,
                                 const MachineLoopInfo *MLI,
                                 ViewScope Scope) {
  writeRegs();
  writeSlots();
  numberBlocks();
  if (Scope == ViewScope::Phis)
    findPhiRegs();

  uint64_t EntryFrequency = MBFI ? MBFI->getEntryFreq().getFrequency() : 0;
  for (MachineBasicBlock *MBB : Data.BlockPointers) {
    writeInsts(*MBB, Scope);
    // The view names each successor once, LLVM may do so twice.
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
                           MLI ? MLI->getLoopDepth(MBB) : 0, 0, Frequency});
  }
}

template <typename T>
static SmallVectorImpl<std::unique_ptr<T>> &spareArrays() {
  static thread_local SmallVector<std::unique_ptr<T>, MaxSpareArrays> Spare;
  return Spare;
}

std::unique_ptr<FlatFunction::Arrays> FlatFunction::takeArrays() {
  auto &Spare = spareArrays<Arrays>();
  return Spare.empty() ? std::make_unique<Arrays>() : Spare.pop_back_val();
}

FlatFunction::FlatFunction(MachineFunction &MF,
                           const MachineBlockFrequencyInfo *MBFI,
                           const MachineLoopInfo *MLI,
                           const nvptx_ra_opcodes *Opcodes, ViewScope Scope)
    : Data(takeArrays()) {
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
  View.refusal = asStr(Refusal);
}

FlatFunction::~FlatFunction() {
  auto &Spare = spareArrays<Arrays>();
  if (Spare.size() == MaxSpareArrays ||
      Data->Operands.capacity() > MaxSpareOperands)
    return;
  Data->clear();
  Spare.push_back(std::move(Data));
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
