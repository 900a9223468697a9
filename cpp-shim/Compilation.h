//===- Compilation.h - One run of the code generator ------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the passes of one pipeline share: what the code is generated for, what
/// they tell each other, and memory that they use again. Each pass gets it when
/// it is made.
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

/// What a pass that edits nothing says of a function.
struct Observation {
  ResponsePtr Response;
  /// Where the response's place is, in the function's own file.
  llvm::DebugLoc Place;
};

/// What code is generated for. The default is the ordinary case: for its own
/// sake.
struct Purpose {
  /// A clone is compiled for a forecast, which collects its functions. Its code
  /// is thrown away.
  Forecaster *CloneFor = nullptr;
  /// What the command-line tool wants to know.
  nvptx_ra_purpose OfTool = {};
};

/// Sets the purpose of the pipelines that this thread configures while the
/// scope lives. LLVM calls back to have a pipeline configured and hands over
/// nothing of ours, so the purpose stands in the one thread-local variable of
/// the shim, which nothing but the making of a Compilation reads.
class PurposeScope {
  Purpose Outer;

public:
  explicit PurposeScope(const Purpose &Inner);
  ~PurposeScope();
  PurposeScope(const PurposeScope &) = delete;
  PurposeScope &operator=(const PurposeScope &) = delete;
};

/// What a function has, counted without a view of it.
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
  /// The functions of the module that LLVM's machine verifier found wrong ahead
  /// of a pass: of each it is said once.
  llvm::StringSet<> FailingAhead;
  bool WantsObservations = false;
  bool WantsLints = false;
  const llvm::MachineFunction *ObservedFunction = nullptr;
  Observation Observed;

public:
  /// The purpose is that of this thread.
  Compilation();

  /// What the core keeps from one function to the next.
  nvptx_ra_session *session() const { return TheSession.get(); }

  /// The memory of views.
  FlatFunction::Pool Views;

  /// The census of the function that comes through; none where it was not taken
  /// since the function changed.
  std::optional<Census> Counted;

  /// The function of the loop that LLVM's passes on loops are at.
  const llvm::Function *FunctionOfLoop = nullptr;

  /// Where the forecasts of a clone go; null where it is not compiled for them.
  Forecaster *cloneFor() const { return For.CloneFor; }

  /// Whether somebody wants to be told when instruction selection is done with
  /// a function.
  bool hasBranchingPoint() const { return For.OfTool.reached; }

  /// Tells them, once.
  void reachBranchingPoint();

  /// Forgets what was said of the functions of another module. All passes of a
  /// pipeline are initialised before the first of them runs.
  void startModule() { FailingAhead.clear(); }

  /// Whether a function is the first of that name to be found wrong.
  bool isFirstFailure(llvm::StringRef Function) {
    return FailingAhead.insert(Function).second;
  }

  /// Whether the coalescer is to leave what the forecast would observe to the
  /// forecast, which stands directly behind it: then a function is flattened
  /// once for both. \p Lints says that somebody reads what lints find.
  void wantObservations(bool Wanted, bool Lints = false);
  bool wantsObservations() const { return WantsObservations; }
  bool wantsLints() const { return WantsLints; }

  /// A pass begins: what an earlier function left may be of another function at
  /// the same address.
  void forgetObservation() { ObservedFunction = nullptr; }

  /// The coalescer leaves what it has observed of a function.
  void leaveObservation(const llvm::MachineFunction &MF, Observation Seen);

  /// What the coalescer has left of a function. None where it did not run on
  /// it, or changed nothing because something was wrong.
  std::optional<Observation>
  takeObservation(const llvm::MachineFunction &MF);
};

using CompilationPtr = std::shared_ptr<Compilation>;

} // namespace nvptx_ra

#endif // NVPTX_RA_COMPILATION_H
