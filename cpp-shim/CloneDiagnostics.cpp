//===- CloneDiagnostics.cpp - Diagnostics of clones -----------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See CloneDiagnostics.h.
///
//===----------------------------------------------------------------------===//

#include "CloneDiagnostics.h"

#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <utility>

using namespace llvm;

namespace nvptx_ra {

bool CloneDiagnostics::handleDiagnostics(const DiagnosticInfo &Info) {
  if (Info.getSeverity() != DS_Error && Info.getSeverity() != DS_Warning)
    return true;
  std::string Text;
  raw_string_ostream Stream(Text);
  DiagnosticPrinterRawOStream Printer(Stream);
  Info.print(Printer);
  if (Info.getSeverity() == DS_Warning)
    ++NumWarnings;
  else if (NumErrors++ == 0)
    FirstError = Text;
  if (Info.getKind() == DK_Generic && StringRef(Text).starts_with("nvptx-ra: "))
    Own.emplace_back(Info.getSeverity(), std::move(Text));
  return true;
}

CloneDiagnostics &CloneDiagnostics::install(LLVMContext &Context) {
  auto Handler = std::make_unique<CloneDiagnostics>();
  CloneDiagnostics &Installed = *Handler;
  Context.setDiagnosticHandler(std::move(Handler));
  return Installed;
}

} // namespace nvptx_ra
