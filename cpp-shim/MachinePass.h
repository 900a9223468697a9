//===- MachinePass.h - The passes on machine code ---------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One implementation for both pass managers: a pass flattens the function,
/// runs the core on the view, and applies the edits that the core returns.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_MACHINEPASS_H
#define NVPTX_RA_MACHINEPASS_H

#include "Compilation.h"
#include "nvptx_ra.h"
#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineFunctionAnalysisManager.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachinePassManager.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>
#include <utility>

namespace nvptx_ra {

/// A pass of the core.
struct PassDesc {
  /// The name in the core, in pipeline strings and in remarks.
  llvm::StringLiteral Name;
  /// The name for -run-pass.
  llvm::StringLiteral LegacyName;
  /// A description in one line.
  llvm::StringLiteral Title;
  /// Whether the pass may change functions.
  bool Edits;
  /// Whether the pass may split edges. Other passes promise to keep the control
  /// flow graph, so that LLVM keeps its analyses of the graph.
  bool SplitsEdges = false;
};

#define MACHINE_PASS(Identifier, Name, Title, Edits, SplitsEdges)               \
  inline constexpr PassDesc Identifier{Name, Name, Title, Edits, SplitsEdges};
// The alias is the printer under the pipeline name, for -run-pass in shells
// that allow the name.
#define MACHINE_PRINTER(Identifier, Name, LegacyName, Title)                   \
  inline constexpr PassDesc Identifier{Name, LegacyName, Title, false};        \
  inline constexpr PassDesc Identifier##Alias{Name, Name, Title, false};
#include "Passes.def"

/// LLVM's analyses that the passes read. Null at -O0, where computing them
/// costs more than they bring, and for a function without blocks.
struct RequiredAnalyses {
  llvm::MachineBlockFrequencyInfo *MBFI = nullptr;
  llvm::MachineLoopInfo *MLI = nullptr;

  RequiredAnalyses() = default;
  explicit RequiredAnalyses(llvm::Pass &P);
  RequiredAnalyses(llvm::MachineFunction &MF,
                   llvm::MachineFunctionAnalysisManager &MFAM);
};

/// Runs a pass of the core on a function. Returns whether the function changed.
/// On any error the function stays unchanged, and a diagnostic is reported.
bool runPass(Compilation &Within, llvm::MachineFunction &MF,
             const RequiredAnalyses &Analyses, const PassDesc &Desc,
             llvm::StringRef Parameters);

/// Runs a pass that edits nothing, with additional NVPTX_RA_REQUEST_* flags. An
/// error is reported and is also in the response.
Observation observe(Compilation &Within, llvm::MachineFunction &MF,
                    const RequiredAnalyses &Analyses, const PassDesc &Desc,
                    llvm::StringRef Parameters, uint32_t Flags);

/// Prints a pass as it is written in a pipeline string.
void printPass(llvm::raw_ostream &OS, const PassDesc &Desc,
               llvm::StringRef Parameters);

/// The pass for the legacy pass manager.
template <const PassDesc &Desc>
class LegacyPass : public llvm::MachineFunctionPass {
  const CompilationPtr Within;
  /// Whether block frequencies and loops are computed for the pass.
  bool WithAnalyses;
  /// Whether the pass directly follows another pass of the core.
  bool Follows;

public:
  static char ID;

  explicit LegacyPass(CompilationPtr Within = std::make_shared<Compilation>(),
                      bool WithAnalyses = true, bool Follows = false)
      : MachineFunctionPass(ID), Within(std::move(Within)),
        WithAnalyses(WithAnalyses), Follows(Follows) {}

  llvm::StringRef getPassName() const override { return Desc.Title; }

  void getAnalysisUsage(llvm::AnalysisUsage &AU) const override {
    if (WithAnalyses) {
      AU.addRequired<llvm::MachineBlockFrequencyInfoWrapperPass>();
      AU.addRequired<llvm::MachineLoopInfoWrapperPass>();
    }
    if (!Desc.Edits)
      AU.setPreservesAll();
    else if (!Desc.SplitsEdges)
      AU.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(AU);
  }

  bool doInitialization(llvm::Module &) override {
    Within->startModule();
    return false;
  }

  bool runOnMachineFunction(llvm::MachineFunction &MF) override {
    if (!Follows)
      Within->Counted.reset();
    return runPass(*Within, MF,
                   WithAnalyses ? RequiredAnalyses(*this) : RequiredAnalyses(),
                   Desc, /*Parameters=*/"");
  }
};

template <const PassDesc &Desc> char LegacyPass<Desc>::ID = 0;

/// The pass for the new pass manager, with the parameters of its pipeline
/// string.
template <const PassDesc &Desc>
class NewPass : public llvm::PassInfoMixin<NewPass<Desc>> {
  CompilationPtr Within;
  std::string Parameters;

public:
  NewPass(CompilationPtr Within, llvm::StringRef Parameters)
      : Within(std::move(Within)), Parameters(Parameters) {}

  /// The name that instrumentation prints.
  static llvm::StringRef name() { return Desc.Name; }

  /// The core itself handles functions marked optnone.
  static bool isRequired() { return true; }

  llvm::PreservedAnalyses run(llvm::MachineFunction &MF,
                              llvm::MachineFunctionAnalysisManager &MFAM) {
    Within->Counted.reset();
    if (!MF.getTarget().getTargetTriple().isNVPTX() ||
        !runPass(*Within, MF, RequiredAnalyses(MF, MFAM), Desc, Parameters))
      return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses PA =
        llvm::getMachineFunctionPassPreservedAnalyses();
    if (!Desc.SplitsEdges)
      PA.preserveSet<llvm::CFGAnalyses>();
    return PA;
  }

  void printPipeline(llvm::raw_ostream &OS,
                     llvm::function_ref<llvm::StringRef(llvm::StringRef)>) {
    printPass(OS, Desc, Parameters);
  }
};

} // namespace nvptx_ra

#endif // NVPTX_RA_MACHINEPASS_H
