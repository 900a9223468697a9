//! What comes behind an instruction: where threads go, or the end of the launch.

use super::warp::Frame;
use super::world::World;
use super::{Ran, halt};
use crate::emulate::program::{Init, Row, Special};

/// Where the threads go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// To the next instruction.
    Go,
    /// All of them elsewhere.
    Jump(u32),
    /// To the next instruction, after others.
    Yield,
    /// It is said already where each goes.
    Placed,
    /// The same, after others.
    Pause,
}

/// Ends a launch because of an undefined value.
pub(super) fn undefined<T>(world: &World<'_, '_>, frame: &Frame, row: Row, what: &str) -> Ran<T> {
    let source = unknown(world, frame, row).map_or_else(|| world.undefined_source(), str::to_owned);
    halt(format!("{what} depends on a value that is undefined or not modelled: {source}"))
}

/// The name of a special register that is not modelled, where a row holds one.
pub(super) fn unknown(world: &World<'_, '_>, frame: &Frame, row: Row) -> Option<&'static str> {
    match world.function(frame.function).rows[row.0 as usize].init {
        Init::Special(Special::Unknown(name)) => Some(name),
        _ => None,
    }
}
