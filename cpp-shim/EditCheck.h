//===- EditCheck.h - Whether edits fit a machine function -------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_EDITCHECK_H
#define NVPTX_RA_EDITCHECK_H

#include "Flatten.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Type;
} // namespace llvm

namespace nvptx_ra {

/// Whether applyEdits() can apply all edits and leave a function that the
/// machine verifier accepts, as far as ids, classes, places and definitions
/// decide it. Changes nothing. What the edits compute is not judged here.
/// Linear in the edits and in the operands of the registers that they touch.
llvm::Error checkEdits(llvm::MachineFunction &MF, const FlatFunction &Flat,
                       const nvptx_ra_response &Response);

/// The format of the float that an opcode moves into a register, e.g. of
/// MOV_F32_i; null where it moves no float.
llvm::Type *movedFloatType(llvm::MachineFunction &MF, unsigned Opcode);

} // namespace nvptx_ra

#endif // NVPTX_RA_EDITCHECK_H
