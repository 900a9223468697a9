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

#include "Forecast.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <memory>
#include <utility>

using namespace llvm;

namespace nvptx_ra {

/// The pipeline is configured by a callback that gets no argument of ours.
static thread_local Forecaster *CloneFor = nullptr;

Forecaster *compilingCloneFor() { return CloneFor; }

static Error fail(const Module &M, const Twine &Problem) {
  return createStringError("nvptx-ra: " + M.getTargetTriple().str() + ": " +
                           Problem);
}

/// The first value that functions with a body have under the attribute.
static StringRef firstAttribute(const Module &M, StringRef Name) {
  for (const Function &F : M)
    if (!F.isDeclaration() && F.hasFnAttribute(Name))
      return F.getFnAttribute(Name).getValueAsString();
  return "";
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

bool generateInto(Module &Clone, TargetMachine &TM, Forecaster &Into) {
  Clone.setDataLayout(TM.createDataLayout());
  raw_null_ostream Nowhere;
  legacy::PassManager PM;
  Forecaster *Outer = std::exchange(CloneFor, &Into);
  scope_exit Restore([Outer] { CloneFor = Outer; });
  if (TM.addPassesToEmitFile(PM, Nowhere, nullptr,
                             CodeGenFileType::AssemblyFile))
    return false;
  PM.run(Clone);
  return true;
}

Error compileClone(const Module &M, Forecaster &Into) {
  Expected<std::unique_ptr<TargetMachine>> TM = machineFor(M);
  if (!TM)
    return TM.takeError();
  std::unique_ptr<Module> Clone = CloneModule(M);
  if (!generateInto(*Clone, **TM, Into))
    return fail(M, "no code generator; use an LLVM with the NVPTX target");
  Into.finish(*Clone);
  return Error::success();
}

} // namespace nvptx_ra
