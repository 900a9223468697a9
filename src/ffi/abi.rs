//! The C ABI as bindgen reads it from `cpp-shim/include`, its types and what the shim does for Rust, and how borrowed
//! memory is looked at.

use std::borrow::Cow;
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
