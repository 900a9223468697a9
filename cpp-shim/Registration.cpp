//===- Registration.cpp - Loading and registration ------------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The only static constructor, and everything that the constructor and the
/// pass builder register. Nothing else in the shim may be constructed
/// statically: the constructor of a registration object would call LLVM before
/// its version is checked.
///
//===----------------------------------------------------------------------===//

#include "AddPasses.h"
#include "AheadChoices.h"
#include "BranchingPoint.h"
#include "Compilation.h"
#include "Forecast.h"
#include "InitialPass.h"
#include "MachinePass.h"
#include "Options.h"
#include "Remarks.h"
#include "SkipPasses.h"
#include "Text.h"
#include "nvptx_ra_host.h"
#include "nvptx_ra_ir.h"
#include "llvm-c/Core.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/InitializePasses.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"
#include <cstddef>
#include <cstdio>
#include <functional>

using namespace llvm;

namespace nvptx_ra {

namespace {

// src/ffi/plugin.rs mirrors this struct.
static_assert(LLVM_PLUGIN_API_VERSION == 2);
static_assert(sizeof(PassPluginLibraryInfo) == 5 * sizeof(void *));
static_assert(offsetof(PassPluginLibraryInfo, PluginName) == sizeof(void *));
static_assert(offsetof(PassPluginLibraryInfo, PluginVersion) ==
              2 * sizeof(void *));
static_assert(offsetof(PassPluginLibraryInfo, RegisterPassBuilderCallbacks) ==
              3 * sizeof(void *));
static_assert(offsetof(PassPluginLibraryInfo, PreCodeGenCallback) ==
              4 * sizeof(void *));

/// Whether the passes are registered with this LLVM.
bool IsRegistered = false;

//===----------------------------------------------------------------------===//
// The legacy pass manager: -run-pass, and the code generator's pipeline.
//===----------------------------------------------------------------------===//

template <typename PassT> void registerLegacyPass(const PassDesc &Desc) {
  auto *Info = new PassInfo(
      Desc.Title, Desc.LegacyName, &PassT::ID,
      [] { return static_cast<Pass *>(new PassT()); },
      /*isCFGOnly=*/false, /*is_analysis=*/!Desc.Edits);
  PassRegistry::getPassRegistry()->registerPass(*Info, /*ShouldFree=*/true);
}

/// Inserts a pass after another, or replaces the other. NVPTX's own passes have
/// no public name except their registered name.
void insert(TargetPassConfig &Config, StringRef Anchor, Pass *Inserted,
            bool Replaces = false) {
  const PassInfo *Info = PassRegistry::getPassRegistry()->getPassInfo(Anchor);
  if (!Info || !Inserted)
    delete Inserted;
  else if (Replaces)
    Config.substitutePass(Info->getTypeInfo(), Inserted);
  else
    Config.insertPass(Info->getTypeInfo(), Inserted);
}

/// Configures the forecast. If it may limit registers, a barrier delays
/// printing until all kernels are known.
ForecastUse useOfForecast(TargetPassConfig &Config,
                          const CompilationPtr &Within,
                          const nvptx_ra_pipeline &Wanted) {
  ForecastUse Use;
  Use.Into = Within->cloneFor();
  Use.Coalesced = Wanted.coalesces;
  if (Wanted.limits_registers && !Use.Into) {
    auto *Barrier = new ForecastBarrier();
    Use.Into = &Barrier->Into;
    Config.insertPass(&MachineSanitizerBinaryMetadataID, Barrier);
  }
  Use.Asked = Wanted.forecast || Use.Into;
  return Use;
}

Pass *makePass(const nvptx_ra_place &Place, const CompilationPtr &Within,
               ForecastUse Use) {
  StringRef Wanted = toRef(Place.pass);
  Use.DirectlyBehind = Place.follows;
#define MACHINE_PASS(Identifier, Name, Title, Edits, SplitsEdges)               \
  if (Wanted == Name)                                                          \
    return new LegacyPass<Identifier>(Within, Place.with_analyses,             \
                                      Place.follows);
#define FORECAST_PASS(Identifier, Name, Title)                                 \
  if (Wanted == Name)                                                          \
    return new LegacyForecast<Identifier>(Within, Use);
#include "Passes.def"
  return nullptr;
}

/// Sets the attributes from a profile on the functions of a module. The profile
/// identifies functions by hashes of the IR at the start of the code generator,
/// before any pass changes a function.
std::function<void(Module &)> replayOf(const TargetMachine &TM) {
  return [CPU = TM.getTargetCPU().str(),
          Features = TM.getTargetFeatureString().str()](Module &M) {
    std::string Options = commandLine();
    ResponsePtr Response(nvptx_ra_replay_profile(
        wrap(&M), toStr(Options), toStr(CPU), toStr(Features)));
    report(M.getContext(), Response.get());
  };
}

void configurePipeline(TargetMachine &TM, legacy::PassManagerBase &PM,
                       TargetPassConfig *Config) {
  if (!TM.getTargetTriple().isNVPTX() || nvptx_ra_is_off())
    return;
  // llc registers all passes, but other programs that generate code may not.
  initializeCodeGen(*PassRegistry::getPassRegistry());
  initializeCanonicalizeFreezeInLoopsPass(*PassRegistry::getPassRegistry());
  auto Within = std::make_shared<Compilation>();
  bool Optimises = TM.getOptLevel() != CodeGenOptLevel::None;
  std::string Options = commandLine();
  nvptx_ra_pipeline Wanted = nvptx_ra_pipeline_of(toStr(Options));
  ForecastUse Use = useOfForecast(*Config, Within, Wanted);
  for (uint64_t I = 0;; ++I) {
    nvptx_ra_place Place = nvptx_ra_place_at(toStr(Options), Optimises, I);
    if (!Place.pass.len)
      break;
    insert(*Config, toRef(Place.anchor), makePass(Place, Within, Use),
           Place.replaces);
  }
  if (Wanted.profile)
    PM.add(new InitialAction("NVPTX replay of a profile", replayOf(TM)));
  PM.add(new SkipPasses(Within));
  if (Optimises)
    PM.add(new AddPasses(TM));
  // After the loop pass before loop strength reduction, in the same manager.
  insert(*Config, "canon-freeze", new LoopPlace(Within));
  if (Within->hasBranchingPoint())
    Config->insertPass(&FinalizeISelID, new BranchingPoint(Within));
  if (Wanted.edits)
    PM.add(new InitialAction(
        "NVPTX register allocation header note",
        [](Module &M) { nvptx_ra_add_header_note(wrap(&M)); }));
}

//===----------------------------------------------------------------------===//
// The new pass manager: pipeline strings.
//===----------------------------------------------------------------------===//

/// `nvptx-ra<...>`: records choices for the machine passes.
class RecordChoices : public PassInfoMixin<RecordChoices> {
  std::string Parameters;

public:
  explicit RecordChoices(StringRef Parameters) : Parameters(Parameters) {}

  static StringRef name() { return "nvptx-ra"; }
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    // An attribute that only this plugin reads invalidates no analysis.
    nvptx_ra_record_choices(wrap(&M), toStr(Parameters));
    return PreservedAnalyses::all();
  }

  void printPipeline(raw_ostream &OS, function_ref<StringRef(StringRef)>) {
    OS << name();
    if (!Parameters.empty())
      OS << '<' << Parameters << '>';
  }
};

/// `print<nvptx-ra>`: prints the recorded choices.
class PrintChoices : public PassInfoMixin<PrintChoices> {
public:
  static StringRef name() { return "print<nvptx-ra>"; }
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    nvptx_ra_print_choices(wrap(&M));
    return PreservedAnalyses::all();
  }

  void printPipeline(raw_ostream &OS, function_ref<StringRef(StringRef)>) {
    OS << name();
  }
};

/// Removes a pass name with its optional parameters from \p Text; false if the
/// text names another pass. A pipeline parser can only report an unknown name,
/// so wrong parameters end the program here with a message.
bool consumePass(StringRef Text, StringRef Name, StringRef Origin,
                 StringRef &Parameters) {
  Parameters = "";
  if (!Text.consume_front(Name))
    return false;
  if (Text.empty())
    return true;
  if (!Text.consume_front("<") || !Text.consume_back(">"))
    return false;
  Parameters = Text;
  std::string Problem = checkOptions(Parameters, Origin);
  if (!Problem.empty())
    reportFatalUsageError(Twine(Problem));
  return true;
}

bool parseModulePass(StringRef Text, ModulePassManager &MPM) {
  StringRef Parameters;
  if (consumePass(Text, RecordChoices::name(), "function attribute",
                  Parameters)) {
    if (!nvptx_ra_is_off())
      MPM.addPass(RecordChoices(Parameters));
    return true;
  }
  if (Text == PrintChoices::name()) {
    MPM.addPass(PrintChoices());
    return true;
  }
#define FORECAST_PASS(Identifier, Name, Title)                                 \
  if (consumePass(Text, Name, "pass parameters", Parameters)) {                \
    if (!nvptx_ra_is_off())                                                    \
      MPM.addPass(NewForecast<Identifier>(Parameters));                        \
    return true;                                                               \
  }
#define FORECAST_PRINTER(Identifier, Name, LegacyName, Title)                  \
  if (Text == Name) {                                                          \
    MPM.addPass(NewForecast<Identifier>(""));                                  \
    return true;                                                               \
  }
#include "Passes.def"
  return false;
}

bool parseMachinePass(StringRef Text, MachineFunctionPassManager &MFPM,
                      const CompilationPtr &Within) {
  StringRef Parameters;
#define MACHINE_PASS(Identifier, Name, Title, Edits, SplitsEdges)               \
  if (consumePass(Text, Name, "pass parameters", Parameters)) {                \
    MFPM.addPass(NewPass<Identifier>(Within, Parameters));                     \
    return true;                                                               \
  }
#define MACHINE_PRINTER(Identifier, Name, LegacyName, Title)                   \
  if (Text == Name) {                                                          \
    MFPM.addPass(NewPass<Identifier>(Within, ""));                             \
    return true;                                                               \
  }
#include "Passes.def"
  return false;
}

//===----------------------------------------------------------------------===//
// Loading.
//===----------------------------------------------------------------------===//

/// Not inlined, so that the constructor contains only the version check.
[[gnu::noinline]] void registerEverything() {
  if (!registerOptions()) {
    errs() << "nvptx-ra: loaded twice: the second copy registers nothing\n";
    return;
  }
  nvptx_ra_start();
#define MACHINE_PASS(Identifier, Name, Title, Edits, SplitsEdges)               \
  registerLegacyPass<LegacyPass<Identifier>>(Identifier);
#define MACHINE_PRINTER(Identifier, Name, LegacyName, Title)                   \
  registerLegacyPass<LegacyPass<Identifier>>(Identifier);                      \
  registerLegacyPass<LegacyPass<Identifier##Alias>>(Identifier##Alias);
#define FORECAST_PASS(Identifier, Name, Title)                                 \
  registerLegacyPass<LegacyForecast<Identifier>>(Identifier);
#define FORECAST_PRINTER(Identifier, Name, LegacyName, Title)                  \
  registerLegacyPass<LegacyForecast<Identifier>>(Identifier);                  \
  registerLegacyPass<LegacyForecast<Identifier##Alias>>(Identifier##Alias);
#include "Passes.def"
  // Never freed, because LLVM keeps a pointer to it.
  new RegisterTargetPassConfigCallback(configurePipeline);
  IsRegistered = true;
}

[[gnu::constructor]] void load() {
  unsigned Major = 0;
  LLVMGetVersion(&Major, nullptr, nullptr);
  if (Major == LLVM_VERSION_MAJOR)
    registerEverything();
  else
    std::fprintf(stderr,
                 "nvptx-ra: built for LLVM %d, loaded into LLVM %u: nothing is "
                 "registered\n",
                 LLVM_VERSION_MAJOR, Major);
}

} // namespace
} // namespace nvptx_ra

void nvptx_ra_register_callbacks(void *pass_builder) {
  if (!nvptx_ra::IsRegistered)
    return;
  auto &PB = *static_cast<PassBuilder *>(pass_builder);
  using Elements = ArrayRef<PassBuilder::PipelineElement>;
  PB.registerPipelineParsingCallback(
      [](StringRef Text, ModulePassManager &MPM, Elements) {
        return nvptx_ra::parseModulePass(Text, MPM);
      });
  // The machine passes of a pipeline string are one compilation.
  PB.registerPipelineParsingCallback(
      [Within = std::make_shared<nvptx_ra::Compilation>()](
          StringRef Text, MachineFunctionPassManager &MFPM, Elements) {
        return nvptx_ra::parseMachinePass(Text, MFPM, Within);
      });
  nvptx_ra::registerOptimisations(PB);
  if (!nvptx_ra_is_off())
    nvptx_ra::registerAheadChoices(PB);
}
