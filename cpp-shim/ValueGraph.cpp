//===- ValueGraph.cpp - The values of a function, as arrays ---------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See ValueGraph.h.
///
//===----------------------------------------------------------------------===//

#include "ValueGraph.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Argument.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace nvptx_ra {

uint32_t ValueGraph::numberOf(const Value *V, bool IsObject) {
  auto [Entry, IsNew] = Numbers.try_emplace(Node(V, IsObject), Nodes.size());
  if (IsNew)
    Nodes.emplace_back(V, IsObject);
  return Entry->second;
}

void ValueGraph::addOperands(const User &Of) {
  for (const Value *Operand : Of.operands())
    if (!isa<Function>(Operand))
      Edges.push_back(numberOf(Operand));
}

uint32_t ValueGraph::describeObject(const Value &Object) {
  if (isa<AllocaInst>(Object))
    return NVPTX_RA_VALUE_VARIABLE;
  if (isa<Argument>(Object))
    return NVPTX_RA_VALUE_PARAMETER;
  if (const auto *Load = dyn_cast<LoadInst>(&Object)) {
    Edges.push_back(numberOf(Load->getPointerOperand()));
    return NVPTX_RA_VALUE_LOAD;
  }
  if (!isa<CallBase, ExtractValueInst>(Object))
    return NVPTX_RA_VALUE_OTHER;
  addOperands(cast<User>(Object));
  return NVPTX_RA_VALUE_MADE;
}

uint32_t ValueGraph::describeValue(const Value &V) {
  if (V.getType()->isPointerTy()) {
    SmallVector<const Value *, 4> Objects;
    getUnderlyingObjects(&V, Objects);
    for (const Value *Object : Objects)
      Edges.push_back(numberOf(Object, /*IsObject=*/true));
    return NVPTX_RA_VALUE_POINTER;
  }
  if (!isa<ExtractValueInst, InsertValueInst, CallBase>(V))
    return NVPTX_RA_VALUE_OTHER;
  addOperands(cast<User>(V));
  return NVPTX_RA_VALUE_NUMBER;
}

ValueGraph::ValueGraph(const Function &F, ArrayRef<CallBase *> Calls)
    : NumParameters(F.arg_size()) {
  for (const Argument &Parameter : F.args())
    numberOf(&Parameter, /*IsObject=*/true);
  for (const Instruction &I : instructions(F))
    if (const auto *Store = dyn_cast<StoreInst>(&I))
      Stores.push_back({numberOf(Store->getValueOperand()),
                        numberOf(Store->getPointerOperand()), /*copies=*/0});
    else if (const auto *Copy = dyn_cast<MemTransferInst>(&I))
      Stores.push_back({numberOf(Copy->getRawSource()),
                        numberOf(Copy->getRawDest()), /*copies=*/1});
  for (const CallBase *Call : Calls) {
    for (unsigned I = 0; I != Call->arg_size(); ++I)
      Arguments.push_back({numberOf(Call->getArgOperand(I)),
                           uint32_t(Call->isByValArgument(I))});
    ArgumentEnds.push_back(Arguments.size());
  }
  // The loop body appends to the list.
  for (size_t I = 0; I != Nodes.size(); ++I) {
    Node Described = Nodes[I];
    const Value &V = *Described.getPointer();
    uint32_t Kind = Described.getInt() ? describeObject(V) : describeValue(V);
    Values.push_back({Kind, uint32_t(Edges.size())});
  }
}

nvptx_ra_ir_body ValueGraph::view() const {
  return {Values.data(),       Values.size(),       Edges.data(),
          Edges.size(),        Stores.data(),       Stores.size(),
          Arguments.data(),    Arguments.size(),    ArgumentEnds.data(),
          ArgumentEnds.size(), NumParameters};
}

} // namespace nvptx_ra
