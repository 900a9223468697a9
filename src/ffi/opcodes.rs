//! The opcode table: made once per target, shared by all functions and threads.

use std::ffi::c_void;
use std::sync::Arc;

use super::abi::{self, nvptx_ra_describe_opcode, nvptx_ra_opcode_desc, nvptx_ra_opcodes};
use super::guard::entry;
use crate::function::Opcode;
use crate::target::{Classification, DescFlags};

/// Whoever describes the opcodes of a target.
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
        // SAFETY: the caller of `nvptx_ra_opcodes_create` promises that target and function live on, and that the
        // function takes all numbers below the count, beyond which the core never asks.
        let desc = unsafe { (self.describe)(self.target, opcode.0) };
        // SAFETY: as above: the name lives on.
        let name = unsafe { abi::text(desc.name) };
        (name.into(), DescFlags::from_bits_truncate(desc.flags))
    }
}

/// The opcodes of a target, which are classified when they are first asked for.
///
/// # Safety
/// `describe` may be called with `target` and all numbers below `count` from now on, from any thread, and what it
/// returns stays; or it is null.
// SAFETY: the header declares this very name.
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

/// The table where there is none to have: every instruction of every function is then refused, in words.
fn no_opcodes() -> Classification {
    Classification::new([])
}

fn hand_over(classification: Classification) -> *const nvptx_ra_opcodes {
    Arc::into_raw(Arc::new(classification)).cast()
}

/// Frees a table; functions that still use it keep their share.
///
/// # Safety
/// `opcodes` is null or was returned by [`nvptx_ra_opcodes_create`] and is freed once.
// SAFETY: the header declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_opcodes_free(opcodes: *const nvptx_ra_opcodes) {
    entry(
        |_| (),
        || {
            if !opcodes.is_null() {
                // SAFETY: the caller promises that the pointer is of `Arc::into_raw` and still counts.
                drop(unsafe { Arc::from_raw(opcodes.cast::<Classification>()) });
            }
        },
    );
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
