//===- AddPasses.h - LLVM passes added per function -------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs LLVM's optimisations on IR before the code generator, on functions
/// whose options name them.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_ADDPASSES_H
#define NVPTX_RA_ADDPASSES_H

#include "llvm/Pass.h"
#include <cstdint>
#include <memory>
#include <string>

namespace llvm {
class PassBuilder;
class TargetMachine;
} // namespace llvm

namespace nvptx_ra {

class Optimiser;

/// The first pass that runs: the profile has been replayed, and the code
/// generator has not changed the function yet.
class AddPasses : public llvm::FunctionPass {
  llvm::TargetMachine &TM;
  std::string Options;
  /// The optimisations of functions without options of their own. Most
  /// functions have no options of their own.
  uint32_t OfCommandLine = 0;
  std::unique_ptr<Optimiser> TheOptimiser;

public:
  static char ID;

  explicit AddPasses(llvm::TargetMachine &TM);
  ~AddPasses() override;

  llvm::StringRef getPassName() const override {
    return "NVPTX addition of LLVM's passes";
  }

  bool doInitialization(llvm::Module &M) override;

  bool runOnFunction(llvm::Function &F) override;

  bool doFinalization(llvm::Module &M) override;
};

/// Registers the names of the project's optimisations on IR with the pipeline
/// parser.
void registerOptimisations(llvm::PassBuilder &PB);

} // namespace nvptx_ra

#endif // NVPTX_RA_ADDPASSES_H
