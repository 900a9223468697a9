//===- Codegen.cpp - In-process code generation, as llc does it -----------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nvptx_ra_codegen.h"

#include "CloneDiagnostics.h"
#include "Text.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetLoweringObjectFile.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

using namespace llvm;
using nvptx_ra::CloneDiagnostics;
using nvptx_ra::toRef;

extern "C" LLVMModuleRef nvptx_ra_parse_ir(LLVMContextRef Context,
                                           nvptx_ra_str Content,
                                           nvptx_ra_str Name, char **Message) {
  auto LayoutOfTriple = [](StringRef TheTriple,
                           StringRef) -> std::optional<std::string> {
    return Triple(TheTriple).computeDataLayout();
  };
  // The lexer needs a terminating zero, which the caller's bytes lack.
  std::string Bytes = toRef(Content).str();
  std::string Label = toRef(Name).str();
  SMDiagnostic Diagnostic;
  std::unique_ptr<Module> M =
      parseIR(MemoryBufferRef(Bytes, Label), Diagnostic, *unwrap(Context),
              ParserCallbacks(LayoutOfTriple));
  if (M)
    return wrap(M.release());
  std::string Text;
  raw_string_ostream Stream(Text);
  Diagnostic.print(/*ProgName=*/nullptr, Stream, /*ShowColors=*/false);
  *Message = strdup(Text.c_str());
  return nullptr;
}

namespace {

/// The constants and functions that the code of a function may reach. Each
/// constant is visited once.
class Reach {
  SmallPtrSet<const Constant *, 32> Seen;
  SmallVector<const Constant *, 32> Worklist;

  void add(const Value *Operand) {
    if (const auto *C = dyn_cast_or_null<Constant>(Operand);
        C && Seen.insert(C).second)
      Worklist.push_back(C);
  }

public:
  explicit Reach(const Function &Root) {
    add(&Root);
    while (!Worklist.empty()) {
      const Constant *C = Worklist.pop_back_val();
      // The initializer of a variable and the aliasee of an alias are operands,
      // too.
      for (const Value *Operand : C->operands())
        add(Operand);
      if (const auto *F = dyn_cast<Function>(C))
        for (const Instruction &I : instructions(*F))
          for (const Value *Operand : I.operands())
            add(Operand);
    }
  }

  bool contains(const GlobalValue *Global) const {
    return Seen.contains(Global);
  }
};

} // namespace

template <typename Range> static void eraseUnusedDeclarations(Range &&Globals) {
  for (auto &Global : make_early_inc_range(Globals)) {
    Global.removeDeadConstantUsers();
    if (Global.isDeclaration() && Global.use_empty())
      Global.eraseFromParent();
  }
}

/// Sorts the uses of a value's clone in the order of the original's uses.
/// Instruction selection visits uses in their order, and cloning changes the
/// order.
static void orderUsesOfClone(const Value &Of, const ValueToValueMapTy &Map) {
  auto Found = Map.find(&Of);
  if (!Of.hasNUsesOrMore(2) || Found == Map.end())
    return;
  DenseMap<std::pair<const User *, unsigned>, unsigned> Order;
  for (const Use &U : Of.uses()) {
    auto Clone = Map.find(U.getUser());
    if (Clone == Map.end())
      return;
    Order.try_emplace({cast<User>(&*Clone->second), U.getOperandNo()},
                      Order.size());
  }
  auto Place = [&](const Use &U) {
    return Order.lookup({U.getUser(), U.getOperandNo()});
  };
  Value &Clone = *Found->second;
  Clone.sortUseList(
      [&](const Use &L, const Use &R) { return Place(L) < Place(R); });
}

static void orderUsesOfClones(const Function &F, const ValueToValueMapTy &Map) {
  for (const Argument &A : F.args())
    orderUsesOfClone(A, Map);
  for (const BasicBlock &Block : F) {
    orderUsesOfClone(Block, Map);
    for (const Instruction &I : Block)
      orderUsesOfClone(I, Map);
  }
}

extern "C" LLVMModuleRef nvptx_ra_slice(LLVMModuleRef Whole,
                                        nvptx_ra_str Name) {
  const Module &M = *unwrap(Whole);
  const Function *Root = M.getFunction(toRef(Name));
  if (!Root || Root->isDeclaration())
    return nullptr;
  Reach Needed(*Root);
  ValueToValueMapTy Map;
  std::unique_ptr<Module> Slice =
      CloneModule(M, Map, [&](const GlobalValue *Global) {
        return Needed.contains(Global);
      });
  for (const Function &F : M)
    if (!F.isDeclaration() && Needed.contains(&F))
      orderUsesOfClones(F, Map);
  eraseUnusedDeclarations(Slice->functions());
  eraseUnusedDeclarations(Slice->globals());
  return wrap(Slice.release());
}

extern "C" LLVMMemoryBufferRef nvptx_ra_write_bitcode(LLVMModuleRef M) {
  SmallVector<char, 0> Bytes;
  raw_svector_ostream Stream(Bytes);
  WriteBitcodeToFile(*unwrap(M), Stream, /*ShouldPreserveUseListOrder=*/true);
  return LLVMCreateMemoryBufferWithMemoryRangeCopy(Bytes.data(), Bytes.size(),
                                                   "slice");
}

extern "C" uint32_t
nvptx_ra_parse_options(int32_t Argc, const char *const *Argv, char **Message) {
  std::string Text;
  raw_string_ostream Stream(Text);
  if (cl::ParseCommandLineOptions(Argc, Argv, /*Overview=*/"", &Stream))
    return 1;
  *Message = strdup(Text.c_str());
  return 0;
}

namespace {

/// The advice that follows the reason of a fatal error. Never destroyed: other
/// threads may still compile while the process ends.
std::string &remedyOfFatalErrors() {
  static auto *Remedy = new std::string;
  return *Remedy;
}

/// Prints the reason and ends the process: LLVM cannot continue after a fatal
/// error.
[[noreturn]] void endAfterFatalError(void *, const char *Reason, bool) {
  std::string Line =
      std::string("nvptx-ra: ") + Reason + "; " + remedyOfFatalErrors();
  nvptx_ra_say(nvptx_ra::toStr(Line));
  nvptx_ra_clean_up();
  _Exit(1);
}

} // namespace

extern "C" void nvptx_ra_end_after_fatal_errors(nvptx_ra_str Remedy) {
  remedyOfFatalErrors() = toRef(Remedy).str();
  remove_fatal_error_handler();
  install_fatal_error_handler(endAfterFatalError);
}

extern "C" uint32_t nvptx_ra_generate(LLVMModuleRef Module,
                                      LLVMTargetMachineRef Machine,
                                      char **Message) {
  auto &TM = *reinterpret_cast<TargetMachine *>(Machine);
  llvm::Module &M = *unwrap(Module);
  LLVMContext &Context = M.getContext();
  std::string Problem;
  std::unique_ptr<DiagnosticHandler> Before = Context.getDiagnosticHandler();
  const CloneDiagnostics &Said = CloneDiagnostics::install(Context);
  {
    raw_null_ostream Nowhere;
    legacy::PassManager Passes;
    // Without an assembly printer, nothing else initialises the lowering of
    // symbols.
    auto *Info = new MachineModuleInfoWrapperPass(&TM);
    TM.getObjFileLowering()->Initialize(Info->getMMI().getContext(), TM);
    if (TM.addPassesToEmitFile(Passes, Nowhere, /*DwoOut=*/nullptr,
                               CodeGenFileType::Null, /*DisableVerify=*/true,
                               Info))
      Problem = "LLVM has no code generator for this";
    else
      Passes.run(M);
  }
  if (Said.NumErrors)
    Problem = Said.FirstError;
  Context.setDiagnosticHandler(std::move(Before));
  if (Problem.empty())
    return 1;
  *Message = strdup(Problem.c_str());
  return 0;
}

extern "C" void nvptx_ra_quieten(LLVMContextRef Context) {
  CloneDiagnostics::install(*unwrap(Context));
}

extern "C" char *nvptx_ra_first_error(LLVMContextRef Context) {
  const auto &Said = *static_cast<const CloneDiagnostics *>(
      unwrap(Context)->getDiagHandlerPtr());
  return Said.NumErrors ? strdup(Said.FirstError.c_str()) : nullptr;
}

static_assert(NVPTX_RA_FP_CONTRACT_FAST == FPOpFusion::Fast);
static_assert(NVPTX_RA_FP_CONTRACT_ON == FPOpFusion::Standard);
static_assert(NVPTX_RA_FP_CONTRACT_OFF == FPOpFusion::Strict);

extern "C" void nvptx_ra_set_fp_contract(LLVMTargetMachineRef Machine,
                                         uint32_t Mode) {
  reinterpret_cast<TargetMachine *>(Machine)->Options.AllowFPOpFusion =
      static_cast<FPOpFusion::FPOpFusionMode>(Mode);
}
