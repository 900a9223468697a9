//===- AheadChoices.cpp - Choices before LLVM's optimisations -------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See AheadChoices.h.
///
//===----------------------------------------------------------------------===//

#include "AheadChoices.h"

#include "Compilation.h"
#include "Options.h"
#include "Remarks.h"
#include "Text.h"
#include "UnrollChoice.h"
#include "ValueGraph.h"
#include "nvptx_ra_ir.h"
#include "nvptx_ra_optimise.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <optional>

using namespace llvm;

namespace nvptx_ra {

namespace {

/// The attribute of functions with choices.
constexpr StringLiteral Key = "nvptx-ra";

/// The attribute of a copy: the name of the original function.
constexpr char CopyAttribute[] = "nvptx-ra-copy-of";

/// The functions with a body and the calls between them, numbered as in the
/// core, with the marks that the core sets on them.
class FlatModule {
  struct FreeMarks {
    nvptx_ra_ir_marks Marks;
    ~FreeMarks() { nvptx_ra_ir_marks_free(Marks); }
  };

  SmallVector<Function *, 0> Functions;
  DenseMap<const Function *, uint32_t> Numbers;
  SmallVector<CallBase *, 0> Calls;
  /// For each function, the end of its range in Calls.
  SmallVector<uint32_t, 0> CallEnds;
  /// The body that was described to the core last.
  std::optional<ValueGraph> Described;

  Function *definedCallee(const CallBase &Call) const;
  void add(Function *F);
  nvptx_ra_ir_function describe(uint32_t Number) const;
  nvptx_ra_ir_body describeBody(uint32_t Number);
  void copy(Function &F, uint32_t Number);
  void set(const nvptx_ra_ir_mark &Mark);

public:
  explicit FlatModule(Module &M);

  /// Asks the core for the choices and carries them out. Returns whether
  /// something changed.
  bool choose(StringRef Options);
};

/// Returns the callee of a call, if it is a function with a body. The type of
/// the call may differ from the function's type.
Function *FlatModule::definedCallee(const CallBase &Call) const {
  auto *Callee = dyn_cast<Function>(Call.getCalledOperand());
  return Callee && !Callee->isDeclaration() ? Callee : nullptr;
}

FlatModule::FlatModule(Module &M) {
  for (Function &F : M)
    if (!F.isDeclaration())
      add(&F);
}

void FlatModule::add(Function *F) {
  Numbers[F] = Functions.size();
  Functions.push_back(F);
  for (Instruction &I : instructions(*F))
    if (auto *Call = dyn_cast<CallBase>(&I); Call && definedCallee(*Call))
      Calls.push_back(Call);
  CallEnds.push_back(Calls.size());
}

nvptx_ra_ir_function FlatModule::describe(uint32_t Number) const {
  const Function &F = *Functions[Number];
  uint32_t Flags = 0;
  if (F.getCallingConv() == CallingConv::PTX_Kernel)
    Flags |= NVPTX_RA_FUNCTION_KERNEL;
  if (F.isDiscardableIfUnused())
    Flags |= NVPTX_RA_FUNCTION_DISCARDABLE;
  if (F.hasFnAttribute(Attribute::NoInline) ||
      F.hasFnAttribute(Attribute::OptimizeNone) ||
      F.hasFnAttribute(Attribute::AlwaysInline))
    Flags |= NVPTX_RA_FUNCTION_FIXED;
  if (any_of(F.uses(), [](const Use &U) {
        const auto *Call = dyn_cast<CallBase>(U.getUser());
        return !Call || !Call->isCallee(&U);
      }))
    Flags |= NVPTX_RA_FUNCTION_ESCAPES;
  return {toStr(F.getFnAttribute(Key).getValueAsString()), Flags,
          CallEnds[Number]};
}

nvptx_ra_ir_body FlatModule::describeBody(uint32_t Number) {
  uint32_t Begin = Number ? CallEnds[Number - 1] : 0;
  Described.emplace(*Functions[Number], ArrayRef(Calls).slice(
                                            Begin, CallEnds[Number] - Begin));
  return Described->view();
}

void FlatModule::copy(Function &F, uint32_t Number) {
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&F, Map);
  Copy->setName(F.getName() + "$" + Twine(Number));
  Copy->setLinkage(GlobalValue::InternalLinkage);
  Copy->setVisibility(GlobalValue::DefaultVisibility);
  Copy->setDSOLocal(true);
  Copy->setComdat(nullptr);
  Copy->addFnAttr(CopyAttribute, F.getName());
  // Functions are printed in the order of the module.
  Copy->removeFromParent();
  F.getParent()->getFunctionList().insertAfter(F.getIterator(), Copy);
  add(Copy);
}

void FlatModule::set(const nvptx_ra_ir_mark &Mark) {
  switch (Mark.kind) {
  case NVPTX_RA_MARK_COPY:
    return copy(*Functions[Mark.a], Mark.b);
  case NVPTX_RA_MARK_REDIRECT:
    return Calls[Mark.a]->setCalledFunction(Functions[Mark.b]);
  case NVPTX_RA_MARK_FORGET_TYPES:
    for (Instruction &I : instructions(*Functions[Mark.a])) {
      I.setMetadata(LLVMContext::MD_tbaa, nullptr);
      I.setMetadata(LLVMContext::MD_tbaa_struct, nullptr);
    }
    return;
  case NVPTX_RA_MARK_INLINE:
    return Calls[Mark.a]->addFnAttr(Attribute::AlwaysInline);
  case NVPTX_RA_MARK_LIMIT:
    return Calls[Mark.a]->addFnAttr(
        Attribute::get(Calls[Mark.a]->getContext(), "function-inline-threshold",
                       utostr(Mark.b)));
  case NVPTX_RA_MARK_UNROLL:
    return Functions[Mark.a]->addFnAttr(UnrollAttribute, utostr(Mark.b));
  }
}

bool FlatModule::choose(StringRef Options) {
  SmallVector<nvptx_ra_ir_function, 0> FlatFunctions;
  for (uint32_t I = 0; I != Functions.size(); ++I)
    FlatFunctions.push_back(describe(I));
  SmallVector<nvptx_ra_ir_call, 0> FlatCalls;
  for (const CallBase *Call : Calls)
    FlatCalls.push_back(
        {Numbers.lookup(definedCallee(*Call)),
         (Call->getCalledFunction() ? NVPTX_RA_CALL_NAMED : 0) |
             (Call->isNoInline() ? NVPTX_RA_CALL_NO_INLINE : 0)});
  auto DescribeBody = [](void *Data, uint32_t Number) {
    return static_cast<FlatModule *>(Data)->describeBody(Number);
  };
  nvptx_ra_ir_module Flat = {FlatFunctions.data(), FlatFunctions.size(),
                             FlatCalls.data(),     FlatCalls.size(),
                             toStr(Options),       DescribeBody,
                             this};
  const FreeMarks Chosen{nvptx_ra_choose_ahead(&Flat)};
  ArrayRef Marks(Chosen.Marks.marks, Chosen.Marks.num_marks);
  for (const nvptx_ra_ir_mark &Mark : Marks)
    set(Mark);
  return !Marks.empty();
}

/// Carries out the choices of a module. Most modules have no choices, and their
/// code is not examined.
bool choose(Module &M, StringRef Options) {
  if (!nvptx_ra_chooses_ahead(toStr(Options)) &&
      none_of(M, [](const Function &F) { return F.hasFnAttribute(Key); }))
    return false;
  return FlatModule(M).choose(Options);
}

} // namespace

PreservedAnalyses AheadChoices::run(Module &M, ModuleAnalysisManager &) {
  if (!M.getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  std::string Options = commandLine();
  ResponsePtr Replay(
      nvptx_ra_replay_profile_ahead(wrap(&M), toStr(Options)));
  report(M.getContext(), Replay.get());
  if (Level == OptimizationLevel::O0 || !choose(M, Options))
    return PreservedAnalyses::all();
  return PreservedAnalyses::none();
}

void registerAheadChoices(PassBuilder &PB) {
  PB.registerPipelineStartEPCallback(
      [](ModulePassManager &Passes, OptimizationLevel Level) {
        Passes.addPass(AheadChoices(Level));
      });
  registerUnrollChoice(PB);
}

} // namespace nvptx_ra
