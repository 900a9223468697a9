//===- InitialPass.h - Passes that act at initialisation --------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The pass manager initialises all passes before it runs any. That includes
/// the assembly printer, which begins to print at initialisation.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_INITIALPASS_H
#define NVPTX_RA_INITIALPASS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Pass.h"
#include <functional>
#include <utility>

namespace nvptx_ra {

/// A pass that works at initialisation and does nothing when it runs.
class InitialPass : public llvm::ModulePass {
public:
  using ModulePass::ModulePass;

  void getAnalysisUsage(llvm::AnalysisUsage &AU) const override {
    AU.setPreservesAll();
  }

  bool runOnModule(llvm::Module &) override { return false; }
};

/// An initial pass that needs only the module.
class InitialAction : public InitialPass {
  const llvm::StringLiteral Title;
  const std::function<void(llvm::Module &)> Act;

public:
  static inline char ID = 0;

  InitialAction(llvm::StringLiteral Title,
                std::function<void(llvm::Module &)> Act)
      : InitialPass(ID), Title(Title), Act(std::move(Act)) {}

  llvm::StringRef getPassName() const override { return Title; }

  bool doInitialization(llvm::Module &M) override {
    Act(M);
    return true;
  }
};

} // namespace nvptx_ra

#endif // NVPTX_RA_INITIALPASS_H
