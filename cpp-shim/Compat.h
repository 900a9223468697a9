//===- Compat.h - What differs between versions of LLVM ---------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Every question to LLVM whose spelling changes between versions, one helper
/// per concept, as the one major spells it that build.rs takes. A port to
/// another major begins here.
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

/// The register class that operand \p Index of \p Desc takes; null where it
/// takes any, or no register at all.
inline const llvm::TargetRegisterClass *
operandClass(const llvm::MachineFunction &MF, const llvm::MCInstrDesc &Desc,
             unsigned Index) {
  return MF.getSubtarget().getInstrInfo()->getRegClass(Desc, Index);
}

} // namespace nvptx_ra::compat

#endif // NVPTX_RA_COMPAT_H
