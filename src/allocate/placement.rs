//! Where a live range is kept, and what it costs to keep it in memory.

use super::problem::{Access, AccessKind, LiveRange, Problem};
use crate::define_index;

define_index! {
    /// A stack slot for spilled values.
    SpillSlot, "slot"
}

/// Where a live range is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// In registers from this unit on, for all of its life.
    Register(u32),
    /// In memory, and in registers of their own where it is read and written.
    Spilled(SpillSlot),
}

/// Bytes that an access to a spilled live range moves in one run of the function.
pub(crate) fn moved_bytes(problem: &Problem, range: LiveRange, access: &Access) -> f64 {
    let times = if access.kind == AccessKind::Update { 2.0 } else { 1.0 };
    times * f64::from(access.frequency) * f64::from(problem.class(range).bytes)
}
