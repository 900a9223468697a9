//! Control flow after an instruction: where threads continue, or why the launch stops.

use super::frame::Frame;
use super::world::World;
use super::{Ran, halt};
use crate::emulate::memory::Origin;
use crate::emulate::program::{Init, Row, Special};

/// Where the threads continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// At the next instruction.
    Go,
    /// All threads at another instruction.
    Jump(u32),
    /// At the next instruction, after other threads have run.
    Yield,
    /// The instruction has already set each thread's position.
    Placed,
    /// As for `Placed`, but after other threads have run.
    Pause,
}

/// Stops a launch because of an undefined value.
pub(super) fn undefined<T>(world: &World<'_, '_>, frame: &Frame, row: Row, what: &str) -> Ran<T> {
    let source = origin(world, frame, row).text(&world.specials);
    halt(format!("{what} depends on a value that is undefined or not modelled: {source}"))
}

/// Returns the origin of a row's undefined bytes.
pub(super) fn origin(world: &World<'_, '_>, frame: &Frame, row: Row) -> Origin {
    match world.function(frame.function).rows[row.0 as usize].init {
        Init::Special(Special::Unknown(name)) => world.special(name),
        _ => frame.origins[row.0 as usize],
    }
}
