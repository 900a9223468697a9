//===- HeaderNote.h - The plugin's mark in the PTX --------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Writes the plugin's version into the header of the PTX, so that caches of
/// compiled code can tell.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_HEADERNOTE_H
#define NVPTX_RA_HEADERNOTE_H

#include "InitialPass.h"

namespace nvptx_ra {

/// Adds a comment to the module's inline assembly, which stands behind the
/// directives that open the PTX. The assembly printer writes it before any pass
/// runs, so this pass acts at initialisation.
class HeaderNote : public InitialPass {
public:
  static char ID;

  HeaderNote() : InitialPass(ID) {}

  llvm::StringRef getPassName() const override {
    return "NVPTX register allocation header note";
  }

  bool doInitialization(llvm::Module &M) override;
};

} // namespace nvptx_ra

#endif // NVPTX_RA_HEADERNOTE_H
