//===- Codegen.cpp - In-process code generation, as llc does it -----------------------------------------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "nvptx_ra_codegen.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>

using namespace llvm;

static StringRef toStringRef(nvptx_ra_str Text) {
  return Text.len ? StringRef(Text.data, Text.len) : StringRef();
}

extern "C" LLVMModuleRef nvptx_ra_parse_ir(LLVMContextRef Context, nvptx_ra_str Content, nvptx_ra_str Name,
                                           char **Message) {
  auto LayoutOfTriple = [](StringRef TheTriple, StringRef) -> std::optional<std::string> {
    return Triple(TheTriple).computeDataLayout();
  };
  // The lexer reads up to a terminating zero, which the caller's bytes have not.
  std::string Bytes = toStringRef(Content).str();
  std::string Label = toStringRef(Name).str();
  SMDiagnostic Diagnostic;
  std::unique_ptr<Module> M =
      parseIR(MemoryBufferRef(Bytes, Label), Diagnostic, *unwrap(Context), ParserCallbacks(LayoutOfTriple));
  if (M)
    return wrap(M.release());
  std::string Text;
  raw_string_ostream Stream(Text);
  Diagnostic.print(/*ProgName=*/nullptr, Stream, /*ShowColors=*/false);
  *Message = strdup(Text.c_str());
  return nullptr;
}

extern "C" uint32_t nvptx_ra_parse_options(int32_t Argc, const char *const *Argv, char **Message) {
  std::string Text;
  raw_string_ostream Stream(Text);
  if (cl::ParseCommandLineOptions(Argc, Argv, /*Overview=*/"", &Stream))
    return 1;
  *Message = strdup(Text.c_str());
  return 0;
}

extern "C" void nvptx_ra_set_fp_contract(LLVMTargetMachineRef Machine, uint32_t Mode) {
  FPOpFusion::FPOpFusionMode &Fusion = reinterpret_cast<TargetMachine *>(Machine)->Options.AllowFPOpFusion;
  switch (Mode) {
  case NVPTX_RA_FP_CONTRACT_FAST:
    Fusion = FPOpFusion::Fast;
    return;
  case NVPTX_RA_FP_CONTRACT_OFF:
    Fusion = FPOpFusion::Strict;
    return;
  default:
    Fusion = FPOpFusion::Standard;
    return;
  }
}
