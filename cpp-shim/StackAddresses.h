//===- StackAddresses.h - Calls that pass addresses of the stack -*- C++ -*-==//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A stack variable stays in memory as long as a call has its address. These
/// are the calls that have one: as an argument, or in what an argument points
/// to, as a closure does that captures by reference.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_STACKADDRESSES_H
#define NVPTX_RA_STACKADDRESSES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace llvm {
class CallBase;
class Function;
class Instruction;
class Value;
} // namespace llvm

namespace nvptx_ra {

/// Which values of a set of functions may be addresses of stack variables. The
/// order of statements and the caller of a function are not told apart, so that
/// a value may be taken for such an address that is none. Addresses that go
/// through global memory are not seen.
class StackAddresses {
  /// The value is the address of a stack variable.
  static constexpr uint8_t IsAddress = 1;
  /// The object that the value points to holds such addresses.
  static constexpr uint8_t HoldsAddresses = 2;
  /// A function stores such addresses through its parameter.
  static constexpr uint8_t StoresAddresses = 4;

  llvm::DenseSet<const llvm::Function *> Members;
  /// What holds of parameters, and of objects that are no parameters.
  llvm::DenseMap<const llvm::Value *, uint8_t> Facts;
  bool Changed = false;

  void add(const llvm::Value *Object, uint8_t Fact);
  void addStore(const llvm::Value *Pointer);
  uint8_t factsOf(const llvm::Value *V, unsigned Depth = 0) const;
  uint8_t passed(const llvm::CallBase &Call, unsigned Argument) const;
  void visit(const llvm::Instruction &I);
  void visitCall(const llvm::CallBase &Call);

public:
  /// Takes time in proportion to the instructions, for each step along chains
  /// of calls.
  explicit StackAddresses(llvm::ArrayRef<llvm::Function *> Functions);

  /// Whether the called function gets an address of a stack variable.
  bool arePassedBy(const llvm::CallBase &Call) const;
};

} // namespace nvptx_ra

#endif // NVPTX_RA_STACKADDRESSES_H
