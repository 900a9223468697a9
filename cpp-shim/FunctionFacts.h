//===- FunctionFacts.h - Function facts beside instructions -----*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_FUNCTIONFACTS_H
#define NVPTX_RA_FUNCTIONFACTS_H

#include "nvptx_ra.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include <cstdint>

namespace llvm {
class DIFile;
class DILocation;
class DataLayout;
class Function;
class MachineFunction;
class MachineOperand;
class Module;
} // namespace llvm

namespace nvptx_ra {

/// Fills in the view's name, file, flags and attributes. Text that LLVM does
/// not store is created in \p Text. All text lives until the function's
/// attributes change.
void describeFunction(const llvm::MachineFunction &MF,
                      llvm::BumpPtrAllocator &Text, nvptx_ra_view &View);

/// Returns the source file of a function; null if it has no debug information.
const llvm::DIFile *fileOf(const llvm::Function &F);

/// Returns a location in a file. For code inlined from another file this is the
/// location of the call. The chain of inlined calls may be long, for example in
/// template libraries.
const llvm::DILocation *ownLocation(const llvm::DILocation *Loc,
                                    const llvm::DIFile *File);

/// Returns the size of the variable in shared memory that an operand refers to.
/// 0 if the operand refers to no such variable, or to a variable that is only
/// declared, such as dynamic shared memory.
uint64_t sharedBytesOf(const llvm::MachineOperand &MO,
                       const llvm::DataLayout &Layout);

/// Returns the first value of the attribute among functions with a body; empty
/// if none has it.
llvm::StringRef firstAttribute(const llvm::Module &M, llvm::StringRef Name);

} // namespace nvptx_ra

#endif // NVPTX_RA_FUNCTIONFACTS_H
