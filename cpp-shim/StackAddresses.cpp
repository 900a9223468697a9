//===- StackAddresses.cpp - Calls that pass addresses of the stack --------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See StackAddresses.h.
///
//===----------------------------------------------------------------------===//

#include "StackAddresses.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Argument.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace nvptx_ra {

/// How many values a value is followed through that is no address itself.
static constexpr unsigned MaxDepth = 6;

void StackAddresses::add(const Value *Object, uint8_t Fact) {
  uint8_t &Known = Facts[Object];
  Changed |= (Known | Fact) != Known;
  Known |= Fact;
}

/// Notes that an address is stored in what a pointer may point to, where that is
/// a stack variable or comes from the caller.
void StackAddresses::addStore(const Value *Pointer) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Pointer, Objects);
  for (const Value *Object : Objects)
    if (isa<AllocaInst, Argument>(Object))
      add(Object, HoldsAddresses | StoresAddresses);
}

uint8_t StackAddresses::factsOf(const Value *V, unsigned Depth) const {
  if (Depth > MaxDepth)
    return 0;
  if (!V->getType()->isPointerTy()) {
    // A structure by value may hold addresses, and numbers may be made of them.
    if (const auto *I = dyn_cast<Instruction>(V);
        I && isa<ExtractValueInst, InsertValueInst, CallBase>(I)) {
      uint8_t All = 0;
      for (const Value *Operand : I->operands())
        if (!isa<Function>(Operand))
          All |= factsOf(Operand, Depth + 1);
      return All ? IsAddress : 0;
    }
    return 0;
  }
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(V, Objects);
  uint8_t All = 0;
  for (const Value *Object : Objects) {
    All |= Facts.lookup(Object);
    if (isa<AllocaInst>(Object))
      All |= IsAddress;
    // What comes out of an object that holds addresses may be one, and what that
    // points to may hold more.
    else if (const auto *Load = dyn_cast<LoadInst>(Object)) {
      if (factsOf(Load->getPointerOperand(), Depth + 1) & HoldsAddresses)
        All |= IsAddress | HoldsAddresses;
    } else if (isa<CallBase, ExtractValueInst>(Object)) {
      // As begin() of an array returns one.
      for (const Value *Operand : cast<Instruction>(Object)->operands())
        if (!isa<Function>(Operand))
          All |= factsOf(Operand, Depth + 1);
    }
  }
  return All;
}

/// What holds of a parameter of the called function.
uint8_t StackAddresses::passed(const CallBase &Call, unsigned Argument) const {
  uint8_t Given = factsOf(Call.getArgOperand(Argument)) & ~StoresAddresses;
  // The called function gets a copy, which is no variable of the caller's.
  return Call.isByValArgument(Argument) ? Given & HoldsAddresses : Given;
}

void StackAddresses::visitCall(const CallBase &Call) {
  if (const auto *Copy = dyn_cast<MemTransferInst>(&Call)) {
    if (factsOf(Copy->getRawSource()) & HoldsAddresses)
      addStore(Copy->getRawDest());
    return;
  }
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Members.contains(Callee))
    return;
  for (const Argument &Parameter : Callee->args()) {
    unsigned Number = Parameter.getArgNo();
    if (Number >= Call.arg_size())
      break;
    if (uint8_t Given = passed(Call, Number))
      add(&Parameter, Given);
    // What the called function stores there, as a constructor does.
    if (!Call.isByValArgument(Number) &&
        (Facts.lookup(&Parameter) & StoresAddresses))
      addStore(Call.getArgOperand(Number));
  }
}

void StackAddresses::visit(const Instruction &I) {
  if (const auto *Store = dyn_cast<StoreInst>(&I)) {
    if (factsOf(Store->getValueOperand()) & IsAddress)
      addStore(Store->getPointerOperand());
  } else if (const auto *Call = dyn_cast<CallBase>(&I)) {
    visitCall(*Call);
  }
}

StackAddresses::StackAddresses(ArrayRef<Function *> Functions) {
  Members.insert(Functions.begin(), Functions.end());
  do {
    Changed = false;
    for (const Function *F : Functions)
      for (const Instruction &I : instructions(*F))
        visit(I);
  } while (Changed);
}

bool StackAddresses::arePassedBy(const CallBase &Call) const {
  for (unsigned Argument = 0; Argument != Call.arg_size(); ++Argument)
    if (passed(Call, Argument))
      return true;
  return false;
}

} // namespace nvptx_ra
