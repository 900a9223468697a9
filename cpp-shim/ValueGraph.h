//===- ValueGraph.h - The values of a function, as arrays -------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The values that a function stores and passes to calls, and the values from
/// which they are computed. The core finds the calls that get addresses of
/// stack variables.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_VALUEGRAPH_H
#define NVPTX_RA_VALUEGRAPH_H

#include "nvptx_ra_optimise.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PointerIntPair.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class CallBase;
class Function;
class User;
class Value;
} // namespace llvm

namespace nvptx_ra {

class ValueGraph {
  /// A value, or, if the bit is set, an object that pointers point to.
  using Node = llvm::PointerIntPair<const llvm::Value *, 1, bool>;

  llvm::DenseMap<Node, uint32_t> Numbers;
  llvm::SmallVector<Node, 0> Nodes;
  llvm::SmallVector<nvptx_ra_ir_value, 0> Values;
  llvm::SmallVector<uint32_t, 0> Edges;
  llvm::SmallVector<nvptx_ra_ir_store, 0> Stores;
  llvm::SmallVector<nvptx_ra_ir_argument, 0> Arguments;
  llvm::SmallVector<uint32_t, 0> ArgumentEnds;
  uint64_t NumParameters = 0;

  uint32_t numberOf(const llvm::Value *V, bool IsObject = false);
  void addOperands(const llvm::User &Of);
  uint32_t describeObject(const llvm::Value &Object);
  uint32_t describeValue(const llvm::Value &V);

public:
  /// \p Calls are the calls whose arguments are described. Linear in the
  /// instructions.
  ValueGraph(const llvm::Function &F, llvm::ArrayRef<llvm::CallBase *> Calls);

  /// Returns a view that lives as long as the graph.
  nvptx_ra_ir_body view() const;
};

} // namespace nvptx_ra

#endif // NVPTX_RA_VALUEGRAPH_H
