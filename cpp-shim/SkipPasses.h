//===- SkipPasses.h - LLVM passes skipped per function ----------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// LLVM calls a gate before it runs an optimisation on a function; bisection is
/// such a gate. This gate skips the optimisations that the function's options
/// name.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_SKIPPASSES_H
#define NVPTX_RA_SKIPPASSES_H

#include "Compilation.h"
#include "InitialPass.h"
#include "llvm/Analysis/LoopPass.h"
#include "llvm/IR/OptBisect.h"
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace nvptx_ra {

/// Skips the optimisations that a function's options name. Optimisations that
/// another gate skips stay skipped.
class SkipGate : public llvm::OptPassGate {
  llvm::OptPassGate &Outer;
  const CompilationPtr Within;
  const llvm::Module &M;
  const std::string Options;

  uint32_t skippedBy(const llvm::Function &F) const;

public:
  SkipGate(llvm::OptPassGate &Outer, CompilationPtr Within,
           const llvm::Module &M, llvm::StringRef Options)
      : Outer(Outer), Within(std::move(Within)), M(M), Options(Options) {}

  llvm::OptPassGate &outer() const { return Outer; }

  bool isEnabled() const override { return true; }

  bool shouldRunPass(llvm::StringRef Pass,
                     llvm::StringRef Description) const override;
};

/// LLVM's description of a loop does not name the function. This pass runs
/// before loop strength reduction in the same manager, reaches each loop
/// directly before it, and records the function.
class LoopPlace : public llvm::LoopPass {
  const CompilationPtr Within;

public:
  static char ID;

  explicit LoopPlace(CompilationPtr Within)
      : LoopPass(ID), Within(std::move(Within)) {}

  llvm::StringRef getPassName() const override { return "NVPTX loop place"; }

  void getAnalysisUsage(llvm::AnalysisUsage &AU) const override {
    AU.setPreservesAll();
  }

  bool runOnLoop(llvm::Loop *L, llvm::LPPassManager &) override;
};

/// Installs a gate in the module's context while the code generator runs, if a
/// function requests it or may request it later. Works at initialisation, after
/// the replay of a profile, which may add requests, and before all passes.
class SkipPasses : public InitialPass {
  const CompilationPtr Within;
  std::unique_ptr<SkipGate> Gate;

public:
  static char ID;

  explicit SkipPasses(CompilationPtr Within)
      : InitialPass(ID), Within(std::move(Within)) {}

  llvm::StringRef getPassName() const override {
    return "NVPTX choice of LLVM's passes";
  }

  bool doInitialization(llvm::Module &M) override;

  bool doFinalization(llvm::Module &M) override;
};

} // namespace nvptx_ra

#endif // NVPTX_RA_SKIPPASSES_H
