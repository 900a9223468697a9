//! Placement of a live range, and the cost of keeping it in memory.

use super::problem::{Access, AccessKind, LiveRange, Problem};
use crate::define_index;

define_index! {
    /// A stack slot for spilled values.
    SpillSlot, "slot"
}

/// Placement of a live range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// In registers from this unit on, for all of its life.
    Register(u32),
    /// In memory, and in separate registers at its reads and writes.
    Spilled(SpillSlot),
}

/// Returns the bytes that an access to a spilled live range moves in one run of the function.
pub(crate) fn moved_bytes(problem: &Problem, range: LiveRange, access: &Access) -> f64 {
    let times = if access.kind == AccessKind::Update { 2.0 } else { 1.0 };
    times * f64::from(access.frequency) * f64::from(problem.class(range).bytes)
}
