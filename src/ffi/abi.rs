//! The C ABI as bindgen reads it from `cpp-shim/include`, its types and what the shim does for Rust, and how borrowed
//! memory is looked at.

use std::borrow::Cow;
use std::mem::offset_of;
use std::slice;

pub(super) use bindings::*;

use crate::error::Error;

#[allow(
    non_camel_case_types,
    missing_docs,
    unreachable_pub,
    dead_code,
    clippy::allow_attributes_without_reason,
    clippy::undocumented_unsafe_blocks,
    reason = "generated: the names are C's, the documentation is in the header, and not all of it is used here"
)]
mod bindings {
    include!(concat!(env!("OUT_DIR"), "/nvptx_ra_bindings.rs"));
}

// The other half of these assertions is in cpp-shim/Abi.cpp.
const _: () = {
    assert!(size_of::<nvptx_ra_str>() == 16 && offset_of!(nvptx_ra_str, len) == 8);
    assert!(size_of::<nvptx_ra_opcode_desc>() == 24 && offset_of!(nvptx_ra_opcode_desc, flags) == 16);
    assert!(size_of::<nvptx_ra_operand>() == 16);
    assert!(offset_of!(nvptx_ra_operand, id) == 4 && offset_of!(nvptx_ra_operand, value) == 8);
    assert!(size_of::<nvptx_ra_inst>() == 24 && offset_of!(nvptx_ra_inst, operand_end) == 12);
    assert!(size_of::<nvptx_ra_block>() == 24 && offset_of!(nvptx_ra_block, frequency) == 16);
    assert!(size_of::<nvptx_ra_reg>() == 24 && offset_of!(nvptx_ra_reg, reg_class) == 16);
    assert!(size_of::<nvptx_ra_slot>() == 40 && offset_of!(nvptx_ra_slot, align) == 24);
    assert!(offset_of!(nvptx_ra_slot, line) == 32);
    assert!(size_of::<nvptx_ra_symbol>() == 24 && offset_of!(nvptx_ra_symbol, shared_bytes) == 16);
    assert!(size_of::<nvptx_ra_view>() == 248);
    assert!(offset_of!(nvptx_ra_view, blocks) == 32 && offset_of!(nvptx_ra_view, maxntid) == 160);
    assert!(offset_of!(nvptx_ra_view, flags) == 224 && offset_of!(nvptx_ra_view, refusal) == 232);
    assert!(size_of::<nvptx_ra_edit>() == 48);
    assert!(offset_of!(nvptx_ra_edit, value) == 24 && offset_of!(nvptx_ra_edit, operand) == 32);
    assert!(size_of::<nvptx_ra_request>() == 112);
    assert!(offset_of!(nvptx_ra_request, view) == 88 && offset_of!(nvptx_ra_request, session) == 96);
    assert!(size_of::<nvptx_ra_remark>() == 72 && offset_of!(nvptx_ra_remark, value) == 40);
    assert!(offset_of!(nvptx_ra_remark, line) == 64);
    assert!(size_of::<nvptx_ra_response>() == 128);
    assert!(offset_of!(nvptx_ra_response, message) == 32 && offset_of!(nvptx_ra_response, num_remarks) == 120);
    assert!(size_of::<nvptx_ra_option_info>() == 56 && offset_of!(nvptx_ra_option_info, hidden) == 52);
};

/// The bytes of an array that somebody else owns; `what` names it in the error.
///
/// # Safety
/// Where `data` is not null, `len` values of `T` live there and do not change during `'a`.
pub(super) unsafe fn array<'a, T>(data: *const T, len: u64, what: &str) -> Result<&'a [T], Error> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(Error::view(format!("{what}: null, but {len} entries")));
    }
    if !data.is_aligned() || len > u64::from(u32::MAX) {
        return Err(Error::view(format!("{what}: misaligned, or too many ({len}) for 32-bit numbers")));
    }
    // SAFETY: not null, aligned, and the caller promises as many live values. 2^32 of any type here fit an isize.
    Ok(unsafe { slice::from_raw_parts(data, len as usize) })
}

/// A string that somebody else owns. What is not UTF-8 in it is replaced; null, and what cannot be so long, is the
/// empty string.
///
/// # Safety
/// Where `text.data` is not null, `text.len` bytes live there and do not change during `'a`.
pub(super) unsafe fn text<'a>(text: nvptx_ra_str) -> Cow<'a, str> {
    if text.data.is_null() || text.len > u64::from(u32::MAX) {
        return Cow::Borrowed("");
    }
    // SAFETY: not null, bytes have no alignment, and the caller promises as many live ones.
    String::from_utf8_lossy(unsafe { slice::from_raw_parts(text.data.cast::<u8>(), text.len as usize) })
}

/// A string for the other side to read while `text` lives.
pub(super) fn borrow(text: &str) -> nvptx_ra_str {
    borrow_bytes(text.as_bytes())
}

/// Bytes for the other side to read while they live.
pub(super) fn borrow_bytes(bytes: &[u8]) -> nvptx_ra_str {
    nvptx_ra_str { data: bytes.as_ptr().cast(), len: bytes.len() as u64 }
}
