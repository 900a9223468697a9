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

#include "InitialPass.h"
#include <string>

namespace nvptx_ra {

/// Sets the attributes that a profile has for the functions of a module. The
/// hashes in it are of the IR as the code generator gets it, so this pass acts
/// at initialisation, before any other changes a function.
class ProfileReplay : public InitialPass {
  std::string CPU, Features;

public:
  static char ID;

  ProfileReplay(llvm::StringRef CPU, llvm::StringRef Features)
      : InitialPass(ID), CPU(CPU), Features(Features) {}

  llvm::StringRef getPassName() const override {
    return "NVPTX replay of a profile";
  }

  bool doInitialization(llvm::Module &M) override;
};

} // namespace nvptx_ra

#endif // NVPTX_RA_PROFILEREPLAY_H
