//===- SkipChoice.cpp - The forecast's choice of LLVM's passes ------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See SkipChoice.h.
///
//===----------------------------------------------------------------------===//

#include "SkipChoice.h"

#include "Clone.h"
#include "Forecast.h"
#include "Options.h"
#include "Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <utility>
#include <vector>

using namespace llvm;

namespace nvptx_ra {

/// The pipeline is configured by a callback that gets no argument of ours.
static thread_local std::optional<uint32_t> SkipOfClone;

std::optional<uint32_t> skipOfClone() { return SkipOfClone; }

std::string passOptions() { return SkipOfClone ? "" : commandLine(); }

namespace {

/// One way to compile the module. The context is its own, so that nobody hears
/// the clone's warnings and remarks.
class Way {
  LLVMContext Context;
  std::unique_ptr<Module> Clone;

public:
  Forecaster Into{Forecast, /*Parameters=*/""};

  bool compile(MemoryBufferRef Bitcode, const TargetMachine &Like,
               uint32_t Skip) {
    Expected<std::unique_ptr<Module>> Parsed =
        parseBitcodeFile(Bitcode, Context);
    if (!Parsed) {
      consumeError(Parsed.takeError());
      return false;
    }
    Clone = std::move(*Parsed);
    std::unique_ptr<TargetMachine> TM(Like.getTarget().createTargetMachine(
        Like.getTargetTriple(), Like.getTargetCPU(),
        Like.getTargetFeatureString(), Like.Options, Like.getRelocationModel(),
        Like.getCodeModel(), Like.getOptLevel()));
    std::optional<uint32_t> Outer = std::exchange(SkipOfClone, Skip);
    scope_exit Restore([Outer] { SkipOfClone = Outer; });
    return TM && generateInto(*Clone, *TM, Into);
  }
};

} // namespace

StringMap<uint32_t> chooseSkips(const Module &M, const TargetMachine &TM) {
  SmallString<0> Bytes;
  raw_svector_ostream Stream(Bytes);
  WriteBitcodeToFile(M, Stream, /*ShouldPreserveUseListOrder=*/true);
  StringMap<uint32_t> Chosen;
  std::vector<std::unique_ptr<Way>> Ways;
  std::vector<const nvptx_ra_response *> Responses;
  size_t NumFunctions = 0;
  for (;;) {
    uint32_t Skip = nvptx_ra_skip_way(Ways.size());
    if (Skip == NVPTX_RA_NONE)
      break;
    Ways.push_back(std::make_unique<Way>());
    if (!Ways.back()->compile(MemoryBufferRef(Bytes, M.getName()), TM, Skip))
      return Chosen;
    std::vector<const nvptx_ra_response *> Row = Ways.back()->Into.responses();
    if (Ways.size() > 1 && Row.size() != NumFunctions)
      return Chosen;
    NumFunctions = Row.size();
    append_range(Responses, Row);
  }
  const Forecaster &First = Ways.front()->Into;
  SmallVector<uint32_t> Preferred(NumFunctions);
  nvptx_ra_prefer(toStr(First.target()), Responses.data(), Ways.size(),
                  NumFunctions, Preferred.data());
  for (auto [I, Number] : enumerate(Preferred))
    if (Number)
      Chosen[First.function(I).getName()] = nvptx_ra_skip_way(Number);
  return Chosen;
}

} // namespace nvptx_ra
