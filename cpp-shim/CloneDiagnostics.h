//===- CloneDiagnostics.h - Diagnostics of clones ---------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A module that is compiled only for a forecast must not print diagnostics,
/// because the user has not asked for it. An error in it must not end the
/// compiler, as LLVM's own handler does.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_CLONEDIAGNOSTICS_H
#define NVPTX_RA_CLONEDIAGNOSTICS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class LLVMContext;
} // namespace llvm

namespace nvptx_ra {

/// Counts diagnostics and prints none. Remarks are not created at all.
class CloneDiagnostics : public llvm::DiagnosticHandler {
public:
  uint64_t NumErrors = 0;
  uint64_t NumWarnings = 0;
  std::string FirstError;
  /// The diagnostics of this project's passes.
  std::vector<std::pair<llvm::DiagnosticSeverity, std::string>> Own;

  bool handleDiagnostics(const llvm::DiagnosticInfo &Info) override;

  bool isAnalysisRemarkEnabled(llvm::StringRef) const override { return false; }
  bool isMissedOptRemarkEnabled(llvm::StringRef) const override {
    return false;
  }
  bool isPassedOptRemarkEnabled(llvm::StringRef) const override {
    return false;
  }
  bool isAnyRemarkEnabled() const override { return false; }

  /// Whether there are errors, and all of them come from this project's passes.
  bool onlyOurs() const {
    size_t NumOurs = llvm::count_if(
        Own, [](const auto &One) { return One.first == llvm::DS_Error; });
    return NumErrors != 0 && NumErrors == NumOurs;
  }

  /// Installs a handler for all later diagnostics of a context. The context
  /// owns the handler.
  static CloneDiagnostics &install(llvm::LLVMContext &Context);
};

} // namespace nvptx_ra

#endif // NVPTX_RA_CLONEDIAGNOSTICS_H
