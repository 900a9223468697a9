//===- BranchingPoint.cpp - Where variants of a module part ---------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See BranchingPoint.h.
///
//===----------------------------------------------------------------------===//

#include "BranchingPoint.h"

#include "nvptx_ra_codegen.h"
#include <utility>

using namespace llvm;

namespace {

struct Listener {
  void (*Reached)(void *Data);
  void *Data;
};

} // namespace

/// The pipeline is configured by a callback that gets no argument of ours.
static thread_local Listener TheListener = {nullptr, nullptr};

extern "C" uint32_t nvptx_ra_set_branching_point(void (*Reached)(void *),
                                                 void *Data) {
  return std::exchange(TheListener, {Reached, Data}).Reached != nullptr;
}

namespace nvptx_ra {

char BranchingPoint::ID = 0;

bool hasBranchingPoint() { return TheListener.Reached; }

bool BranchingPoint::runOnMachineFunction(MachineFunction &) {
  Listener L = std::exchange(TheListener, {nullptr, nullptr});
  if (L.Reached)
    L.Reached(L.Data);
  return false;
}

} // namespace nvptx_ra
