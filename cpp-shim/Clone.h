//===- Clone.h - Generating code for a clone of a module --------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What becomes of a module in the code generator is found out in a clone,
/// which goes through the whole of it; what comes out is thrown away. opt,
/// which has no machine code, and the choice of optimisations need that.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_CLONE_H
#define NVPTX_RA_CLONE_H

#include "CloneDiagnostics.h"
#include "Forecast.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace nvptx_ra {

/// A module from which clones are made. It must not change meanwhile.
class CloneSource {
  llvm::Module &M;
  llvm::SmallString<0> Bitcode;

public:
  explicit CloneSource(llvm::Module &M);

  llvm::Module &module() const { return M; }
  llvm::StringRef bitcode() const { return Bitcode; }
};

/// A clone, in a context of its own: what LLVM says of it is counted, and
/// nobody hears it.
class ModuleClone {
  llvm::LLVMContext Context;
  const CloneDiagnostics &Said;
  std::unique_ptr<llvm::Module> Clone;

public:
  /// What is seen of its functions, as functions of the module that it was made
  /// from.
  Forecaster Into;

  ModuleClone(const PassDesc &Desc, llvm::StringRef Parameters)
      : Said(CloneDiagnostics::install(Context)), Into(Desc, Parameters) {}

  /// Generates code, without the optimisations of \p Skip if there is one. To be
  /// called once. Fails where the machine has no code generator, and where LLVM
  /// finds an error.
  llvm::Error compile(const CloneSource &Source, llvm::TargetMachine &TM,
                      std::optional<uint32_t> Skip = std::nullopt);

  const CloneDiagnostics &said() const { return Said; }
};

/// Adds to the statistics what LLVM said of a clone that went without \p Skip.
/// Returns whether the options make errors fatal.
bool reportClone(llvm::StringRef Parameters, uint32_t Skip,
                 const CloneDiagnostics &Said);

/// Forecasts a module by a clone of it. The processor and its features are
/// those of the first function that names them; the code is optimised as far as
/// it can be. It is reported where this LLVM has no code generator for the
/// module's triple, and where the clone does not compile.
void forecastClone(llvm::Module &M, const PassDesc &Desc,
                   llvm::StringRef Parameters);

} // namespace nvptx_ra

#endif // NVPTX_RA_CLONE_H
