//===- Compilation.h - One run of the code generator ------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The state that the passes of one pipeline share: the purpose of the
/// compilation, observations that one pass leaves for another, and memory that
/// is reused. Each pass receives it at construction.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_COMPILATION_H
#define NVPTX_RA_COMPILATION_H

#include "Flatten.h"
#include "nvptx_ra.h"
#include "nvptx_ra_codegen.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugLoc.h"
#include <memory>
#include <optional>

namespace llvm {
class Function;
class MachineFunction;
} // namespace llvm

namespace nvptx_ra {

class Forecaster;

struct FreeResponse {
  void operator()(const nvptx_ra_response *Response) const {
    nvptx_ra_response_free(Response);
  }
};
using ResponsePtr = std::unique_ptr<const nvptx_ra_response, FreeResponse>;

/// The response of a pass that edits nothing, for one function.
struct Observation {
  ResponsePtr Response;
  /// The source location of the response's place, in the function's own file.
  llvm::DebugLoc Place;
};

/// The purpose of a compilation. By default the code itself is the purpose.
struct Purpose {
  /// Collects the functions of a clone that is compiled for a forecast; the
  /// code of the clone is discarded. Null otherwise.
  Forecaster *CloneFor = nullptr;
  /// Callbacks of the command-line tool.
  nvptx_ra_purpose OfTool = {};
};

/// Sets the purpose of the pipelines that this thread configures during the
/// scope. LLVM's callback that configures a pipeline passes no data of the
/// caller, so the purpose is held in the shim's only thread-local variable.
/// Only the constructor of Compilation reads it.
class PurposeScope {
  Purpose Outer;

public:
  explicit PurposeScope(const Purpose &Inner);
  ~PurposeScope();
  PurposeScope(const PurposeScope &) = delete;
  PurposeScope &operator=(const PurposeScope &) = delete;
};

/// Counts of a function, taken without a view of it.
struct Census {
  nvptx_ra_census Counts = {};
  llvm::SmallVector<nvptx_ra_str, 0> Assembly;
};

class Compilation {
  struct FreeSession {
    void operator()(nvptx_ra_session *Session) const {
      nvptx_ra_session_free(Session);
    }
  };

  Purpose For;
  std::unique_ptr<nvptx_ra_session, FreeSession> TheSession;
  /// The functions of the module in which LLVM's machine verifier found errors
  /// before a pass. Each is reported once.
  llvm::StringSet<> FailingAhead;
  bool WantsObservations = false;
  bool WantsLints = false;
  const llvm::MachineFunction *ObservedFunction = nullptr;
  Observation Observed;

public:
  /// Takes the purpose of this thread.
  Compilation();

  /// The state that the core keeps between functions.
  nvptx_ra_session *session() const { return TheSession.get(); }

  /// The memory of views.
  FlatFunction::Pool Views;

  /// The census of the current function. None if it was not taken since the
  /// function changed.
  std::optional<Census> Counted;

  /// The function of the loop that LLVM's loop passes currently process.
  const llvm::Function *FunctionOfLoop = nullptr;

  /// The forecaster of a clone; null if this is not the compilation of a clone.
  Forecaster *cloneFor() const { return For.CloneFor; }

  /// Whether the tool is to be called when instruction selection of a function
  /// is complete.
  bool hasBranchingPoint() const { return For.OfTool.reached; }

  /// Calls the tool at this point. Only the first call has an effect.
  void reachBranchingPoint();

  /// Forgets the reports about functions of another module. All passes of a
  /// pipeline are initialised before the first of them runs.
  void startModule() { FailingAhead.clear(); }

  /// Whether this is the first error in a function with that name.
  bool isFirstFailure(llvm::StringRef Function) {
    return FailingAhead.insert(Function).second;
  }

  /// Sets whether the coalescer observes each function for the forecast that
  /// directly follows it. The function is then flattened once for both.
  /// \p Lints: whether the findings of lints are read.
  void wantObservations(bool Wanted, bool Lints = false);
  bool wantsObservations() const { return WantsObservations; }
  bool wantsLints() const { return WantsLints; }

  /// Called when a pass begins: an earlier observation may belong to another
  /// function at the same address.
  void forgetObservation() { ObservedFunction = nullptr; }

  /// Stores what the coalescer observed of a function.
  void leaveObservation(const llvm::MachineFunction &MF, Observation Seen);

  /// Takes the coalescer's observation of a function. None if the coalescer did
  /// not run on the function, or reported an error and changed nothing.
  std::optional<Observation>
  takeObservation(const llvm::MachineFunction &MF);
};

using CompilationPtr = std::shared_ptr<Compilation>;

} // namespace nvptx_ra

#endif // NVPTX_RA_COMPILATION_H
