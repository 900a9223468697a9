//! The environment variable that turns the plugin off.

use std::sync::atomic::{AtomicBool, Ordering};

use super::abi::{self, nvptx_ra_str};
use super::guard::entry;
use crate::switch;

/// Whether the process is the command-line tool.
static IS_TOOL: AtomicBool = AtomicBool::new(false);

/// Makes the process ignore the environment variable. The command-line tool calls this, because a user asks for its
/// commands explicitly.
pub fn serve_tool() {
    IS_TOOL.store(true, Ordering::Relaxed);
}

pub(super) fn is_off() -> bool {
    !IS_TOOL.load(Ordering::Relaxed) && switch::is_off()
}

/// Returns 1 if the plugin is turned off, otherwise 0.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_is_off() -> u32 {
    entry(|_| 0, || is_off().into())
}

/// Returns the suffix of the plugin's warnings; empty in the tool.
// SAFETY: the header declares this exact name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_off_note() -> nvptx_ra_str {
    entry(|_| abi::borrow(""), || abi::borrow(if IS_TOOL.load(Ordering::Relaxed) { "" } else { switch::NOTE }))
}
