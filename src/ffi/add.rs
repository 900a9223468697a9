//! Which optimisations of LLVM a function gets on top.

use super::abi::{self, nvptx_ra_str};
use super::guard::guard;
use crate::config::{Add, Config, Layers};

/// The optimisations that a function gets, as a set of bits; none where its options are wrong.
///
/// # Safety
/// The texts are live and as long as they say.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_added(command_line: nvptx_ra_str, attribute: nvptx_ra_str) -> u32 {
    // SAFETY: the caller promises the texts.
    let (command_line, attribute) = unsafe { (abi::text(command_line), abi::text(attribute)) };
    let layers = Layers { command_line: &command_line, attribute: &attribute, ..Layers::default() };
    let added = guard(|| {
        let Config { enabled, add, .. } = Config::resolve_valid(&layers);
        Ok(if enabled { add } else { Add::empty() })
    });
    added.unwrap_or_default().bits()
}

/// What LLVM calls the optimisation of a set that is the `index`-th to run; nothing behind the last.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_added_pipeline(set: u32, index: u32) -> nvptx_ra_str {
    abi::borrow(Add::from_bits_truncate(set).pipelines().nth(index as usize).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(command_line: &str, attribute: &str) -> Vec<String> {
        // SAFETY: both texts are alive.
        let set = unsafe { nvptx_ra_added(abi::borrow(command_line), abi::borrow(attribute)) };
        // SAFETY: the text is static.
        let pipeline = |index| unsafe { abi::text(nvptx_ra_added_pipeline(set, index)) }.into_owned();
        (0..).map(pipeline).take_while(|pipeline| !pipeline.is_empty()).collect()
    }

    /// The command line counts before the attribute; what is off, or wrong, gets nothing.
    #[test]
    fn sets() {
        assert!(added("", "").is_empty());
        assert_eq!(added("verify", "order=late;add=sink"), ["sink"]);
        assert_eq!(added("add=sink", "add=reassociate"), ["sink"]);
        assert!(added("add=sink", "off").is_empty());
        assert!(added("add=sunk", "").is_empty());
    }

    /// They run in the order of the list, however they are asked for, and every one of them has a pipeline.
    #[test]
    fn pipelines() {
        assert_eq!(added("", "add=reg2mem+gvn-hoist"), ["gvn-hoist", "reg2mem,mem2reg"]);
        assert_eq!(added("add=all", "").len(), Add::all().iter().count());
    }
}
