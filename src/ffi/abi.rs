//! The C ABI, which bindgen reads from `cpp-shim/include`: its types, the functions that the shim provides for Rust,
//! and access to borrowed memory.

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

/// Borrows an array that the caller owns. `what` is the array's name in the error.
///
/// # Safety
/// If `data` is not null, it must point to `len` values of `T` that stay alive and unchanged during `'a`.
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
    // SAFETY: not null, aligned, and the caller promises this many live values. 2^32 values of any type here fit an
    // isize.
    Ok(unsafe { slice::from_raw_parts(data, len as usize) })
}

/// Borrows a string that the caller owns. Invalid UTF-8 is replaced. Returns the empty string for null and for an
/// impossible length.
///
/// # Safety
/// If `text.data` is not null, it must point to `text.len` bytes that stay alive and unchanged during `'a`.
pub(super) unsafe fn text<'a>(text: nvptx_ra_str) -> Cow<'a, str> {
    if text.data.is_null() || text.len > u64::from(u32::MAX) {
        return Cow::Borrowed("");
    }
    // SAFETY: not null, bytes have no alignment, and the caller promises this many live bytes.
    String::from_utf8_lossy(unsafe { slice::from_raw_parts(text.data.cast::<u8>(), text.len as usize) })
}

/// Lends a string to C++ while `text` lives.
pub(super) fn borrow(text: &str) -> nvptx_ra_str {
    borrow_bytes(text.as_bytes())
}

/// Lends bytes to C++ while they live.
pub(super) fn borrow_bytes(bytes: &[u8]) -> nvptx_ra_str {
    nvptx_ra_str { data: bytes.as_ptr().cast(), len: bytes.len() as u64 }
}
