//! Converts the launch of reduced PTX for the emulator.

use nvptx_ra::emulate::{Argument, Launches};
use nvptx_ra::reduce::Launch;

/// Returns a set with one launch.
pub(super) fn launches(launch: &Launch, extremes: bool) -> Launches {
    let argument = |bytes: &Option<Vec<u8>>| bytes.clone().map_or(Argument::Drawn, Argument::Bytes);
    Launches {
        count: 1,
        more: 0,
        seed: launch.seed,
        grid: Some(launch.grid),
        block: Some(launch.block),
        arguments: launch.arguments.iter().map(argument).collect(),
        extremes,
        ..Launches::default()
    }
}
