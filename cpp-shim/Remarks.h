//===- Remarks.h - Remarks and diagnostics ----------------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The output of passes for users: LLVM's optimisation remarks, warnings and
/// errors.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_REMARKS_H
#define NVPTX_RA_REMARKS_H

#include "nvptx_ra.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DiagnosticInfo.h"

namespace llvm {
class DebugLoc;
class Function;
class LLVMContext;
class MachineBlockFrequencyInfo;
class MachineFunction;
} // namespace llvm

namespace nvptx_ra {

class FlatFunction;
struct PassDesc;

/// Whether the remarks of a pass are read.
bool remarksEnabled(const llvm::MachineFunction &MF, const PassDesc &Desc);

/// Emits the remarks of a response at the instructions of its view. Call this
/// before edits are applied, because edits delete instructions.
void emitRemarks(llvm::MachineFunction &MF,
                 llvm::MachineBlockFrequencyInfo *MBFI, const PassDesc &Desc,
                 const FlatFunction &Flat, const nvptx_ra_response &Response);

/// Emits a figure of a function whose machine code may no longer exist. Without
/// a place the remark is at the function.
void emitFigure(const llvm::Function &F, const PassDesc &Desc,
                const llvm::DebugLoc &Place, const nvptx_ra_remark &Remark);

/// The pass name of the lints' remarks. No such pass exists: the forecast runs
/// the lints.
inline constexpr llvm::StringLiteral LintName = "nvptx-lint";

/// Emits the finding of a lint in a function, at a line of the file of
/// \p Where.
void emitFinding(const llvm::Function &F, const llvm::Function &Where,
                 const nvptx_ra_remark &Remark);

/// Reports a message. The plugin appends how to turn it off.
void report(llvm::LLVMContext &Context, llvm::StringRef Message,
            llvm::DiagnosticSeverity Severity);

/// Reports the message of a response, as an error if it is strict. Null is
/// ignored.
void report(llvm::LLVMContext &Context, const nvptx_ra_response *Response);

/// Reports the warnings of a response that is not an error.
void reportWarnings(llvm::LLVMContext &Context,
                    const nvptx_ra_response &Response);

} // namespace nvptx_ra

#endif // NVPTX_RA_REMARKS_H
