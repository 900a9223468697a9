//===- Compilation.cpp - One run of the code generator --------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See Compilation.h.
///
//===----------------------------------------------------------------------===//

#include "Compilation.h"

#include <utility>

using namespace llvm;

namespace nvptx_ra {

static thread_local Purpose PurposeOfThread;

PurposeScope::PurposeScope(const Purpose &Inner)
    : Outer(std::exchange(PurposeOfThread, Inner)) {}

PurposeScope::~PurposeScope() { PurposeOfThread = Outer; }

Compilation::Compilation()
    : For(PurposeOfThread),
      TheSession(nvptx_ra_session_new(For.OfTool.collected)) {}

void Compilation::reachBranchingPoint() {
  if (auto *Reached = std::exchange(For.OfTool.reached, nullptr))
    Reached(For.OfTool.reached_data);
}

void Compilation::wantObservations(bool Wanted, bool Lints) {
  ObservedFunction = nullptr;
  Observed = {};
  WantsObservations = Wanted;
  WantsLints = Lints;
}

void Compilation::leaveObservation(const MachineFunction &MF,
                                   Observation Seen) {
  ObservedFunction = &MF;
  Observed = std::move(Seen);
}

std::optional<Observation>
Compilation::takeObservation(const MachineFunction &MF) {
  if (std::exchange(ObservedFunction, nullptr) != &MF)
    return std::nullopt;
  return std::move(Observed);
}

} // namespace nvptx_ra

extern "C" nvptx_ra_purpose
nvptx_ra_set_purpose(const nvptx_ra_purpose *Wanted) {
  using nvptx_ra::PurposeOfThread;
  return std::exchange(PurposeOfThread.OfTool, *Wanted);
}
