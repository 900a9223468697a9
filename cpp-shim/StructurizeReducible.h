//===- StructurizeReducible.h - Structured control flow ---------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// LLVM's structurizecfg gives wrong code for loops with several entries. The
/// pass that LLVM has to make these reducible, fix-irreducible, gives wrong
/// code, too, where one of the entries has a back edge of its own and a PHI. So
/// functions with such a loop are left alone.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_STRUCTURIZEREDUCIBLE_H
#define NVPTX_RA_STRUCTURIZEREDUCIBLE_H

#include "llvm/IR/PassManager.h"

namespace nvptx_ra {

/// `nvptx-structurize-reducible`: LLVM's structurizecfg on functions whose
/// control flow graph is reducible, behind the passes that it needs.
class StructurizeReducible
    : public llvm::PassInfoMixin<StructurizeReducible> {
public:
  static llvm::StringRef name() { return "nvptx-structurize-reducible"; }

  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM);
};

} // namespace nvptx_ra

#endif // NVPTX_RA_STRUCTURIZEREDUCIBLE_H
