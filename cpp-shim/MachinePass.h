//===- MachinePass.h - The passes on machine code ---------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One implementation for both pass managers: a pass flattens the function,
/// runs the core on the view, and applies the edits that come back.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_MACHINEPASS_H
#define NVPTX_RA_MACHINEPASS_H

#include "nvptx_ra.h"
#include "llvm/CodeGen/MachineFunctionAnalysisManager.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/PassManager.h"
#include <memory>
#include <optional>
#include <string>

namespace llvm {
class MachineBlockFrequencyInfo;
class MachineLoopInfo;
} // namespace llvm

namespace nvptx_ra {

/// A pass of the core.
struct PassDesc {
  /// Its name in the core, in pipeline strings and in remarks.
  llvm::StringLiteral Name;
  /// Its name for -run-pass.
  llvm::StringLiteral LegacyName;
  /// One line for people.
  llvm::StringLiteral Title;
  /// Whether it changes functions.
  bool Edits;
  /// Whether it may split edges. Other passes promise to keep the control flow
  /// graph, so that LLVM keeps what it has computed of it.
  bool SplitsEdges = false;
};

inline constexpr PassDesc CopyCoalescer{"nvptx-copy-coalescer",
                                        "nvptx-copy-coalescer",
                                        "NVPTX copy coalescer", true};
inline constexpr PassDesc Cssa{"nvptx-cssa", "nvptx-cssa",
                               "NVPTX conventional SSA", true};
inline constexpr PassDesc Remat{"nvptx-remat", "nvptx-remat",
                                "NVPTX rematerialisation", true};
inline constexpr PassDesc Schedule{"nvptx-schedule", "nvptx-schedule",
                                   "NVPTX instruction order", true};
inline constexpr PassDesc Rename{"nvptx-rename", "nvptx-rename",
                                 "NVPTX register renaming", true};
inline constexpr PassDesc EditApplier{"nvptx-apply-edits", "nvptx-apply-edits",
                                      "NVPTX edits given as text", true, true};
inline constexpr PassDesc ViewPrinter{
    "print<nvptx-ra-view>", "print-nvptx-ra-view",
    "NVPTX register allocation view printer", false};
/// The printer under its own name, for a -run-pass whose shell lets it through.
inline constexpr PassDesc ViewPrinterAlias{ViewPrinter.Name, ViewPrinter.Name,
                                           ViewPrinter.Title, false};

/// What the passes read of LLVM's analyses. Null at -O0, where computing them
/// would cost more than they bring, and for a function without blocks.
struct RequiredAnalyses {
  llvm::MachineBlockFrequencyInfo *MBFI = nullptr;
  llvm::MachineLoopInfo *MLI = nullptr;

  RequiredAnalyses() = default;
  explicit RequiredAnalyses(llvm::Pass &P);
  RequiredAnalyses(llvm::MachineFunction &MF,
                   llvm::MachineFunctionAnalysisManager &MFAM);
};

/// Runs a pass of the core on a function. Returns whether the function changed.
/// On any error it stays as it was, and a diagnostic says so.
bool runPass(llvm::MachineFunction &MF, const RequiredAnalyses &Analyses,
             const PassDesc &Desc, llvm::StringRef Parameters);

struct FreeResponse {
  void operator()(const nvptx_ra_response *Response) const {
    nvptx_ra_response_free(Response);
  }
};
using ResponsePtr = std::unique_ptr<const nvptx_ra_response, FreeResponse>;

/// What a pass that edits nothing says of a function.
struct Observation {
  ResponsePtr Response;
  /// Where the response's place is, in the function's own file.
  llvm::DebugLoc Place;
};

/// Runs a pass that edits nothing, with further NVPTX_RA_REQUEST_* flags. An
/// error is reported, and the response has it.
Observation observe(llvm::MachineFunction &MF, const RequiredAnalyses &Analyses,
                    const PassDesc &Desc, llvm::StringRef Parameters,
                    uint32_t Flags);

/// Whether the coalescer, on this thread, is to leave what the forecast would
/// observe to the forecast, which stands directly behind it: then a function is
/// flattened once for both.
void leaveObservations(bool Wanted);

/// What the coalescer has left of a function. None where it did not run on it,
/// or changed nothing because something was wrong.
std::optional<Observation> takeObservation(const llvm::MachineFunction &MF);

/// Forgets what was said of the functions of another module. All passes of a
/// pipeline are initialised before the first of them runs.
void startModule();

/// Prints a pass as a pipeline string names it.
void printPass(llvm::raw_ostream &OS, const PassDesc &Desc,
               llvm::StringRef Parameters);

/// The pass for the legacy pass manager.
template <const PassDesc &Desc>
class LegacyPass : public llvm::MachineFunctionPass {
  /// Whether block frequencies and loops are computed for it.
  bool WithAnalyses;

public:
  static char ID;

  explicit LegacyPass(bool WithAnalyses = true)
      : MachineFunctionPass(ID), WithAnalyses(WithAnalyses) {}

  llvm::StringRef getPassName() const override { return Desc.Title; }

  void getAnalysisUsage(llvm::AnalysisUsage &AU) const override;

  bool doInitialization(llvm::Module &) override {
    startModule();
    return false;
  }

  bool runOnMachineFunction(llvm::MachineFunction &MF) override {
    return runPass(MF,
                   WithAnalyses ? RequiredAnalyses(*this) : RequiredAnalyses(),
                   Desc, /*Parameters=*/"");
  }
};

template <const PassDesc &Desc> char LegacyPass<Desc>::ID = 0;

/// The pass for the new pass manager, with the parameters of its pipeline
/// string.
template <const PassDesc &Desc>
class NewPass : public llvm::PassInfoMixin<NewPass<Desc>> {
  std::string Parameters;

public:
  explicit NewPass(llvm::StringRef Parameters) : Parameters(Parameters) {}

  /// The name that instrumentation prints.
  static llvm::StringRef name() { return Desc.Name; }

  /// The core itself decides on functions marked optnone.
  static bool isRequired() { return true; }

  llvm::PreservedAnalyses run(llvm::MachineFunction &MF,
                              llvm::MachineFunctionAnalysisManager &MFAM);

  void printPipeline(llvm::raw_ostream &OS,
                     llvm::function_ref<llvm::StringRef(llvm::StringRef)>);
};

extern template class LegacyPass<CopyCoalescer>;
extern template class LegacyPass<Cssa>;
extern template class LegacyPass<Rename>;
extern template class LegacyPass<Remat>;
extern template class LegacyPass<Schedule>;
extern template class LegacyPass<EditApplier>;
extern template class LegacyPass<ViewPrinter>;
extern template class LegacyPass<ViewPrinterAlias>;
extern template class NewPass<CopyCoalescer>;
extern template class NewPass<Cssa>;
extern template class NewPass<Rename>;
extern template class NewPass<Remat>;
extern template class NewPass<Schedule>;
extern template class NewPass<EditApplier>;
extern template class NewPass<ViewPrinter>;

} // namespace nvptx_ra

#endif // NVPTX_RA_MACHINEPASS_H
