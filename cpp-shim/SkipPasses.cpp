//===- SkipPasses.cpp - LLVM passes skipped per function ------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See SkipPasses.h.
///
//===----------------------------------------------------------------------===//

#include "SkipPasses.h"

#include "Options.h"
#include "Text.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace nvptx_ra {

char SkipPasses::ID = 0;
char LoopPlace::ID = 0;

bool LoopPlace::runOnLoop(Loop *L, LPPassManager &) {
  Within->FunctionOfLoop = L->getHeader()->getParent();
  return false;
}

/// Returns the optimisations that the options of a function skip.
static uint32_t wantedBy(const Function &F, StringRef Options) {
  StringRef Attribute = F.getFnAttribute("nvptx-ra").getValueAsString();
  return nvptx_ra_skipped(toStr(Options), toStr(Attribute));
}

uint32_t SkipGate::skippedBy(const Function &F) const {
  return wantedBy(F, Options);
}

/// Finds the function of LLVM's description, which contains the function's
/// name. Null if the module has no such function.
static const Function *functionOf(StringRef Description, const Module &M,
                                  const Compilation &Within) {
  if (Description == "loop")
    return Within.FunctionOfLoop;
  if (Description.consume_front("function (") && Description.consume_back(")"))
    return M.getFunction(Description);
  return nullptr;
}

bool SkipGate::shouldRunPass(StringRef Pass, StringRef Description) const {
  if (Outer.isEnabled() && !Outer.shouldRunPass(Pass, Description))
    return false;
  uint32_t Bit = nvptx_ra_skip_bit(toStr(Pass));
  const Function *F = Bit ? functionOf(Description, M, *Within) : nullptr;
  return !F || !(skippedBy(*F) & Bit);
}

bool SkipPasses::doInitialization(Module &M) {
  std::string Options = commandLine();
  uint32_t Wanted = nvptx_ra_skipped(toStr(Options), toStr(""));
  for (const Function &F : M)
    if (!F.isDeclaration() && F.hasFnAttribute("nvptx-ra"))
      Wanted |= wantedBy(F, Options);
  if (!Wanted && !Within->hasBranchingPoint())
    return false;
  LLVMContext &Context = M.getContext();
  Gate = std::make_unique<SkipGate>(Context.getOptPassGate(), Within, M, Options);
  Context.setOptPassGate(*Gate);
  return false;
}

bool SkipPasses::doFinalization(Module &M) {
  // The function may not exist when the next module is compiled.
  Within->FunctionOfLoop = nullptr;
  if (Gate)
    M.getContext().setOptPassGate(Gate->outer());
  Gate.reset();
  return false;
}

} // namespace nvptx_ra
