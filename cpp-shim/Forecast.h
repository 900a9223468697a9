//===- Forecast.h - Forecast of a module ------------------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A kernel needs the registers of its callees as well, so a forecast is
/// computed for a module. But the code generator keeps only one machine
/// function at a time in memory. Each function is summarised after coalescing,
/// because the forecast is fitted to coalesced code. At the end of the module
/// the summaries are joined. The forecast neither keeps functions in memory nor
/// changes them.
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
  /// \p Desc is the pass's description: the printing pass prints the forecast.
  Forecaster(const PassDesc &Desc, llvm::StringRef Parameters)
      : Desc(Desc), Parameters(Parameters) {}

  /// Whether the figures of a forecast are read as remarks.
  static bool figuresWantedBy(const llvm::LLVMContext &Context);

  /// Whether the findings of lints are read as remarks.
  static bool lintsWantedBy(const llvm::LLVMContext &Context);

  /// Whether figures or findings are read.
  static bool wantedBy(const llvm::LLVMContext &Context) {
    return figuresWantedBy(Context) || lintsWantedBy(Context);
  }

  /// Applies lints to all functions that are added from now on.
  void withLints() { WithLints = true; }
  bool hasLints() const { return WithLints; }

  /// Summarises a function for NVPTX; other functions are ignored.
  /// \p Coalesced: whether the copy coalescer has run on the function.
  void add(Compilation &Within, llvm::MachineFunction &MF,
           const RequiredAnalyses &Analyses, bool Coalesced);

  /// Adds the observation of a function.
  void add(llvm::MachineFunction &MF, Observation Seen);

  /// Replaces each added function by a function of another module; null if that
  /// module has no such function.
  void moveTo(llvm::function_ref<llvm::Function *(const llvm::Function *)> To) {
    for (Summarised &Function : Functions)
      Function.F = To(Function.F);
  }

  /// Joins the summaries, emits the remarks and prints the forecast. With
  /// \p Limit it also limits the registers of kernels as the options request.
  /// Then removes the added functions. Returns whether a function's attributes
  /// changed.
  bool finish(llvm::Module &M, bool Limit = false);
};

/// How the forecast is used in a pipeline of the code generator.
struct ForecastUse {
  /// Whether the forecast was requested. Otherwise it runs only if its remarks
  /// are read, and costs nothing if they are not.
  bool Asked = true;
  /// Whether the copy coalescer runs before the forecast.
  bool Coalesced = false;
  /// Whether the copy coalescer runs directly before the forecast: nothing
  /// changes a function in between.
  bool DirectlyBehind = false;
  /// The forecaster that collects the functions; null for the pass's own.
  Forecaster *Into = nullptr;
};

/// The pass for the legacy pass manager. It summarises each function, and joins
/// the summaries when the pass manager has finished the module.
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

/// Runs between the last pass on machine functions and the printer, which
/// prints a kernel's limits before its code. With this pass in the pipeline,
/// all functions are compiled before the first is printed.
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

/// The pass for the new pass manager. A module without machine code, as in opt,
/// is compiled in a clone.
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
