//===- Target.h - NVPTX's opcodes and classes, by name ----------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// LLVM does not install NVPTX's enumerations of opcodes and register classes.
/// Both are found by name, the opcodes once per process.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_TARGET_H
#define NVPTX_RA_TARGET_H

#include "nvptx_ra.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/MC/MCInstrInfo.h"
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace llvm {
class MachineFunction;
class TargetRegisterClass;
class TargetRegisterInfo;
} // namespace llvm

namespace nvptx_ra {

/// The register classes of nvptx_ra_reg.reg_class: B1, B16, B32, B64, B128.
constexpr unsigned NumClasses = 5;
constexpr uint32_t OtherClass = 255;

/// The roles of instructions that the shim itself must recognise.
enum class OpcodeRole : uint8_t {
  Other,
  CallStart,
  CallEnd,
  BrxStart,
  /// The remaining instructions of a jump table.
  BrxItemOrEnd
};

/// A target's opcodes, for the core and for the shim.
///
/// A target has thousands of opcodes and a function uses dozens, so each is
/// identified by its name on its first use. May be used from several threads.
class OpcodeTable {
public:
  explicit OpcodeTable(const llvm::MachineFunction &MF);
  OpcodeTable(const OpcodeTable &) = delete;
  OpcodeTable &operator=(const OpcodeTable &) = delete;
  ~OpcodeTable() { nvptx_ra_opcodes_free(Core); }

  /// The core's table.
  const nvptx_ra_opcodes *core() const { return Core; }

  OpcodeRole role(unsigned Opcode) const {
    uint8_t Role = Roles[Opcode].load(std::memory_order_relaxed);
    return Role != Unknown ? static_cast<OpcodeRole>(Role) : findRole(Opcode);
  }

  /// Returns the opcode of an instruction of nvptx_ra_inserted_at; none if LLVM
  /// lacks it. The first call searches all names.
  std::optional<unsigned> inserted(int64_t Number) const;

private:
  static constexpr uint8_t Unknown = 255;

  void nameSetMaxNReg(const llvm::MachineFunction &MF);
  OpcodeRole findRole(unsigned Opcode) const;
  llvm::StringRef name(unsigned Opcode) const;
  nvptx_ra_opcode_desc describe(unsigned Opcode) const;

  /// A copy, because the target machine that owns the original may be destroyed
  /// before the table. The copy points to static data of the target.
  llvm::MCInstrInfo Info;
  std::unique_ptr<std::atomic<uint8_t>[]> Roles;
  /// LLVM's setmaxnreg records have no name; these are their printed mnemonics.
  llvm::SmallVector<std::pair<unsigned, llvm::StringRef>, 2> SetMaxNReg;
  mutable std::once_flag SearchedInserted;
  mutable std::vector<std::optional<unsigned>> Inserted;
  const nvptx_ra_opcodes *Core;
};

/// Returns the table of a function's target. It is created on the first call
/// and lives as long as the process. May be called from several threads.
const OpcodeTable &opcodeTableOf(const llvm::MachineFunction &MF);

/// Returns the register classes in the order of nvptx_ra_reg.reg_class; null
/// for a class that the target lacks.
std::array<const llvm::TargetRegisterClass *, NumClasses>
registerClassesOf(const llvm::TargetRegisterInfo &TRI);

} // namespace nvptx_ra

#endif // NVPTX_RA_TARGET_H
