//===- FunctionFacts.cpp - Function facts beside instructions -------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The launch attributes of a function, its source file, and the sizes of
/// shared variables. NVPTX's own readers of the attributes are private to it,
/// so the core gets the attributes as text and reads them by the same rules.
///
//===----------------------------------------------------------------------===//

#include "FunctionFacts.h"

#include "Text.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineOperand.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace nvptx_ra {

/// Returns a file's path; a relative name is appended to its directory.
static nvptx_ra_str pathOf(const DIFile &File, BumpPtrAllocator &Text) {
  SmallString<128> Path;
  if (!sys::path::is_absolute(File.getFilename()))
    Path = File.getDirectory();
  sys::path::append(Path, File.getFilename());
  return toStr(Path.str().copy(Text));
}

void describeFunction(const MachineFunction &MF, BumpPtrAllocator &Text,
                      nvptx_ra_view &View) {
  const Function &F = MF.getFunction();
  auto Attribute = [&F](StringRef Name) {
    return toStr(F.getFnAttribute(Name).getValueAsString());
  };
  View.name = toStr(MF.getName());
  if (const DIFile *File = fileOf(F))
    View.file = pathOf(*File, Text);
  if (F.getCallingConv() == CallingConv::PTX_Kernel)
    View.flags |= NVPTX_RA_VIEW_KERNEL;
  View.maxntid = Attribute("nvvm.maxntid");
  View.reqntid = Attribute("nvvm.reqntid");
  View.minctasm = Attribute("nvvm.minctasm");
  View.maxnreg = Attribute("nvvm.maxnreg");
}

const DIFile *fileOf(const Function &F) {
  const DISubprogram *Subprogram = F.getSubprogram();
  return Subprogram ? Subprogram->getFile() : nullptr;
}

const DILocation *ownLocation(const DILocation *Loc, const DIFile *File) {
  while (Loc && Loc->getFile() != File && Loc->getInlinedAt())
    Loc = Loc->getInlinedAt();
  return Loc;
}

uint64_t sharedBytesOf(const MachineOperand &MO, const DataLayout &Layout) {
  if (!MO.isGlobal())
    return 0;
  const auto *Variable = dyn_cast<GlobalVariable>(MO.getGlobal());
  if (!Variable || Variable->getAddressSpace() != NVPTXAS::ADDRESS_SPACE_SHARED)
    return 0;
  if (Variable->isDeclaration())
    return NVPTX_RA_DYNAMIC_SHARED;
  return Layout.getTypeAllocSize(Variable->getValueType()).getFixedValue();
}

StringRef firstAttribute(const Module &M, StringRef Name) {
  for (const Function &F : M)
    if (!F.isDeclaration() && F.hasFnAttribute(Name))
      return F.getFnAttribute(Name).getValueAsString();
  return "";
}

} // namespace nvptx_ra
