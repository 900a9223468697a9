//===- ProfileReplay.cpp - Choices of an earlier search -------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// See ProfileReplay.h.
///
//===----------------------------------------------------------------------===//

#include "ProfileReplay.h"

#include "Options.h"
#include "Remarks.h"
#include "Text.h"
#include "nvptx_ra_ir.h"
#include "llvm-c/Core.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace nvptx_ra {

char ProfileReplay::ID = 0;

bool ProfileReplay::doInitialization(Module &M) {
  std::string Options = commandLine();
  const nvptx_ra_response *Response = nvptx_ra_replay_profile(
      wrap(&M), toStr(Options), toStr(CPU), toStr(Features));
  if (!Response)
    return true;
  DiagnosticSeverity Severity = Response->strict ? DS_Error : DS_Warning;
  std::string Message = toRef(Response->message).str();
  nvptx_ra_response_free(Response);
  report(M.getContext(), Message, Severity);
  return true;
}

} // namespace nvptx_ra
