//! The opcode table: created once per target, shared by all functions and threads.

use std::ffi::c_void;
use std::sync::Arc;

use super::abi::{self, nvptx_ra_describe_opcode, nvptx_ra_opcode_desc, nvptx_ra_opcodes};
use super::guard::entry;
use crate::function::Opcode;
use crate::target::{Classification, DescFlags};

/// The callback that describes the opcodes of a target.
struct Describer {
    target: *const c_void,
    describe: unsafe extern "C" fn(*const c_void, u32) -> nvptx_ra_opcode_desc,
}

// SAFETY: the caller of `nvptx_ra_opcodes_create` promises that the function may be called from several threads.
unsafe impl Send for Describer {}
// SAFETY: as above.
unsafe impl Sync for Describer {}

impl Describer {
    fn describe(&self, opcode: Opcode) -> (Box<str>, DescFlags) {
        // SAFETY: the caller of `nvptx_ra_opcodes_create` promises that the target and the function stay alive, and
        // that the function accepts all numbers below the count. The core never passes a larger number.
        let desc = unsafe { (self.describe)(self.target, opcode.0) };
        // SAFETY: as above: the name stays alive.
        let name = unsafe { abi::text(desc.name) };
        (name.into(), DescFlags::from_bits_truncate(desc.flags))
    }
}

/// Creates the table of a target's opcodes, which are classified at their first use.
///
/// # Safety
/// `describe` must be null, or callable with `target` and all numbers below `count` from now on, from any thread. Its
/// results must stay alive.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_opcodes_create(
    target: *const c_void,
    describe: nvptx_ra_describe_opcode,
    count: u64,
) -> *const nvptx_ra_opcodes {
    entry(
        |_| hand_over(no_opcodes()),
        || {
            let count = usize::try_from(count).ok().filter(|&count| count <= u32::MAX as usize);
            hand_over(match (describe, count) {
                (Some(describe), Some(count)) => {
                    let describer = Describer { target, describe };
                    Classification::lazy(count, move |opcode| describer.describe(opcode))
                }
                _ => no_opcodes(),
            })
        },
    )
}

/// Returns the table that is used if no table can be made. Every instruction of every function is then rejected with a
/// message.
fn no_opcodes() -> Classification {
    Classification::new([])
}

fn hand_over(classification: Classification) -> *const nvptx_ra_opcodes {
    Arc::into_raw(Arc::new(classification)).cast()
}

/// Frees a table. Functions that still use it keep their reference.
///
/// # Safety
/// `opcodes` must be null, or returned by [`nvptx_ra_opcodes_create`] and freed only once.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_opcodes_free(opcodes: *const nvptx_ra_opcodes) {
    entry(
        |_| (),
        || {
            if !opcodes.is_null() {
                // SAFETY: the caller promises that the pointer is from `Arc::into_raw` and still holds a reference.
                drop(unsafe { Arc::from_raw(opcodes.cast::<Classification>()) });
            }
        },
    );
}

/// Returns a new reference to the table behind a pointer; `None` for null.
///
/// # Safety
/// `opcodes` must be null, or returned by [`nvptx_ra_opcodes_create`] and not freed yet.
pub(super) unsafe fn share(opcodes: *const nvptx_ra_opcodes) -> Option<Arc<Classification>> {
    let opcodes = opcodes.cast::<Classification>();
    if opcodes.is_null() {
        return None;
    }
    // SAFETY: the caller promises that the pointer is from `Arc::into_raw` and still holds a reference. The reference
    // that is added here belongs to the returned Arc.
    unsafe {
        Arc::increment_strong_count(opcodes);
        Some(Arc::from_raw(opcodes))
    }
}
