//! Whether the environment turns the plugin off.

use std::sync::atomic::{AtomicBool, Ordering};

use super::abi::{self, nvptx_ra_str};
use super::guard::entry;
use crate::switch;

/// Whether the process is the command-line tool.
static IS_TOOL: AtomicBool = AtomicBool::new(false);

/// From now on, the environment turns nothing off: the process is the tool, whose commands a user calls by their names.
pub fn serve_tool() {
    IS_TOOL.store(true, Ordering::Relaxed);
}

pub(super) fn is_off() -> bool {
    !IS_TOOL.load(Ordering::Relaxed) && switch::is_off()
}

/// Whether the plugin does nothing: 1 or 0.
// SAFETY: the header declares this very name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_is_off() -> u32 {
    entry(|_| 0, || is_off().into())
}

/// What warnings of the plugin end with; empty in the tool.
// SAFETY: the header declares this very name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_off_note() -> nvptx_ra_str {
    entry(|_| abi::borrow(""), || abi::borrow(if IS_TOOL.load(Ordering::Relaxed) { "" } else { switch::NOTE }))
}
