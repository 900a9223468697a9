//===- Text.h - Strings of the C ABI and of LLVM ----------------*- C++ -*-===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Conversions without a copy: the bytes keep their owner.
///
//===----------------------------------------------------------------------===//

#ifndef NVPTX_RA_TEXT_H
#define NVPTX_RA_TEXT_H

#include "nvptx_ra.h"
#include "llvm/ADT/StringRef.h"

namespace nvptx_ra {

inline nvptx_ra_str toStr(llvm::StringRef Text) {
  return {Text.data(), Text.size()};
}

inline llvm::StringRef toRef(nvptx_ra_str Text) {
  return {Text.data, static_cast<size_t>(Text.len)};
}

} // namespace nvptx_ra

#endif // NVPTX_RA_TEXT_H
