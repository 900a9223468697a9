//===- AssemblyEffects.cpp - Effects of inline assembly -------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See AssemblyEffects.h.
///
//===----------------------------------------------------------------------===//

#include "AssemblyEffects.h"

#include "Text.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/ModRef.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"

using namespace llvm;

namespace nvptx_ra {

/// Marks a call of inline assembly as a pure computation of its result.
static void markComputing(CallInst &Call, const InlineAsm &Asm) {
  Call.setCalledOperand(InlineAsm::get(
      Asm.getFunctionType(), Asm.getAsmString(), Asm.getConstraintString(),
      /*hasSideEffects=*/false, Asm.isAlignStack(), Asm.getDialect()));
  Call.setMemoryEffects(MemoryEffects::none());
  Call.setDoesNotThrow();
  Call.addFnAttr(Attribute::WillReturn);
}

static bool markEffects(CallInst &Call) {
  auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand());
  if (!Asm || !Asm->hasSideEffects() || Asm->canThrow())
    return false;
  switch (nvptx_ra_assembly_effects(toStr(Asm->getAsmString()),
                                    toStr(Asm->getConstraintString()))) {
  case NVPTX_RA_ASSEMBLY_COMPUTES:
    Call.removeFnAttr(Attribute::Convergent);
    markComputing(Call, *Asm);
    return true;
  case NVPTX_RA_ASSEMBLY_COMPUTES_TOGETHER:
    markComputing(Call, *Asm);
    return true;
  case NVPTX_RA_ASSEMBLY_READS:
    // Machine IR cannot express assembly that reads memory and may still move.
    // The assembly keeps its side effects; only the code around it may be
    // optimised.
    Call.setMemoryEffects(MemoryEffects::readOnly());
    return true;
  default:
    return false;
  }
}

PreservedAnalyses AssemblyEffects::run(Function &F,
                                       FunctionAnalysisManager &FAM) {
  bool Changed = false;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I))
      Changed |= markEffects(*Call);
  if (!Changed)
    return PreservedAnalyses::all();
  // Loads after such assembly may equal loads before it. EarlyCSE removes these
  // loads.
  FAM.invalidate(F, PreservedAnalyses::none());
  EarlyCSEPass(/*UseMemorySSA=*/true).run(F, FAM);
  return PreservedAnalyses::none();
}

} // namespace nvptx_ra
