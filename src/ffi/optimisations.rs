//! Which optimisations of LLVM a function goes without, and which it gets on top.

use super::abi::{self, nvptx_ra_str};
use super::guard::entry;
use crate::config::{AddPasses, Config, Layers, SkipPasses};

/// The optimisations that a function goes without, as a set of bits; none where its options are wrong.
///
/// # Safety
/// The texts are live and as long as they say.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_skipped(command_line: nvptx_ra_str, attribute: nvptx_ra_str) -> u32 {
    // SAFETY: as the caller promises.
    entry(|_| 0, || unsafe { of_function(command_line, attribute, |config| config.skip_passes) }.bits())
}

/// The optimisations that a function gets on top, as a set of bits; none where its options are wrong.
///
/// # Safety
/// The texts are live and as long as they say.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_added(command_line: nvptx_ra_str, attribute: nvptx_ra_str) -> u32 {
    // SAFETY: as the caller promises.
    entry(|_| 0, || unsafe { of_function(command_line, attribute, |config| config.add_passes) }.bits())
}

/// What the options say of a function that may be changed; else nothing.
///
/// # Safety
/// The texts are live and as long as they say.
pub(super) unsafe fn of_function<T: Default>(
    command_line: nvptx_ra_str,
    attribute: nvptx_ra_str,
    of: fn(&Config) -> T,
) -> T {
    // SAFETY: the caller promises the texts.
    let (command_line, attribute) = unsafe { (abi::text(command_line), abi::text(attribute)) };
    let layers = Layers { command_line: &command_line, attribute: &attribute, ..Layers::default() };
    let config = Config::resolve_valid(&layers);
    if config.enabled { of(&config) } else { T::default() }
}

/// The bit of an optimisation by LLVM's own name; 0 of one that no function goes without.
///
/// # Safety
/// The text is live and as long as it says.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_skip_bit(pass: nvptx_ra_str) -> u32 {
    // SAFETY: the caller promises the text.
    entry(|_| 0, || SkipPasses::of_pass(&unsafe { abi::text(pass) }).bits())
}

/// What LLVM calls the optimisation of a set that is the `index`-th to run; nothing behind the last.
// SAFETY: the shim declares this very name.
#[unsafe(no_mangle)]
pub(super) extern "C" fn nvptx_ra_added_pipeline(set: u32, index: u32) -> nvptx_ra_str {
    entry(
        |_| abi::borrow(""),
        || abi::borrow(AddPasses::from_bits_truncate(set).pipelines().nth(index as usize).unwrap_or_default()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(command_line: &str, attribute: &str) -> SkipPasses {
        // SAFETY: both texts are alive.
        SkipPasses::from_bits_retain(unsafe { nvptx_ra_skipped(abi::borrow(command_line), abi::borrow(attribute)) })
    }

    /// The command line counts before the attribute; what is off, or wrong, goes without nothing.
    #[test]
    fn sets() {
        assert_eq!(skipped("", ""), SkipPasses::empty());
        assert_eq!(
            skipped("verify", "order=late;skip-passes=gvn+machine-sink"),
            SkipPasses::GVN | SkipPasses::MACHINE_SINK
        );
        assert_eq!(skipped("skip-passes=slsr", "skip-passes=gvn"), SkipPasses::SLSR);
        assert_eq!(skipped("skip-passes=slsr", "off"), SkipPasses::empty());
        assert_eq!(skipped("skip-passes=sl", ""), SkipPasses::empty());
    }

    /// LLVM's names are those of the option; a pass that is none of these has no bit.
    #[test]
    fn names() {
        // SAFETY: the text is alive.
        let bit = |pass: &str| unsafe { nvptx_ra_skip_bit(abi::borrow(pass)) };
        assert_eq!(bit("codegenprepare"), SkipPasses::CODE_GEN_PREPARE.bits());
        assert_eq!(bit("Loop Strength Reduction"), SkipPasses::LOOP_REDUCE.bits());
        assert_eq!((bit("nvptx-isel"), bit("")), (0, 0));
    }

    fn added(command_line: &str, attribute: &str) -> Vec<String> {
        // SAFETY: both texts are alive.
        let set = unsafe { nvptx_ra_added(abi::borrow(command_line), abi::borrow(attribute)) };
        // SAFETY: the text is static.
        let pipeline = |index| unsafe { abi::text(nvptx_ra_added_pipeline(set, index)) }.into_owned();
        (0..).map(pipeline).take_while(|pipeline| !pipeline.is_empty()).collect()
    }

    /// The command line counts before the attribute; what is off, or wrong, gets nothing.
    #[test]
    fn added_sets() {
        assert!(added("", "").is_empty());
        assert_eq!(added("verify", "order=late;add-passes=sink"), ["sink"]);
        assert_eq!(added("add-passes=sink", "add-passes=reassociate"), ["sink"]);
        assert!(added("add-passes=sink", "off").is_empty());
        assert!(added("add-passes=sunk", "").is_empty());
    }

    /// They run in the order of the list, however they are asked for, and every one of them has a pipeline.
    #[test]
    fn pipelines() {
        assert_eq!(added("", "add-passes=reg2mem+gvn-hoist"), ["gvn-hoist", "reg2mem,mem2reg"]);
        assert_eq!(added("add-passes=all", "").len(), AddPasses::all().iter().count());
    }
}
