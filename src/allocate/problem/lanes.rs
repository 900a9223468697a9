//! Lanes: values that instructions want in consecutive registers, as parts of tuples.
//!
//! A *tuple* is a short live range, as wide as a row of registers that an instruction encodes as one operand. The
//! values in the row are separate live ranges, the tuple's *members*. Right before the instruction reads the row, its
//! input members are copied into it. Right after the instruction, its results are copied out of it, all at once. A
//! member that stays live has a hole during the tuple, because its value is in the row during that time. A member at
//! the place of its lane needs no copy and no additional register. A member at another place costs a move. Allocators
//! treat tuples as ordinary live ranges that may not be spilled. Lanes are only preferences.
//!
//! Instruction `i` reads rows at point `4i + 1`, after the copies into them at `4i`. It writes rows at `4i + 2`, before
//! the copies out of them at `4i + 3`.

use super::{LiveRange, Problem, at, write_point};
use crate::analysis::Point;
use crate::function::Inst;

/// A member of a tuple: the units of `tuple` from `offset` on are copied to or from `member`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lane {
    /// The instruction.
    pub inst: Inst,
    /// The tuple.
    pub tuple: LiveRange,
    /// First unit in the tuple, from 0.
    pub offset: u32,
    /// The copied live range.
    pub member: LiveRange,
    /// Whether the member is copied out of the tuple, after the instruction. Otherwise, the member is copied into the
    /// tuple.
    pub writes: bool,
    /// Executions of the instruction in one run of the function.
    pub frequency: f32,
}

/// Returns the point at which instruction `inst` reads tuples. Operands outside the tuples are held until the
/// instruction writes.
pub fn tuple_point(inst: Inst) -> Point {
    Point(4 * inst.0 + 1)
}

/// Returns the point at which instruction `inst` copies results out of its tuples.
pub fn lane_point(inst: Inst) -> Point {
    Point(4 * inst.0 + 3)
}

impl Problem {
    /// Returns the lanes, by instruction, then by tuple and offset.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// Returns the lanes of an instruction. O(log lanes).
    pub fn lanes_at(&self, inst: Inst) -> &[Lane] {
        at(&self.lanes, inst, |lane| lane.inst)
    }

    /// Whether a segment that starts at this point resumes after a tuple, which may have held the value.
    pub(in crate::allocate) fn resumes_at(&self, range: LiveRange, start: Point) -> bool {
        let inst = Inst(start.0 / 4);
        !self.lanes.is_empty()
            && start == write_point(inst)
            && self.lanes_at(inst).iter().any(|lane| lane.member == range && !lane.writes)
    }
}
