//===- Compat.h - What differs between versions of LLVM ---------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Every question to LLVM whose spelling changes between versions, one helper
/// per concept. No other file of the shim looks at the version.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_COMPAT_H
#define NVPTX_RA_COMPAT_H

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/Config/llvm-config.h"

namespace nvptx_ra::compat {

/// Whether the function is in SSA form.
inline bool isSSA(const llvm::MachineFunction &MF) {
#if LLVM_VERSION_MAJOR >= 21
  return MF.getProperties().hasIsSSA();
#else
  return MF.getProperties().hasProperty(
      llvm::MachineFunctionProperties::Property::IsSSA);
#endif
}

/// Whether tied operands must already be the same register.
inline bool tiedOperandsRewritten(const llvm::MachineFunction &MF) {
#if LLVM_VERSION_MAJOR >= 21
  return MF.getProperties().hasTiedOpsRewritten();
#else
  return MF.getProperties().hasProperty(
      llvm::MachineFunctionProperties::Property::TiedOpsRewritten);
#endif
}

/// The register class that operand \p Index of \p Desc takes; null where it
/// takes any, or no register at all.
inline const llvm::TargetRegisterClass *
operandClass(const llvm::MachineFunction &MF, const llvm::MCInstrDesc &Desc,
             unsigned Index) {
  const llvm::TargetSubtargetInfo &STI = MF.getSubtarget();
#if LLVM_VERSION_MAJOR >= 22
  return STI.getInstrInfo()->getRegClass(Desc, Index);
#else
  return STI.getInstrInfo()->getRegClass(Desc, Index, STI.getRegisterInfo(),
                                         MF);
#endif
}

} // namespace nvptx_ra::compat

#endif // NVPTX_RA_COMPAT_H
