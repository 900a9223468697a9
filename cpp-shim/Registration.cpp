//===- Registration.cpp - What happens when the plugin is loaded ----------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The one static constructor, and everything that it and the pass builder
/// register. Nothing else in the shim may be constructed statically: the
/// constructor of a registration object would call into an LLVM whose version
/// nobody has looked at.
///
//===----------------------------------------------------------------------===//

#include "AddPasses.h"
#include "AheadChoices.h"
#include "AssemblyEffects.h"
#include "BranchingPoint.h"
#include "Compilation.h"
#include "Forecast.h"
#include "HeaderNote.h"
#include "MachinePass.h"
#include "Options.h"
#include "ProfileReplay.h"
#include "SkipPasses.h"
#include "StructurizeReducible.h"
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

/// Puts the coalescer into the pipeline.
///
/// Block frequencies are computed for it ahead of LLVM's coalescer; everything
/// up to stack slot colouring, which needs them, keeps them, so that they are
/// computed as often as without it. Behind LLVM's coalescer the anchor is the
/// machine scheduler: it is the last to need LiveIntervals, which would have to
/// be computed again if the coalescer stood ahead of it.
void insertCoalescer(TargetPassConfig &Config, const CompilationPtr &Within,
                     uint32_t Position, CodeGenOptLevel Level) {
  // At -O0 an analysis would cost more than all the other passes behind
  // instruction selection.
  bool Optimises = Level != CodeGenOptLevel::None;
  auto *Coalescer = new LegacyPass<CopyCoalescer>(Within, Optimises);
  if (!Optimises) {
    // Of the anchors this is the only one that runs.
    Config.insertPass(&TwoAddressInstructionPassID, Coalescer);
    return;
  }
  switch (Position) {
  case NVPTX_RA_POSITION_AFTER:
    Config.insertPass(&MachineSchedulerID, Coalescer);
    break;
  case NVPTX_RA_POSITION_INSTEAD:
    Config.substitutePass(&RegisterCoalescerID, Coalescer);
    break;
  default:
    Config.insertPass(&TwoAddressInstructionPassID, Coalescer);
    break;
  }
}

/// Inserts a pass behind one that has no public name but that which it is
/// registered under, as NVPTX's own have none.
void insertBehind(TargetPassConfig &Config, StringRef Anchor, Pass *Inserted) {
  if (const PassInfo *Info =
          PassRegistry::getPassRegistry()->getPassInfo(Anchor))
    Config.insertPass(Info->getTypeInfo(), Inserted);
  else
    delete Inserted;
}

/// Puts the pass that makes PHI webs conventional into the pipeline: behind the
/// last pass that changes code in SSA form. PHI elimination and the analyses
/// that it needs come next. At -O0 it does without block frequencies, which
/// would cost more than all the other passes.
void insertCssa(TargetPassConfig &Config, const CompilationPtr &Within,
                CodeGenOptLevel Level) {
  insertBehind(Config, "nvptx-proxyreg-erasure",
               new LegacyPass<Cssa>(Within, Level != CodeGenOptLevel::None));
}

/// Puts the pass that orders instructions into the pipeline: behind the
/// coalescers, whose work an order would otherwise depend on, and behind the
/// last pass that numbers instructions, which would have to be done again, but
/// ahead of all that lays out blocks and frames. It stands there for every
/// function, because a function's own attribute may ask for an order, and makes
/// no view where none is wanted. At -O0 its anchor does not run.
void insertSchedule(TargetPassConfig &Config, const CompilationPtr &Within,
                    CodeGenOptLevel Level) {
  if (Level != CodeGenOptLevel::None)
    Config.insertPass(&StackSlotColoringID,
                      new LegacyPass<Schedule>(Within, /*WithAnalyses=*/false));
}

/// Puts the pass that computes SIMD video instructions in others into the
/// pipeline, ahead of all that look at what is live: it only changes texts.
void insertSimdVideo(TargetPassConfig &Config, const CompilationPtr &Within,
                     CodeGenOptLevel Level) {
  if (Level != CodeGenOptLevel::None)
    Config.insertPass(&StackSlotColoringID, new LegacyPass<SimdVideo>(
                                                Within, /*WithAnalyses=*/false));
}

/// Puts the pass that gives shared addresses one register into the pipeline,
/// ahead of all that look at what is live: the coalescers leave each address
/// one definition.
void insertSharedAddresses(TargetPassConfig &Config,
                           const CompilationPtr &Within,
                           CodeGenOptLevel Level) {
  if (Level != CodeGenOptLevel::None)
    Config.insertPass(
        &StackSlotColoringID,
        new LegacyPass<SharedAddresses>(Within, /*WithAnalyses=*/false));
}

/// Puts rematerialisation into the pipeline, ahead of the pass that orders
/// instructions: the coalescers leave it no copies, and its clones are ordered
/// with the rest. Like that pass it stands there for every function, and how
/// often blocks run it reads off the loops.
void insertRemat(TargetPassConfig &Config, const CompilationPtr &Within,
                 CodeGenOptLevel Level) {
  if (Level != CodeGenOptLevel::None)
    Config.insertPass(&StackSlotColoringID,
                      new LegacyPass<Remat>(Within, /*WithAnalyses=*/false));
}

/// Puts the pass that keeps values in memory into the pipeline, behind the pass
/// that orders instructions: what is live depends on the order.
void insertRegalloc(TargetPassConfig &Config, const CompilationPtr &Within,
                    CodeGenOptLevel Level) {
  if (Level != CodeGenOptLevel::None)
    Config.insertPass(&StackSlotColoringID,
                      new LegacyPass<Regalloc>(Within, /*WithAnalyses=*/false));
}

/// Puts the pass that turns the last branches of loops into the pipeline: behind
/// block placement, where the two jumps come into being, and ahead of renaming,
/// which gives predicates other readers.
void insertLoopShape(TargetPassConfig &Config, const CompilationPtr &Within,
                     CodeGenOptLevel Level) {
  if (Level != CodeGenOptLevel::None)
    Config.insertPass(&XRayInstrumentationID,
                      new LegacyPass<LoopShape>(Within, /*WithAnalyses=*/false));
}

/// Puts renaming into the pipeline: behind every pass that looks at single
/// definitions, as NVPTX's peephole does, or that merges blocks where they are
/// equal, as branch folding and block placement do, for with shared names more
/// are. The anchor is the last pass ahead of those that only prepare for the
/// printer, and no option takes it out, unlike the two. At -O0 nothing behind
/// the frame's lowering does either.
void insertRename(TargetPassConfig &Config, const CompilationPtr &Within,
                  CodeGenOptLevel Level) {
  auto *Renaming = new LegacyPass<Rename>(Within, /*WithAnalyses=*/false);
  if (Level == CodeGenOptLevel::None)
    insertBehind(Config, "nvptx-prolog-epilog", Renaming);
  else
    Config.insertPass(&XRayInstrumentationID, Renaming);
}

/// Puts the forecast into the pipeline: directly behind the coalescer, where
/// the code is as it is fitted to, and ahead of renaming. It costs nothing
/// where nobody wants it, which shows only when the code generator runs. Where
/// it may limit registers, no kernel is printed before all are known.
void insertForecast(TargetPassConfig &Config, const CompilationPtr &Within,
                    const nvptx_ra_pipeline &Wanted, CodeGenOptLevel Level) {
  ForecastUse Use;
  Use.Into = Within->cloneFor();
  Use.Coalesced = Wanted.position != NVPTX_RA_POSITION_OFF;
  Use.DirectlyBehind =
      Use.Coalesced && (Level == CodeGenOptLevel::None ||
                        Wanted.position == NVPTX_RA_POSITION_AFTER);
  if (Wanted.budget && !Use.Into) {
    auto *Barrier = new ForecastBarrier();
    Use.Into = &Barrier->Into;
    Config.insertPass(&MachineSanitizerBinaryMetadataID, Barrier);
  }
  Use.Asked = Wanted.forecast || Use.Into;
  char &Anchor = Level == CodeGenOptLevel::None ? TwoAddressInstructionPassID
                                                : MachineSchedulerID;
  Config.insertPass(&Anchor, new LegacyForecast<Forecast>(Within, Use));
}

/// Puts the pass that notes the function of a loop ahead of loop strength
/// reduction: behind the pass on loops that stands there. llc registers all
/// passes, who else generates code perhaps not.
void insertLoopPlace(TargetPassConfig &Config, const CompilationPtr &Within) {
  initializeCanonicalizeFreezeInLoopsPass(*PassRegistry::getPassRegistry());
  insertBehind(Config, "canon-freeze", new LoopPlace(Within));
}

void configurePipeline(TargetMachine &TM, legacy::PassManagerBase &PM,
                       TargetPassConfig *Config) {
  if (!TM.getTargetTriple().isNVPTX() || nvptx_ra_is_off())
    return;
  auto Within = std::make_shared<Compilation>();
  CodeGenOptLevel Level = TM.getOptLevel();
  std::string Options = commandLine();
  nvptx_ra_pipeline Wanted = nvptx_ra_pipeline_of(toStr(Options));
  bool Coalesces = Wanted.position != NVPTX_RA_POSITION_OFF;
  if (Wanted.cssa)
    insertCssa(*Config, Within, Level);
  if (Coalesces)
    insertCoalescer(*Config, Within, Wanted.position, Level);
  insertForecast(*Config, Within, Wanted, Level);
  insertSimdVideo(*Config, Within, Level);
  insertSharedAddresses(*Config, Within, Level);
  insertRemat(*Config, Within, Level);
  insertSchedule(*Config, Within, Level);
  insertRegalloc(*Config, Within, Level);
  insertLoopShape(*Config, Within, Level);
  if (Wanted.rename)
    insertRename(*Config, Within, Level);
  if (Wanted.profile)
    PM.add(new ProfileReplay(TM.getTargetCPU(), TM.getTargetFeatureString()));
  PM.add(new SkipPasses(Within));
  if (Level != CodeGenOptLevel::None)
    PM.add(new AddPasses(TM));
  insertLoopPlace(*Config, Within);
  if (Within->hasBranchingPoint())
    Config->insertPass(&FinalizeISelID, new BranchingPoint(Within));
  if (Wanted.cssa || Coalesces || Wanted.rename)
    PM.add(new HeaderNote());
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
    // An attribute that only this plugin reads invalidates nothing.
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

/// Takes a pass name with its optional parameters off \p Text: false where it
/// names another pass. A pipeline parser can only say that a name is unknown,
/// so wrong parameters end the program here, with what is wrong.
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

/// Not inlined, so that the constructor holds nothing but the check.
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
  // Kept to the end of the process; LLVM keeps a pointer to it.
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
  nvptx_ra::registerAssemblyEffects(PB);
  nvptx_ra::registerStructurizeReducible(PB);
  if (!nvptx_ra_is_off())
    nvptx_ra::registerAheadChoices(PB);
}
