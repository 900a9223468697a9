//===- Target.h - NVPTX's opcodes and classes, by name ----------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// LLVM does not install NVPTX's enumerations of opcodes and register classes.
/// They are found by name, the opcodes once per process.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_TARGET_H
#define NVPTX_RA_TARGET_H

#include "nvptx_ra.h"
#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <cstdint>

namespace llvm {
class TargetInstrInfo;
class TargetRegisterClass;
class TargetRegisterInfo;
} // namespace llvm

namespace nvptx_ra {

/// The register classes of nvptx_ra_reg.reg_class: B1, B16, B32, B64, B128.
constexpr unsigned NumClasses = 5;
constexpr uint32_t OtherClass = 255;

/// The opcodes that the shim itself builds or looks for.
struct OpcodeNumbers {
  /// Stands for an opcode that this LLVM does not have.
  static constexpr unsigned None = ~0U;

  unsigned CallStart = None, CallEnd = None;
  unsigned BrxStart = None, BrxItem = None, BrxEnd = None;
  /// By pointer width: 32 bits, 64 bits.
  std::array<unsigned, 2> FrameAddress{None, None}, ToLocal{None, None};
  /// By register class.
  std::array<unsigned, NumClasses> Load{None, None, None, None, None},
      Store{None, None, None, None, None};
};

/// What crosses once per target: the opcode table of the core and the numbers
/// of the shim.
struct OpcodeTable {
  const nvptx_ra_opcodes *Opcodes;
  OpcodeNumbers Numbers;
};

/// The table of a target, made on the first call and kept for the life of the
/// process. May be called from several threads.
const OpcodeTable &opcodeTableOf(const llvm::TargetInstrInfo &TII);

/// The core's part of it.
const nvptx_ra_opcodes *opcodesOf(const llvm::TargetInstrInfo &TII);

/// The register classes in the order of nvptx_ra_reg.reg_class; null for one
/// that the target lacks.
std::array<const llvm::TargetRegisterClass *, NumClasses>
registerClassesOf(const llvm::TargetRegisterInfo &TRI);

} // namespace nvptx_ra

#endif // NVPTX_RA_TARGET_H
