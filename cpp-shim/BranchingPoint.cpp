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

namespace nvptx_ra {

char BranchingPoint::ID = 0;

} // namespace nvptx_ra
