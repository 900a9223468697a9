//! Lanes: what instructions want in consecutive registers, and what is there.
//!
//! A *tuple* is a short live range, as wide as a row of registers that one instruction names as one. What stands in the
//! row are live ranges of their own, its *members*: right before the instruction reads the row they are copied into it,
//! and right behind the instruction they are copied out of it, all at once. A member that lives on has a hole where the
//! tuple is: its value is in the row then. So a member that has the place of its lane is copied nowhere, and costs no
//! register besides; one that has not costs a move. Nothing else is said of tuples: to whoever places them they are
//! live ranges like others, which may not be spilled, and lanes are wishes.
//!
//! Instruction `i` reads rows at point `4i + 1`, behind what is copied into them at `4i`, and writes them at `4i + 2`,
//! from where they are copied at `4i + 3`.

use super::{LiveRange, Problem, at, write_point};
use crate::analysis::Point;
use crate::function::Inst;

/// A member of a tuple: the units of `tuple` from `offset` on are what `member` is copied to or from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lane {
    /// The instruction.
    pub inst: Inst,
    /// The tuple.
    pub tuple: LiveRange,
    /// The unit in it, from 0.
    pub offset: u32,
    /// What is copied.
    pub member: LiveRange,
    /// The member is copied out of the tuple, behind the instruction; else into it.
    pub writes: bool,
    /// How often the instruction runs in one run of the function.
    pub frequency: f32,
}

/// Where instruction `inst` reads tuples; what it reads besides is held until it writes.
pub fn tuple_point(inst: Inst) -> Point {
    Point(4 * inst.0 + 1)
}

/// Where what instruction `inst` has written to a tuple is copied out of it.
pub fn lane_point(inst: Inst) -> Point {
    Point(4 * inst.0 + 3)
}

impl Problem {
    /// The lanes, by instruction, then by tuple and offset.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The lanes of an instruction. O(log lanes).
    pub fn lanes_at(&self, inst: Inst) -> &[Lane] {
        at(&self.lanes, inst, |lane| lane.inst)
    }

    /// Whether a segment that starts here goes on behind a tuple, where its value may come from.
    pub(in crate::allocate) fn resumes_at(&self, range: LiveRange, start: Point) -> bool {
        let inst = Inst(start.0 / 4);
        !self.lanes.is_empty()
            && start == write_point(inst)
            && self.lanes_at(inst).iter().any(|lane| lane.member == range && !lane.writes)
    }
}
