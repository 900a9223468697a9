//! The opcode table: crosses once per target, shared by all functions and threads.

use std::sync::Arc;

use super::abi::{self, nvptx_ra_opcode_desc, nvptx_ra_opcodes};
use super::guard::guard;
use crate::target::{Classification, DescFlags};

/// Classifies the opcodes of a target.
///
/// # Safety
/// `descs` points to `count` live descriptors, each with a live name, or is null where `count` is 0.
// SAFETY: the header declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_opcodes_create(
    descs: *const nvptx_ra_opcode_desc,
    count: u64,
) -> *const nvptx_ra_opcodes {
    let classification = guard(|| {
        // SAFETY: the caller promises the array.
        let descs = unsafe { abi::array(descs, count, "opcodes") }?;
        // SAFETY: the caller promises the names.
        let names = unsafe { Names::read(descs) };
        let flags = descs.iter().map(|desc| DescFlags::from_bits_truncate(desc.flags));
        Ok(Classification::new(names.iter().zip(flags)))
    });
    // The result is never null: without a table every instruction of every function is refused, in words.
    let classification = classification.unwrap_or_else(|_| Classification::new([]));
    Arc::into_raw(Arc::new(classification)).cast()
}

/// The names, one behind the other: checked for being text at once, because there are thousands.
struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    /// # Safety
    /// Each descriptor's name is live.
    unsafe fn read(descs: &[nvptx_ra_opcode_desc]) -> Self {
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(descs.len());
        for desc in descs {
            // SAFETY: the caller promises the name.
            bytes.extend_from_slice(unsafe { abi::bytes(desc.name) });
            ends.push(bytes.len());
        }
        // LLVM's names are ASCII. What is not, becomes a name that nobody knows.
        if !bytes.is_ascii() {
            bytes.iter_mut().filter(|byte| !byte.is_ascii()).for_each(|byte| *byte = b'?');
        }
        Self { text: String::from_utf8(bytes).unwrap_or_default(), ends }
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| self.text.get(start..end).unwrap_or_default())
    }
}

/// Frees a table; functions that still use it keep their share.
///
/// # Safety
/// `opcodes` is null or was returned by [`nvptx_ra_opcodes_create`] and is freed once.
// SAFETY: the header declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_opcodes_free(opcodes: *const nvptx_ra_opcodes) {
    if !opcodes.is_null() {
        // SAFETY: the caller promises that the pointer is of `Arc::into_raw` and still counts.
        drop(unsafe { Arc::from_raw(opcodes.cast::<Classification>()) });
    }
}

/// A share of the table behind a pointer; `None` for null.
///
/// # Safety
/// `opcodes` is null or was returned by [`nvptx_ra_opcodes_create`] and is not freed yet.
pub(super) unsafe fn share(opcodes: *const nvptx_ra_opcodes) -> Option<Arc<Classification>> {
    let opcodes = opcodes.cast::<Classification>();
    if opcodes.is_null() {
        return None;
    }
    // SAFETY: the caller promises that the pointer is of `Arc::into_raw` and still counts; the count taken here belongs
    // to the Arc that is returned.
    unsafe {
        Arc::increment_strong_count(opcodes);
        Some(Arc::from_raw(opcodes))
    }
}
