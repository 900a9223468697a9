//===- Flatten.h - A machine function as a flat view ------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_FLATTEN_H
#define NVPTX_RA_FLATTEN_H

#include "Target.h"
#include "nvptx_ra.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/CodeGen/Register.h"
#include <memory>

namespace llvm {
class MachineBasicBlock;
class MachineBlockFrequencyInfo;
class MachineFunction;
class MachineInstr;
class MachineLoopInfo;
class MachineOperand;
} // namespace llvm

namespace nvptx_ra {

/// The parts of a function that a view contains.
enum class ViewScope {
  /// The parts that NVPTX_RA_SCOPE_PHIS lists.
  Phis,
  Whole
};

/// A machine function as flat arrays.
///
/// Blocks and instructions are numbered in layout order, virtual registers by
/// LLVM's index, stack slots by frame index from the first fixed object on.
/// Owns the arrays that view() points to. The numbers and pointers stay valid
/// until the function is edited. Construction is linear in the function.
class FlatFunction {
  struct Arrays;

public:
  /// The arrays of destroyed views, kept for their memory.
  class Pool {
    friend class FlatFunction;
    llvm::SmallVector<std::unique_ptr<Arrays>, 2> Spare;

  public:
    Pool();
    ~Pool();
  };

  /// Either analysis may be null: then each block has frequency 1 and is in no
  /// loop. The pool must outlive the view.
  FlatFunction(Pool &Memory, llvm::MachineFunction &MF,
               const llvm::MachineBlockFrequencyInfo *MBFI,
               const llvm::MachineLoopInfo *MLI,
               const nvptx_ra_opcodes *Opcodes,
               ViewScope Scope = ViewScope::Whole);
  ~FlatFunction();
  FlatFunction(const FlatFunction &) = delete;
  FlatFunction &operator=(const FlatFunction &) = delete;

  /// The view. It must not be used if its member `refusal` gives a reason.
  const nvptx_ra_view &view() const { return View; }

  llvm::MachineInstr *inst(uint32_t Id) const;
  llvm::MachineBasicBlock *block(uint32_t Id) const;
  /// Returns an operand that the symbol represents.
  const llvm::MachineOperand &symbol(uint32_t Id) const;
  llvm::Register reg(uint32_t Id) const {
    return llvm::Register::index2VirtReg(Id);
  }
  /// Returns the frame index of a slot.
  int slot(uint32_t Id) const { return FirstFrameIndex + static_cast<int>(Id); }
  uint32_t numberOf(const llvm::MachineBasicBlock &MBB) const;

private:
  class Writer;
  friend class Writer;

  static std::unique_ptr<Arrays> takeArrays(Pool &Memory);

  Pool &Memory;
  std::unique_ptr<Arrays> Data;
  int FirstFrameIndex = 0;
  llvm::StringRef Refusal;
  nvptx_ra_view View{};
};

} // namespace nvptx_ra

#endif // NVPTX_RA_FLATTEN_H
