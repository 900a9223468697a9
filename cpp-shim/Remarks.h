//===- Remarks.h - Remarks and diagnostics ----------------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a user reads of a pass: LLVM's optimisation remarks, warnings, errors.
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

/// Whether anybody reads the remarks of a pass.
bool remarksEnabled(const llvm::MachineFunction &MF, const PassDesc &Desc);

/// Emits the remarks of a response at the instructions of its view. To be
/// called before edits are applied, because they delete instructions.
void emitRemarks(llvm::MachineFunction &MF,
                 llvm::MachineBlockFrequencyInfo *MBFI, const PassDesc &Desc,
                 const FlatFunction &Flat, const nvptx_ra_response &Response);

/// Emits a figure of a function whose machine code may be gone. Without a
/// place it is at the function.
void emitFigure(const llvm::Function &F, const PassDesc &Desc,
                const llvm::DebugLoc &Place, const nvptx_ra_remark &Remark);

/// The pass name of the remarks of lints. It is no pass: the forecast asks the
/// lints.
inline constexpr llvm::StringLiteral LintName = "nvptx-lint";

/// Emits what a lint finds in a function, at a line of the file of \p Where.
void emitFinding(const llvm::Function &F, const llvm::Function &Where,
                 const nvptx_ra_remark &Remark);

/// Reports a message. In the plugin, how to turn that off stands behind it.
void report(llvm::LLVMContext &Context, llvm::StringRef Message,
            llvm::DiagnosticSeverity Severity);

/// Reports the message of a response, as an error where that is fatal. Null is
/// none.
void report(llvm::LLVMContext &Context, const nvptx_ra_response *Response);

/// Reports the warnings of a response that is no error.
void reportWarnings(llvm::LLVMContext &Context,
                    const nvptx_ra_response &Response);

} // namespace nvptx_ra

#endif // NVPTX_RA_REMARKS_H
