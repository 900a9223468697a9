//===- Clone.cpp - Generating code for a clone of a module ----------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See Clone.h.
///
//===----------------------------------------------------------------------===//

#include "Clone.h"

#include "Compilation.h"
#include "FunctionFacts.h"
#include "Options.h"
#include "Remarks.h"
#include "Text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include <utility>

using namespace llvm;

namespace nvptx_ra {

static Error fail(const Module &M, const Twine &Problem) {
  return createStringError("nvptx-ra: " + M.getTargetTriple().str() + ": " +
                           Problem);
}

static Expected<std::unique_ptr<TargetMachine>> machineFor(const Module &M) {
  std::string Problem;
  const Target *T = TargetRegistry::lookupTarget(M.getTargetTriple(), Problem);
  if (!T)
    return fail(M, Problem + "; use an LLVM with the NVPTX target");
  std::unique_ptr<TargetMachine> TM(T->createTargetMachine(
      M.getTargetTriple(), firstAttribute(M, "target-cpu"),
      firstAttribute(M, "target-features"), TargetOptions(), std::nullopt,
      std::nullopt, CodeGenOptLevel::Aggressive));
  if (!TM)
    return fail(M, "no code generator; use an LLVM with the NVPTX target");
  return TM;
}

CloneSource::CloneSource(Module &M) : M(M) {
  raw_svector_ostream Stream(Bitcode);
  WriteBitcodeToFile(M, Stream, /*ShouldPreserveUseListOrder=*/true);
}

/// The functions of \p M by those of its clone, which the code generator may
/// rename. Functions without a body have no machine code.
static DenseMap<const Function *, Function *> originals(const Module &Clone,
                                                        Module &M) {
  DenseMap<const Function *, Function *> Originals;
  auto Next = M.begin();
  for (const Function &F : Clone) {
    if (F.isDeclaration())
      continue;
    while (Next != M.end() && Next->isDeclaration())
      ++Next;
    if (Next == M.end())
      break;
    Originals[&F] = &*Next++;
  }
  return Originals;
}

Error ModuleClone::compile(const CloneSource &Source, TargetMachine &TM,
                           std::optional<uint32_t> Skip) {
  Module &M = Source.module();
  Expected<std::unique_ptr<Module>> Parsed =
      parseBitcodeFile(MemoryBufferRef(Source.bitcode(), M.getName()), Context);
  if (!Parsed)
    return Parsed.takeError();
  Clone = std::move(*Parsed);
  Clone->setDataLayout(TM.createDataLayout());
  DenseMap<const Function *, Function *> Originals = originals(*Clone, M);
  {
    raw_null_ostream Nowhere;
    legacy::PassManager PM;
    PurposeScope Scope({Skip, &Into, /*OfTool=*/{}});
    if (TM.addPassesToEmitFile(PM, Nowhere, nullptr,
                               CodeGenFileType::AssemblyFile))
      return fail(M, "no code generator; use an LLVM with the NVPTX target");
    PM.run(*Clone);
  }
  Into.moveTo([&](const Function *F) { return Originals.lookup(F); });
  if (Said.NumErrors)
    return fail(M, "a clone of the module does not compile, so that there is "
                   "no forecast: " +
                       Said.FirstError);
  return Error::success();
}

bool reportClone(StringRef Parameters, uint32_t Skip,
                 const CloneDiagnostics &Said) {
  std::string Options = commandLine();
  return nvptx_ra_report_clone(toStr(Parameters), toStr(Options), Skip,
                               Said.NumErrors, Said.NumWarnings,
                               toStr(Said.FirstError));
}

void forecastClone(Module &M, const PassDesc &Desc, StringRef Parameters) {
  ModuleClone Clone(Desc, Parameters);
  if (Forecaster::lintsWantedBy(M.getContext()))
    Clone.Into.withLints();
  const CloneDiagnostics &Said = Clone.said();
  auto Compile = [&]() -> Error {
    Expected<std::unique_ptr<TargetMachine>> TM = machineFor(M);
    return TM ? Clone.compile(CloneSource(M), **TM) : TM.takeError();
  };
  Error Problem = Compile();
  bool IsStrict = reportClone(Parameters, /*Skip=*/0, Said);
  // What our passes say of a function is said of its forecast.
  for (const auto &[Severity, Message] : Said.Own)
    report(M.getContext(), Message, Severity);
  if (!Problem)
    Clone.Into.finish(M);
  else if (Said.onlyOurs())
    consumeError(std::move(Problem));
  else
    report(M.getContext(), toString(std::move(Problem)),
           IsStrict ? DS_Error : DS_Warning);
}

} // namespace nvptx_ra
