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

#include "llvm/Pass.h"

namespace nvptx_ra {

/// Adds a comment to the module's inline assembly, which stands behind the
/// directives that open the PTX. The assembly printer writes it before any pass
/// runs, so this pass acts at initialisation.
class HeaderNote : public llvm::ModulePass {
public:
  static char ID;

  HeaderNote() : ModulePass(ID) {}

  llvm::StringRef getPassName() const override {
    return "NVPTX register allocation header note";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &AU) const override {
    AU.setPreservesAll();
  }

  bool doInitialization(llvm::Module &M) override;

  bool runOnModule(llvm::Module &) override { return false; }
};

} // namespace nvptx_ra

#endif // NVPTX_RA_HEADERNOTE_H
