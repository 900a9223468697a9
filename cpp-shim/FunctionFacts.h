//===- FunctionFacts.h - A function beyond its instructions -----*- C++ -*-===//
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
/// not have as such is put into \p Text; all of it lives until the function's
/// attributes change.
void describeFunction(const llvm::MachineFunction &MF,
                      llvm::BumpPtrAllocator &Text, nvptx_ra_view &View);

/// The file that a function is written in; null where it has no debug
/// information.
const llvm::DIFile *fileOf(const llvm::Function &F);

/// A location in a file: of what is inlined there from another file, that of
/// the call. Chains of calls are long in libraries of templates.
const llvm::DILocation *ownLocation(const llvm::DILocation *Loc,
                                    const llvm::DIFile *File);

/// The size of the variable in shared memory that an operand names; 0 where it
/// names none, or one that is only declared, as dynamic shared memory is.
uint64_t sharedBytesOf(const llvm::MachineOperand &MO,
                       const llvm::DataLayout &Layout);

/// The first value that functions with a body have under the attribute; empty
/// where none has it.
llvm::StringRef firstAttribute(const llvm::Module &M, llvm::StringRef Name);

} // namespace nvptx_ra

#endif // NVPTX_RA_FUNCTIONFACTS_H
