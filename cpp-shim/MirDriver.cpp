//===- MirDriver.cpp - Machine code through the new pass manager ----------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// `nvptx-ra mir`: runs a pipeline string on a .mir file and prints the result.
/// llc cannot do this, because it does not pass its pass builder to plugins.
///
//===----------------------------------------------------------------------===//

#include "nvptx_ra_host.h"

#include "Options.h"
#include "Text.h"
#include "llvm/CodeGen/CommandFlags.h"
#include "llvm/CodeGen/MIRParser/MIRParser.h"
#include "llvm/CodeGen/MIRPrinter.h"
#include "llvm/CodeGen/MachineFunctionAnalysis.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/MachinePassManager.h"
#include "llvm/CodeGen/MachineVerifier.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using nvptx_ra::toStr;

// The tool is for NVPTX only; LLVM has no header for a single target.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
}

namespace {

/// The options of the driver, which exist only in its process.
struct DriverOptions {
  cl::OptionCategory Category{"nvptx-ra mir"};
  cl::opt<std::string> Input{cl::Positional, cl::desc("in.mir"), cl::init("-"),
                             cl::cat(Category)};
  cl::opt<std::string> Output{"o", cl::desc("Output file"),
                              cl::value_desc("file"), cl::init("-"),
                              cl::cat(Category)};
  cl::opt<std::string> Passes{
      "passes", cl::Required, cl::cat(Category), cl::value_desc("pipeline"),
      cl::desc("Passes on machine functions, separated by commas")};
  cl::opt<bool> DebugPM{"debug-pass-manager", cl::Hidden,
                        cl::desc("Print what the pass manager does"),
                        cl::cat(Category)};
  /// -mcpu, -mattr and similar options.
  codegen::RegisterCodeGenFlags CodeGenFlags;
};

/// Prints diagnostics; LLVM's own handler ends the process at the first error.
struct PrintDiagnostics : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    if (const auto *Remark = dyn_cast<DiagnosticInfoOptimizationBase>(&Info))
      if (!Remark->isEnabled())
        return true;
    if (Info.getSeverity() == DS_Error)
      HasErrors = true;
    std::string Text;
    raw_string_ostream Stream(Text);
    if (const auto *Source = dyn_cast<DiagnosticInfoSrcMgr>(&Info)) {
      Source->getSMDiag().print(nullptr, Stream, /*ShowColors=*/false);
    } else {
      Stream << LLVMContext::getDiagnosticMessagePrefix(Info.getSeverity())
             << ": ";
      DiagnosticPrinterRawOStream Printer(Stream);
      Info.print(Printer);
    }
    nvptx_ra_say(toStr(Text));
    return true;
  }
};

int fail(StringRef Program, const Twine &Message) {
  nvptx_ra_say(toStr((Program + ": error: " + Message).str()));
  return 1;
}

/// The managers of the new pass manager. Destroyed in reverse order: the
/// analyses before the module information that machine functions refer to.
struct PassManagers {
  MachineModuleInfo MMI;
  PassInstrumentationCallbacks PIC;
  StandardInstrumentations SI;
  PassBuilder PB;
  LoopAnalysisManager LAM;
  MachineFunctionAnalysisManager MFAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;

  PassManagers(LLVMContext &Context, TargetMachine &TM, bool DebugPM)
      : MMI(&TM), SI(Context, DebugPM),
        PB(&TM, PipelineTuningOptions(), std::nullopt, &PIC) {
    nvptx_ra_register_callbacks(&PB);
    PB.registerModuleAnalyses(MAM);
    PB.registerCGSCCAnalyses(CGAM);
    PB.registerFunctionAnalyses(FAM);
    PB.registerLoopAnalyses(LAM);
    PB.registerMachineFunctionAnalyses(MFAM);
    PB.crossRegisterProxies(LAM, FAM, CGAM, MAM, &MFAM);
    SI.registerCallbacks(PIC, &MAM);
    MAM.registerPass([this] { return MachineModuleAnalysis(MMI); });
  }
};

/// Adds the printer of machine code after the passes.
void addPrinter(ModulePassManager &MPM, raw_ostream &OS) {
  MachineFunctionPassManager MFPM;
  MFPM.addPass(PrintMIRPass(OS));
  FunctionPassManager FPM;
  FPM.addPass(createFunctionToMachineFunctionPassAdaptor(std::move(MFPM)));
  MPM.addPass(PrintMIRPreparePass(OS));
  MPM.addPass(createModuleToFunctionPassAdaptor(std::move(FPM)));
}

std::string printed(ModulePassManager &MPM, PassInstrumentationCallbacks &PIC) {
  std::string Text;
  raw_string_ostream OS(Text);
  MPM.printPipeline(OS, [&PIC](StringRef ClassName) {
    StringRef PassName = PIC.getPassNameForClassName(ClassName);
    return PassName.empty() ? ClassName : PassName;
  });
  return Text;
}

int run(StringRef Program, const DriverOptions &Options) {
  LLVMContext Context;
  auto Handler = std::make_unique<PrintDiagnostics>();
  const PrintDiagnostics &Diagnostics = *Handler;
  Context.setDiagnosticHandler(std::move(Handler));

  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer =
      MemoryBuffer::getFileOrSTDIN(Options.Input);
  if (std::error_code Problem = Buffer.getError())
    return fail(Program, Options.Input + ": Could not open input file: " +
                             Problem.message());
  if (!nvptx_ra_check_machine_code(toStr((*Buffer)->getBuffer()),
                                   toStr(Options.Input)))
    return 1;
  std::unique_ptr<MIRParser> Parser =
      createMIRParser(std::move(*Buffer), Context);
  if (!Parser)
    return fail(Program, "no machine code in " + Options.Input);

  std::unique_ptr<TargetMachine> TM;
  std::string TargetProblem;
  std::unique_ptr<Module> M = Parser->parseIRModule(
      [&](StringRef Triple, StringRef) -> std::optional<std::string> {
        Expected<std::unique_ptr<TargetMachine>> Made =
            codegen::createTargetMachineForTriple(
                Triple.empty() ? StringRef("nvptx64-nvidia-cuda") : Triple);
        if (!Made) {
          TargetProblem = toString(Made.takeError());
          return std::nullopt;
        }
        TM = std::move(*Made);
        return TM->createDataLayout().getStringRepresentation();
      });
  if (!TargetProblem.empty())
    return fail(Program, TargetProblem);
  if (!M || !TM)
    return fail(Program, "no machine code in " + Options.Input);
  if (M->getTargetTriple().empty())
    M->setTargetTriple(TM->getTargetTriple());
  codegen::setFunctionAttributes(codegen::getCPUStr(),
                                 codegen::getFeaturesStr(), *M);

  std::error_code FileProblem;
  ToolOutputFile Out(Options.Output, FileProblem, sys::fs::OF_TextWithCRLF);
  if (FileProblem)
    return fail(Program, Options.Output + ": " + FileProblem.message());

  PassManagers Managers(Context, *TM, Options.DebugPM);
  ModulePassManager MPM;
  if (Error Wrong = Managers.PB.parsePassPipeline(MPM, Options.Passes))
    return fail(Program, toString(std::move(Wrong)));
  if (PrintPipelinePasses) {
    Out.os() << printed(MPM, Managers.PIC) << '\n';
    Out.keep();
    return 0;
  }
  addPrinter(MPM, Out.os());
  if (Parser->parseMachineFunctions(*M, Managers.MAM))
    return 1;
  MPM.run(*M, Managers.MAM);
  if (Diagnostics.HasErrors)
    return 1;
  Out.keep();
  return 0;
}

} // namespace

int32_t nvptx_ra_mir_main(int32_t argc, const char *const *argv) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  DriverOptions Options;
  // -help lists only our options, because those of LLVM's other targets would
  // hide them. -help-hidden lists all.
  const cl::OptionCategory *const Ours[] = {&Options.Category,
                                            nvptx_ra::optionCategory()};
  cl::HideUnrelatedOptions(Ours);
  cl::ParseCommandLineOptions(
      argc, argv,
      "runs passes of the new pass manager on NVPTX machine code\n\n"
      "  All options of LLVM's code generator, such as -mcpu=sm_90, work, too; "
      "-help-hidden lists them.\n");
  return run(argv[0], Options);
}
