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

#include "CloneDiagnostics.h"
#include "Compilation.h"
#include "Forecast.h"
#include "FunctionFacts.h"
#include "Options.h"
#include "Remarks.h"
#include "Text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include <memory>
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

/// Maps the functions of the clone, which the code generator may rename, to the
/// functions of \p M. Functions without a body have no machine code.
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

/// Generates code for a clone of \p M in a separate context, where diagnostics
/// are counted and not printed. Observations of functions go to \p Into, as
/// functions of \p M. Fails if this LLVM has no code generator for the module,
/// or if the code generator finds an error.
static Error compileClone(Module &M, LLVMContext &Context,
                          const CloneDiagnostics &Said, Forecaster &Into) {
  Expected<std::unique_ptr<TargetMachine>> TM = machineFor(M);
  if (!TM)
    return TM.takeError();
  SmallString<0> Bitcode;
  raw_svector_ostream Stream(Bitcode);
  WriteBitcodeToFile(M, Stream, /*ShouldPreserveUseListOrder=*/true);
  Expected<std::unique_ptr<Module>> Clone =
      parseBitcodeFile(MemoryBufferRef(Bitcode, M.getName()), Context);
  if (!Clone)
    return Clone.takeError();
  (*Clone)->setDataLayout((*TM)->createDataLayout());
  DenseMap<const Function *, Function *> Originals = originals(**Clone, M);
  {
    raw_null_ostream Nowhere;
    legacy::PassManager PM;
    PurposeScope Scope({&Into, /*OfTool=*/{}});
    if ((*TM)->addPassesToEmitFile(PM, Nowhere, nullptr,
                                   CodeGenFileType::AssemblyFile))
      return fail(M, "no code generator; use an LLVM with the NVPTX target");
    PM.run(**Clone);
  }
  Into.moveTo([&](const Function *F) { return Originals.lookup(F); });
  if (Said.NumErrors)
    return fail(M, "a clone of the module does not compile, so that there is "
                   "no forecast: " +
                       Said.FirstError);
  return Error::success();
}

void forecastClone(Module &M, const PassDesc &Desc, StringRef Parameters) {
  LLVMContext Context;
  const CloneDiagnostics &Said = CloneDiagnostics::install(Context);
  Forecaster Into(Desc, Parameters);
  if (Forecaster::lintsWantedBy(M.getContext()))
    Into.withLints();
  Error Problem = compileClone(M, Context, Said, Into);
  std::string Options = commandLine();
  bool IsStrict =
      nvptx_ra_report_clone(toStr(Parameters), toStr(Options), Said.NumErrors,
                            Said.NumWarnings, toStr(Said.FirstError));
  // Diagnostics of this project's passes belong to the forecast as well.
  for (const auto &[Severity, Message] : Said.Own)
    report(M.getContext(), Message, Severity);
  if (!Problem)
    Into.finish(M);
  else if (Said.onlyOurs())
    consumeError(std::move(Problem));
  else
    report(M.getContext(), toString(std::move(Problem)),
           IsStrict ? DS_Error : DS_Warning);
}

} // namespace nvptx_ra
