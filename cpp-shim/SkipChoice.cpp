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
#include "Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <vector>

using namespace llvm;

namespace nvptx_ra {

/// A machine of its own for each clone.
static std::unique_ptr<TargetMachine> machineLike(const TargetMachine &TM) {
  return std::unique_ptr<TargetMachine>(TM.getTarget().createTargetMachine(
      TM.getTargetTriple(), TM.getTargetCPU(), TM.getTargetFeatureString(),
      TM.Options, TM.getRelocationModel(), TM.getCodeModel(),
      TM.getOptLevel()));
}

DenseMap<const Function *, uint32_t> chooseSkips(Module &M,
                                                const TargetMachine &TM) {
  CloneSource Source(M);
  DenseMap<const Function *, uint32_t> Chosen;
  std::vector<std::unique_ptr<ModuleClone>> Clones;
  // What each of the clones goes without.
  std::vector<uint32_t> Ways;
  std::vector<const nvptx_ra_response *> Responses;
  size_t NumFunctions = 0;
  for (uint32_t Number = 0;; ++Number) {
    uint32_t Skip = nvptx_ra_skip_way(Number);
    if (Skip == NVPTX_RA_NONE)
      break;
    auto Clone = std::make_unique<ModuleClone>(Forecast, /*Parameters=*/"");
    std::unique_ptr<TargetMachine> Own = machineLike(TM);
    if (!Own)
      return Chosen;
    Error Problem = Clone->compile(Source, *Own, Skip);
    reportClone(/*Parameters=*/"", Skip, Clone->said());
    if (Problem) {
      // Nobody asked for the clone, so nobody hears that it does not compile.
      consumeError(std::move(Problem));
      // All ways are compared with the first.
      if (Ways.empty())
        return Chosen;
      continue;
    }
    std::vector<const nvptx_ra_response *> Row = Clone->Into.responses();
    if (!Ways.empty() && Row.size() != NumFunctions)
      return Chosen;
    NumFunctions = Row.size();
    append_range(Responses, Row);
    Ways.push_back(Skip);
    Clones.push_back(std::move(Clone));
  }
  const Forecaster &First = Clones.front()->Into;
  SmallVector<uint32_t> Preferred(NumFunctions);
  nvptx_ra_prefer(toStr(First.target()), Responses.data(), Ways.size(),
                  NumFunctions, Preferred.data());
  for (auto [I, Number] : enumerate(Preferred))
    if (Number && First.function(I))
      Chosen[First.function(I)] = Ways[Number];
  return Chosen;
}

} // namespace nvptx_ra
