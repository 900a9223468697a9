//===- Demangle.cpp - Names as in the source ------------------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "nvptx_ra_codegen.h"
#include "llvm/Demangle/Demangle.h"
#include <cstring>
#include <string>

using namespace llvm;
using namespace nvptx_ra;

extern "C" char *nvptx_ra_demangle(nvptx_ra_str Name) {
  std::string Mangled = toRef(Name).str();
  ItaniumPartialDemangler Demangler;
  // The demangler returns true on failure.
  if (!Demangler.partialDemangle(Mangled.c_str()) && Demangler.isFunction())
    return Demangler.getFunctionName(/*Buf=*/nullptr, /*N=*/nullptr);
  std::string Whole = demangle(Mangled);
  return Whole == Mangled ? nullptr : strdup(Whole.c_str());
}
