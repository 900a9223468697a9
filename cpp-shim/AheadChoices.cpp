//===- AheadChoices.cpp - Choices ahead of LLVM's optimisations -----------===//
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

#include "FunctionFacts.h"
#include "Options.h"
#include "Remarks.h"
#include "StackAddresses.h"
#include "Text.h"
#include "UnrollChoice.h"
#include "nvptx_ra_ir.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <map>
#include <optional>

using namespace llvm;

namespace nvptx_ra {

namespace {

using FunctionSet = SetVector<Function *, SmallVector<Function *, 0>,
                              DenseSet<Function *>>;

/// The limit on the size of functions that targets have which do not ask for
/// more; NVPTX has it elevenfold.
constexpr char LessThreshold[] = "225";

/// The attribute of a copy: the name of the function that it is a copy of.
constexpr char CopyAttribute[] = "nvptx-ra-copy-of";

/// What a kernel chooses.
struct Choice {
  uint32_t Number;

  uint32_t inlining() const { return Number & 0xff; }
  uint32_t unrolling() const { return Number >> 8; }

  bool inlinesMore() const {
    return inlining() == NVPTX_RA_INLINE_STACK ||
           inlining() == NVPTX_RA_INLINE_ALL;
  }
};

bool isDefined(const Function &F) {
  return !F.isDeclaration() && !F.isIntrinsic();
}

/// The function that a call names, if it has a body.
Function *calleeOf(const CallBase &Call) {
  Function *Callee = Call.getCalledFunction();
  return Callee && isDefined(*Callee) ? Callee : nullptr;
}

/// What is reached by calls that name what they call, the roots included.
FunctionSet reachedFrom(ArrayRef<Function *> Roots) {
  FunctionSet Reached;
  Reached.insert_range(Roots);
  // The set grows behind what is looked at.
  for (size_t I = 0; I != Reached.size(); ++I)
    for (Instruction &Inst : instructions(*Reached[I]))
      if (auto *Call = dyn_cast<CallBase>(&Inst))
        if (Function *Callee = calleeOf(*Call))
          Reached.insert(Callee);
  return Reached;
}

/// Takes out of a function what C++'s rule for types (strict aliasing) says of
/// its accesses. LLVM moves a load of one type ahead of a store of another. A
/// source that breaks the rule is right all the same as long as a call is
/// between the two, and Marlin's kernels are such sources.
void forgetTypes(Function &F) {
  for (Instruction &I : instructions(F)) {
    I.setMetadata(LLVMContext::MD_tbaa, nullptr);
    I.setMetadata(LLVMContext::MD_tbaa_struct, nullptr);
  }
}

/// Makes the choices of a module's kernels.
class Chooser {
  Module &M;
  /// Functions that may call themselves.
  DenseSet<const Function *> Recursive;
  /// What kernels choose, in the order of the numbers, and which do; the others
  /// as LLVM has it.
  std::map<uint32_t, SmallVector<Function *, 0>> Roots;
  std::map<uint32_t, FunctionSet> Reached;

  void findRecursive();
  bool mayInline(const CallBase &Call) const;
  bool isOwn(Function &F, uint32_t Number) const;
  SmallVector<CallBase *, 0> callsToMark(const FunctionSet &Members,
                                         Choice Chosen) const;
  void makeOwn(uint32_t Number, const DenseSet<Function *> &Marked);

public:
  explicit Chooser(Module &M) : M(M) {}

  /// Whether something changed.
  bool run(StringRef Options);
};

void Chooser::findRecursive() {
  CallGraph Graph(M);
  for (auto SCC = scc_begin(&Graph); !SCC.isAtEnd(); ++SCC)
    if (SCC.hasCycle())
      for (CallGraphNode *Node : *SCC)
        Recursive.insert(Node->getFunction());
}

bool Chooser::mayInline(const CallBase &Call) const {
  const Function *Callee = calleeOf(Call);
  return Callee && !Callee->hasFnAttribute(Attribute::NoInline) &&
         !Callee->hasFnAttribute(Attribute::OptimizeNone) &&
         !Callee->hasFnAttribute(Attribute::AlwaysInline) &&
         !Call.isNoInline() && !Recursive.contains(Callee) &&
         Callee->getCallingConv() != CallingConv::PTX_Kernel;
}

SmallVector<CallBase *, 0> Chooser::callsToMark(const FunctionSet &Members,
                                                Choice Chosen) const {
  SmallVector<CallBase *, 0> Calls;
  if (Chosen.inlining() == NVPTX_RA_INLINE_LLVM)
    return Calls;
  std::optional<StackAddresses> Addresses;
  if (Chosen.inlining() == NVPTX_RA_INLINE_STACK)
    Addresses.emplace(Members.getArrayRef());
  for (Function *F : Members)
    for (Instruction &I : instructions(*F))
      if (auto *Call = dyn_cast<CallBase>(&I);
          Call && mayInline(*Call) &&
          (!Addresses || Addresses->arePassedBy(*Call)))
        Calls.push_back(Call);
  return Calls;
}

/// Whether nobody but the kernels of that choice has anything of a function.
bool Chooser::isOwn(Function &F, uint32_t Number) const {
  if (!F.isDiscardableIfUnused())
    return false;
  for (const auto &[Other, Members] : Reached)
    if (Other != Number && Members.contains(&F))
      return false;
  const FunctionSet &Members = Reached.at(Number);
  return all_of(F.uses(), [&](const Use &U) {
    const auto *Call = dyn_cast<CallBase>(U.getUser());
    return Call && Call->isCallee(&U) &&
           Members.contains(const_cast<Function *>(Call->getFunction()));
  });
}

/// Copies what is to be marked and belongs to others, too, and what leads to a
/// copy.
void Chooser::makeOwn(uint32_t Number, const DenseSet<Function *> &Marked) {
  FunctionSet &Members = Reached.at(Number);
  const auto &Kernels = Roots.at(Number);
  DenseSet<Function *> Own(Kernels.begin(), Kernels.end());
  for (Function *F : Members)
    if (isOwn(*F, Number))
      Own.insert(F);
  FunctionSet Copied;
  auto needsCopy = [&](Function *F) {
    return Marked.contains(F) || any_of(instructions(*F), [&](Instruction &I) {
             auto *Call = dyn_cast<CallBase>(&I);
             Function *Callee = Call ? calleeOf(*Call) : nullptr;
             return Callee && Copied.contains(Callee);
           });
  };
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (Function *F : Members)
      if (!Own.contains(F) && !Copied.contains(F) && needsCopy(F))
        Changed |= Copied.insert(F);
  }
  if (Copied.empty())
    return;
  DenseMap<Function *, Function *> Copies;
  for (Function *F : Copied) {
    ValueToValueMapTy Map;
    Function *Copy = CloneFunction(F, Map);
    Copy->setName(F->getName() + "$" + Twine(Number));
    Copy->setLinkage(GlobalValue::InternalLinkage);
    Copy->setVisibility(GlobalValue::DefaultVisibility);
    Copy->setDSOLocal(true);
    Copy->setComdat(nullptr);
    Copy->addFnAttr(CopyAttribute, F->getName());
    // Functions are printed in the order of the module.
    Copy->removeFromParent();
    M.getFunctionList().insertAfter(F->getIterator(), Copy);
    Copies[F] = Copy;
  }
  SmallVector<Function *, 0> Callers(Own.begin(), Own.end());
  for (Function *F : Copied)
    Callers.push_back(Copies[F]);
  for (Function *F : Callers)
    for (Instruction &I : instructions(*F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (Function *Callee = calleeOf(*Call))
          if (Function *Copy = Copies.lookup(Callee))
            Call->setCalledFunction(Copy);
  FunctionSet Changed;
  for (Function *F : Members)
    Changed.insert(Copies.contains(F) ? Copies[F] : F);
  Members = std::move(Changed);
}

bool Chooser::run(StringRef Options) {
  auto chosenBy = [&](StringRef Attribute) {
    return nvptx_ra_ahead(toStr(Options), toStr(Attribute));
  };
  constexpr StringLiteral Key = "nvptx-ra";
  // Most modules choose nothing, and are not looked through.
  if (!chosenBy("") &&
      none_of(M, [&](const Function &F) { return F.hasFnAttribute(Key); }))
    return false;
  auto choose = [&](Function &F) {
    Roots[chosenBy(F.getFnAttribute(Key).getValueAsString())].push_back(&F);
  };
  SmallVector<Function *, 0> Kernels;
  for (Function &F : M)
    if (isDefined(F) && F.getCallingConv() == CallingConv::PTX_Kernel)
      Kernels.push_back(&F);
  FunctionSet OfKernels = reachedFrom(Kernels);
  for (Function &F : M)
    // What no kernel reaches chooses for itself.
    if (isDefined(F) && (F.getCallingConv() == CallingConv::PTX_Kernel ||
                         !OfKernels.contains(&F)))
      choose(F);
  if (Roots.empty() || (Roots.size() == 1 && Roots.begin()->first == 0))
    return false;
  findRecursive();
  for (const auto &[Number, Functions] : Roots)
    Reached[Number] = reachedFrom(Functions);
  for (const auto &[Number, Functions] : Roots) {
    if (!Number)
      continue;
    Choice Chosen{Number};
    FunctionSet &Members = Reached.at(Number);
    DenseSet<Function *> Marked;
    for (CallBase *Call : callsToMark(Members, Chosen))
      Marked.insert(Call->getFunction());
    bool ForgetsTypes = Chosen.inlinesMore() && !Marked.empty();
    if (ForgetsTypes || Chosen.unrolling() != NVPTX_RA_UNROLL_LLVM)
      Marked.insert(Members.begin(), Members.end());
    makeOwn(Number, Marked);
    if (ForgetsTypes)
      for (Function *F : Members)
        forgetTypes(*F);
    for (CallBase *Call : callsToMark(Members, Chosen))
      if (Chosen.inlining() == NVPTX_RA_INLINE_LESS)
        Call->addFnAttr(Attribute::get(M.getContext(),
                                       "function-inline-threshold",
                                       LessThreshold));
      else
        Call->addFnAttr(Attribute::AlwaysInline);
    if (Chosen.unrolling() != NVPTX_RA_UNROLL_LLVM)
      for (Function *F : Members)
        F->addFnAttr(UnrollAttribute, utostr(Chosen.unrolling()));
  }
  return true;
}

void replayProfile(Module &M, StringRef Options) {
  StringRef CPU = firstAttribute(M, "target-cpu");
  const nvptx_ra_response *Response = nvptx_ra_replay_profile_ahead(
      wrap(&M), toStr(Options), toStr(CPU));
  if (!Response)
    return;
  DiagnosticSeverity Severity = Response->strict ? DS_Error : DS_Warning;
  std::string Message = toRef(Response->message).str();
  nvptx_ra_response_free(Response);
  report(M.getContext(), Message, Severity);
}

} // namespace

PreservedAnalyses AheadChoices::run(Module &M, ModuleAnalysisManager &) {
  if (!M.getTargetTriple().isNVPTX())
    return PreservedAnalyses::all();
  std::string Options = commandLine();
  replayProfile(M, Options);
  if (Level == OptimizationLevel::O0 || !Chooser(M).run(Options))
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
