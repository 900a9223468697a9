//===- EditCheck.h - Validity of edits for a machine function ---*- C++ -*-===//
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
/// decide it. Changes nothing. Does not check what the edits compute. Linear in
/// the edits and in the operands of the touched registers.
llvm::Error checkEdits(llvm::MachineFunction &MF, const FlatFunction &Flat,
                       const nvptx_ra_response &Response);

/// Returns the format of the float that an opcode such as MOV_F32_i moves into
/// a register; null if it moves no float.
llvm::Type *movedFloatType(llvm::MachineFunction &MF, unsigned Opcode);

} // namespace nvptx_ra

#endif // NVPTX_RA_EDITCHECK_H
