//===- Compat.h - Differences between LLVM versions -------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The LLVM interfaces whose spelling changes between versions, one helper per
/// concept, in the spelling of the major version that build.rs accepts. A port
/// to another major begins here.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_COMPAT_H
#define NVPTX_RA_COMPAT_H

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

namespace nvptx_ra::compat {

/// Whether the function is in SSA form.
inline bool isSSA(const llvm::MachineFunction &MF) {
  return MF.getProperties().hasIsSSA();
}

/// Whether tied operands must already be the same register.
inline bool tiedOperandsRewritten(const llvm::MachineFunction &MF) {
  return MF.getProperties().hasTiedOpsRewritten();
}

/// Returns the register class of operand \p Index of \p Desc. Null if the
/// operand takes any class, or no register.
inline const llvm::TargetRegisterClass *
operandClass(const llvm::MachineFunction &MF, const llvm::MCInstrDesc &Desc,
             unsigned Index) {
  return MF.getSubtarget().getInstrInfo()->getRegClass(Desc, Index);
}

} // namespace nvptx_ra::compat

#endif // NVPTX_RA_COMPAT_H
