//===- HeaderNote.cpp - The plugin's mark in the PTX ----------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See HeaderNote.h.
///
//===----------------------------------------------------------------------===//

#include "HeaderNote.h"

#include "Text.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace nvptx_ra {

char HeaderNote::ID = 0;

bool HeaderNote::doInitialization(Module &M) {
  std::string Note = ("// nvptx-ra " + toRef(nvptx_ra_version())).str();
  // Machine code that was printed half-way carries the note already.
  if (StringRef(M.getModuleInlineAsm()).contains(Note))
    return false;
  M.appendModuleInlineAsm(Note);
  return true;
}

} // namespace nvptx_ra
