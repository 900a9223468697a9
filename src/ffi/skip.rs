//! Which optimisations of LLVM a function goes without.

use super::abi::{self, nvptx_ra_str};
use super::guard::guard;
use crate::config::{Config, Layers, Skip};

/// The optimisations that a function goes without, as a set of bits; none where its options are wrong.
///
/// # Safety
/// The texts are live and as long as they say.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_skipped(command_line: nvptx_ra_str, attribute: nvptx_ra_str) -> u32 {
    // SAFETY: the caller promises the texts.
    let (command_line, attribute) = unsafe { (abi::text(command_line), abi::text(attribute)) };
    let layers = Layers { command_line: &command_line, attribute: &attribute, ..Layers::default() };
    let skipped = guard(|| {
        let Config { enabled, skip, .. } = Config::resolve_valid(&layers);
        Ok(if enabled { skip } else { Skip::empty() })
    });
    skipped.unwrap_or_default().bits()
}

/// The bit of an optimisation by LLVM's own name; 0 of one that no function goes without.
///
/// # Safety
/// The text is live and as long as it says.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_skip_bit(pass: nvptx_ra_str) -> u32 {
    // SAFETY: the caller promises the text.
    let pass = unsafe { abi::text(pass) };
    guard(|| Ok(Skip::of_pass(&pass))).unwrap_or_default().bits()
}
