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

/// What the shim itself must know of an instruction that it meets.
enum class OpcodeRole : uint8_t {
  Other,
  CallStart,
  CallEnd,
  BrxStart,
  /// The rest of a jump table.
  BrxItemOrEnd
};

/// A target's opcodes, for the core and for the shim.
///
/// A target has thousands of them and a function uses dozens: what one is, is
/// found out by its name when it is first met. May be used from several
/// threads.
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

  /// The opcode of an instruction of nvptx_ra_inserted_at; nothing where LLVM
  /// has none. Looks through all names on the first call.
  std::optional<unsigned> inserted(int64_t Number) const;

private:
  static constexpr uint8_t Unknown = 255;

  void nameSetMaxNReg(const llvm::MachineFunction &MF);
  OpcodeRole findRole(unsigned Opcode) const;
  llvm::StringRef name(unsigned Opcode) const;
  nvptx_ra_opcode_desc describe(unsigned Opcode) const;

  /// A copy, because the target machine that the original belongs to may go
  /// before the table does. What it points to is static data of the target.
  llvm::MCInstrInfo Info;
  std::unique_ptr<std::atomic<uint8_t>[]> Roles;
  /// LLVM's records for setmaxnreg have no name; here it is what they print.
  llvm::SmallVector<std::pair<unsigned, llvm::StringRef>, 2> SetMaxNReg;
  mutable std::once_flag SearchedInserted;
  mutable std::vector<std::optional<unsigned>> Inserted;
  const nvptx_ra_opcodes *Core;
};

/// The table of a function's target, made on the first call and kept for the
/// life of the process. May be called from several threads.
const OpcodeTable &opcodeTableOf(const llvm::MachineFunction &MF);

/// The register classes in the order of nvptx_ra_reg.reg_class; null for one
/// that the target lacks.
std::array<const llvm::TargetRegisterClass *, NumClasses>
registerClassesOf(const llvm::TargetRegisterInfo &TRI);

} // namespace nvptx_ra

#endif // NVPTX_RA_TARGET_H
