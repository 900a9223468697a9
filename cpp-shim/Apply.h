//===- Apply.h - Applying edits to a machine function -----------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_APPLY_H
#define NVPTX_RA_APPLY_H

#include "Flatten.h"
#include "llvm/Support/Error.h"

namespace nvptx_ra {

/// Applies all edits or none: every condition is checked before the first
/// change. \p Flat is the view that the edits were made for; its numbers are
/// stale afterwards.
///
/// Blocks, branches and PHIs stay consistent. Kill and dead flags that may be
/// stale are cleared. Debug values of registers that lose their last definition
/// become unknown. Analyses are not updated.
llvm::Error applyEdits(llvm::MachineFunction &MF, const FlatFunction &Flat,
                       const nvptx_ra_response &Response);

} // namespace nvptx_ra

#endif // NVPTX_RA_APPLY_H
