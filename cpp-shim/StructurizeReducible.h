//===- StructurizeReducible.h - Structured control flow ---------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// LLVM's structurizecfg generates wrong code for loops with several entries.
/// LLVM's pass that makes such loops reducible, fix-irreducible, also generates
/// wrong code if one of the entries has a back edge of its own and a PHI.
/// Functions with such a loop are therefore left unchanged.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_STRUCTURIZEREDUCIBLE_H
#define NVPTX_RA_STRUCTURIZEREDUCIBLE_H

#include "llvm/IR/PassManager.h"

namespace nvptx_ra {

/// `nvptx-structurize-reducible`: LLVM's structurizecfg on functions with a
/// reducible control flow graph, after the passes that it needs.
class StructurizeReducible
    : public llvm::PassInfoMixin<StructurizeReducible> {
public:
  static llvm::StringRef name() { return "nvptx-structurize-reducible"; }

  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM);
};

} // namespace nvptx_ra

#endif // NVPTX_RA_STRUCTURIZEREDUCIBLE_H
