//===- ProfileReplay.h - Choices of an earlier search -----------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Replays a profile: gives each function the attributes that `nvptx-ra tune`
/// found best for it.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_PROFILEREPLAY_H
#define NVPTX_RA_PROFILEREPLAY_H

#include "llvm/Pass.h"
#include <string>

namespace nvptx_ra {

/// Sets the attributes that a profile has for the functions of a module. The
/// hashes in it are of the IR as the code generator gets it, so this pass acts
/// at initialisation, before any other changes a function.
class ProfileReplay : public llvm::ModulePass {
  std::string CPU, Features;

public:
  static char ID;

  ProfileReplay(llvm::StringRef CPU, llvm::StringRef Features)
      : ModulePass(ID), CPU(CPU), Features(Features) {}

  llvm::StringRef getPassName() const override {
    return "NVPTX replay of a profile";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &AU) const override {
    AU.setPreservesAll();
  }

  bool doInitialization(llvm::Module &M) override;

  bool runOnModule(llvm::Module &) override { return false; }
};

} // namespace nvptx_ra

#endif // NVPTX_RA_PROFILEREPLAY_H
