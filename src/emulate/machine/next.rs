//! What comes behind an instruction: where threads go, or the end of the launch.

use super::frame::Frame;
use super::world::World;
use super::{Ran, halt};
use crate::emulate::memory::Origin;
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
    let source = origin(world, frame, row).text(&world.specials);
    halt(format!("{what} depends on a value that is undefined or not modelled: {source}"))
}

/// Where what is undefined in a row comes from.
pub(super) fn origin(world: &World<'_, '_>, frame: &Frame, row: Row) -> Origin {
    match world.function(frame.function).rows[row.0 as usize].init {
        Init::Special(Special::Unknown(name)) => world.special(name),
        _ => frame.origins[row.0 as usize],
    }
}
