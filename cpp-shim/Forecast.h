//===- Forecast.h - What ptxas will need for a module -----------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A kernel needs what its callees need, so a forecast is a module's. But the
/// code generator has one machine function at a time in memory. So each is
/// summarised when it is coalesced, which is what the forecast is fitted to,
/// and the summaries are joined at the end of the module: what is forecast is
/// neither kept in memory nor changed.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_FORECAST_H
#define NVPTX_RA_FORECAST_H

#include "MachinePass.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/PassManager.h"
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace nvptx_ra {

#define FORECAST_PASS(Identifier, Name, Title)                                 \
  inline constexpr PassDesc Identifier{Name, Name, Title, false};
#define FORECAST_PRINTER(Identifier, Name, LegacyName, Title)                  \
  inline constexpr PassDesc Identifier{Name, LegacyName, Title, false};        \
  inline constexpr PassDesc Identifier##Alias{Name, Name, Title, false};
#include "Passes.def"

/// The forecast of one module.
class Forecaster {
  struct Summarised {
    llvm::Function *F;
    Observation Seen;
  };

  const PassDesc &Desc;
  std::string Parameters;
  std::string Target;
  std::vector<Summarised> Functions;
  bool WithLints = false;

public:
  /// \p Desc is the pass's: the one that prints prints.
  Forecaster(const PassDesc &Desc, llvm::StringRef Parameters)
      : Desc(Desc), Parameters(Parameters) {}

  /// Whether anybody reads the figures of a forecast as remarks.
  static bool figuresWantedBy(const llvm::LLVMContext &Context);

  /// Whether anybody reads what lints find as remarks.
  static bool lintsWantedBy(const llvm::LLVMContext &Context);

  /// Either of both.
  static bool wantedBy(const llvm::LLVMContext &Context) {
    return figuresWantedBy(Context) || lintsWantedBy(Context);
  }

  /// Functions that are added from now on are looked at by lints, too.
  void withLints() { WithLints = true; }
  bool hasLints() const { return WithLints; }

  /// Summarises a function for NVPTX; others are left out. \p Coalesced says
  /// that the copy coalescer has run on it.
  void add(Compilation &Within, llvm::MachineFunction &MF,
           const RequiredAnalyses &Analyses, bool Coalesced);

  /// Adds what was seen of a function.
  void add(llvm::MachineFunction &MF, Observation Seen);

  /// Has functions of another module stand for those that were added: null for
  /// what that has not.
  void moveTo(llvm::function_ref<llvm::Function *(const llvm::Function *)> To) {
    for (Summarised &Function : Functions)
      Function.F = To(Function.F);
  }

  /// Joins what was added, emits remarks and prints; where \p Limit, it also
  /// limits the registers of kernels as the options ask for it. Then starts
  /// anew. Returns whether a function's attributes changed.
  bool finish(llvm::Module &M, bool Limit = false);
};

/// How a forecast comes to be in a pipeline of the code generator.
struct ForecastUse {
  /// Somebody asked for it. Otherwise it is for those who read its remarks,
  /// and costs nothing where nobody does.
  bool Asked = true;
  /// The copy coalescer stands ahead of it.
  bool Coalesced = false;
  /// It stands directly ahead: nothing changes a function in between.
  bool DirectlyBehind = false;
  /// What it is added to; null: the pass's own.
  Forecaster *Into = nullptr;
};

/// The pass for the legacy pass manager: it summarises each function, and joins
/// the summaries when the pass manager is done with the module.
template <const PassDesc &Desc>
class LegacyForecast : public llvm::MachineFunctionPass {
  const CompilationPtr Within;
  ForecastUse Use;
  Forecaster Own{Desc, ""};

public:
  static char ID;

  explicit LegacyForecast(
      CompilationPtr Within = std::make_shared<Compilation>(),
      ForecastUse Use = {})
      : MachineFunctionPass(ID), Within(std::move(Within)), Use(Use) {}

  llvm::StringRef getPassName() const override { return Desc.Title; }

  void getAnalysisUsage(llvm::AnalysisUsage &AU) const override;

  bool doInitialization(llvm::Module &M) override;

  bool runOnMachineFunction(llvm::MachineFunction &MF) override;

  bool doFinalization(llvm::Module &M) override;

private:
  bool isWanted(const llvm::LLVMContext &Context) const {
    return !nvptx_ra_is_off() &&
           (Use.Asked || Forecaster::wantedBy(Context));
  }
};

template <const PassDesc &Desc> char LegacyForecast<Desc>::ID = 0;

/// Stands between the last pass on machine functions and the printer, which
/// writes a kernel's limits ahead of its code: with it in the pipeline, all
/// functions are made before the first is printed.
class ForecastBarrier : public llvm::ModulePass {
public:
  static char ID;
  Forecaster Into{Forecast, ""};

  ForecastBarrier() : ModulePass(ID) {}

  llvm::StringRef getPassName() const override {
    return "NVPTX register limits";
  }

  void getAnalysisUsage(llvm::AnalysisUsage &AU) const override {
    AU.setPreservesAll();
  }

  bool runOnModule(llvm::Module &M) override {
    return Into.finish(M, /*Limit=*/true);
  }
};

/// The pass for the new pass manager. A module without machine code, as opt has
/// it, is compiled for it, in a clone.
template <const PassDesc &Desc>
class NewForecast : public llvm::PassInfoMixin<NewForecast<Desc>> {
  std::string Parameters;

public:
  explicit NewForecast(llvm::StringRef Parameters) : Parameters(Parameters) {}

  static llvm::StringRef name() { return Desc.Name; }
  static bool isRequired() { return true; }

  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);

  void printPipeline(llvm::raw_ostream &OS,
                     llvm::function_ref<llvm::StringRef(llvm::StringRef)>);
};

} // namespace nvptx_ra

#endif // NVPTX_RA_FORECAST_H
