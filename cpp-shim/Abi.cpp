//===- Abi.cpp - The layout of what crosses -------------------------------===//
//
// Part of nvptx-ra, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Nothing but assertions: each struct of the C ABI is laid out here as Rust
/// takes it to be. Their other half is in src/ffi/abi.rs.
///
//===----------------------------------------------------------------------===//

#include "nvptx_ra.h"
#include <cstddef>

static_assert(sizeof(nvptx_ra_str) == 16 && offsetof(nvptx_ra_str, len) == 8);
static_assert(sizeof(nvptx_ra_opcode_desc) == 24 &&
              offsetof(nvptx_ra_opcode_desc, flags) == 16);
static_assert(sizeof(nvptx_ra_operand) == 16 &&
              offsetof(nvptx_ra_operand, id) == 4 &&
              offsetof(nvptx_ra_operand, value) == 8);
static_assert(sizeof(nvptx_ra_inst) == 24 &&
              offsetof(nvptx_ra_inst, operand_end) == 12);
static_assert(sizeof(nvptx_ra_block) == 24 &&
              offsetof(nvptx_ra_block, frequency) == 16);
static_assert(sizeof(nvptx_ra_reg) == 24 &&
              offsetof(nvptx_ra_reg, reg_class) == 16);
static_assert(sizeof(nvptx_ra_slot) == 40 &&
              offsetof(nvptx_ra_slot, align) == 24 &&
              offsetof(nvptx_ra_slot, line) == 32);
static_assert(sizeof(nvptx_ra_symbol) == 24 &&
              offsetof(nvptx_ra_symbol, shared_bytes) == 16);
static_assert(sizeof(nvptx_ra_view) == 248 &&
              offsetof(nvptx_ra_view, blocks) == 32 &&
              offsetof(nvptx_ra_view, maxntid) == 160 &&
              offsetof(nvptx_ra_view, flags) == 224 &&
              offsetof(nvptx_ra_view, refusal) == 232);
static_assert(sizeof(nvptx_ra_edit) == 48 &&
              offsetof(nvptx_ra_edit, value) == 24 &&
              offsetof(nvptx_ra_edit, operand) == 32);
static_assert(sizeof(nvptx_ra_request) == 112 &&
              offsetof(nvptx_ra_request, view) == 88 &&
              offsetof(nvptx_ra_request, session) == 96);
static_assert(sizeof(nvptx_ra_remark) == 72 &&
              offsetof(nvptx_ra_remark, value) == 40 &&
              offsetof(nvptx_ra_remark, line) == 64);
static_assert(sizeof(nvptx_ra_response) == 128 &&
              offsetof(nvptx_ra_response, message) == 32 &&
              offsetof(nvptx_ra_response, num_remarks) == 120);
static_assert(sizeof(nvptx_ra_option_info) == 56 &&
              offsetof(nvptx_ra_option_info, hidden) == 52);
