//! The optimisations of LLVM that a function skips, and those that it adds.

use super::abi::{self, nvptx_ra_str};
use super::guard::entry;
use crate::config::{AddPasses, Config, Layers, SkipPasses};

/// Returns the optimisations that a function skips, as a bit set. Wrong options are ignored.
///
/// # Safety
/// The texts must be live, and their lengths must be correct.
// SAFETY: the shim declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_skipped(command_line: nvptx_ra_str, attribute: nvptx_ra_str) -> u32 {
    // SAFETY: as the caller promises.
    entry(|_| 0, || unsafe { of_function(command_line, attribute, |config| config.skip_passes) }.bits())
}

/// Returns the optimisations that a function adds, as a bit set. Wrong options are ignored.
///
/// # Safety
/// The texts must be live, and their lengths must be correct.
// SAFETY: the shim declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_added(command_line: nvptx_ra_str, attribute: nvptx_ra_str) -> u32 {
    // SAFETY: as the caller promises.
    entry(|_| 0, || unsafe { of_function(command_line, attribute, |config| config.add_passes) }.bits())
}

/// Returns the result of `of` for the options of a function. Ignores wrong options. Returns the default if the options
/// turn the plugin off for the function.
///
/// # Safety
/// The texts must be live, and their lengths must be correct.
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

/// Returns the bit of the optimisation with LLVM's name `pass`; 0 if it cannot be skipped.
///
/// # Safety
/// The text must be live, and its length must be correct.
// SAFETY: the shim declares this exact name.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn nvptx_ra_skip_bit(pass: nvptx_ra_str) -> u32 {
    // SAFETY: the caller promises the text.
    entry(|_| 0, || SkipPasses::of_pass(&unsafe { abi::text(pass) }).bits())
}

/// Returns LLVM's name of the `index`-th optimisation of a set, in the order of execution. Empty after the last.
// SAFETY: the shim declares this exact name.
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

    /// The command line takes precedence over the attribute. If the plugin is off or the option's value is wrong,
    /// nothing is skipped.
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

    /// LLVM's names are those of the option. Other passes have no bit.
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

    /// The command line takes precedence over the attribute. If the plugin is off or the option's value is wrong,
    /// nothing is added.
    #[test]
    fn added_sets() {
        assert!(added("", "").is_empty());
        assert_eq!(added("verify", "order=late;add-passes=sink"), ["sink"]);
        assert_eq!(added("add-passes=sink", "add-passes=reassociate"), ["sink"]);
        assert!(added("add-passes=sink", "off").is_empty());
        assert!(added("add-passes=sunk", "").is_empty());
    }

    /// The optimisations run in the order of the list, whatever the order of the option, and each has a pipeline.
    #[test]
    fn pipelines() {
        assert_eq!(added("", "add-passes=reg2mem+gvn-hoist"), ["gvn-hoist", "reg2mem,mem2reg"]);
        assert_eq!(added("add-passes=all", "").len(), AddPasses::all().iter().count());
    }
}
