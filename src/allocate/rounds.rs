//! Rounds: before spill code exists, each use and definition of a spilled live range becomes a short live range.

use super::allocation::{Allocation, AllocationStatistics};
use super::placement::{Placement, SpillSlot};
use super::problem::{Access, CopyInst, Lane, Link, LiveRange, Problem, ProblemBuilder};
use crate::function::Inst;
use crate::index::{EntityIndex, IndexVec};

/// Relation of a round's live range to the given problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// A live range.
    Whole(LiveRange),
    /// The register for one access to a spilled live range, by the access's number.
    Piece(usize),
}

/// The given problem, and the problem after some of its live ranges are spilled.
#[derive(Debug)]
pub(super) struct Rounds<'a> {
    given: &'a Problem,
    /// The problem of this round; `None` for the given problem.
    changed: Option<Problem>,
    origins: IndexVec<LiveRange, Origin>,
    slots: IndexVec<LiveRange, Option<SpillSlot>>,
    num_slots: u32,
}

impl<'a> Rounds<'a> {
    /// Creates the first round.
    pub(super) fn new(given: &'a Problem) -> Self {
        Self {
            given,
            changed: None,
            origins: given.ranges().ids().map(Origin::Whole).collect(),
            slots: IndexVec::filled(None, given.ranges().len()),
            num_slots: 0,
        }
    }

    /// Returns the problem of this round.
    pub(super) fn problem(&self) -> &Problem {
        self.changed.as_ref().unwrap_or(self.given)
    }

    /// Spills live ranges of this round, and begins the next round. O(problem).
    pub(super) fn spill(&mut self, ranges: &[LiveRange]) {
        for &range in ranges {
            if let Origin::Whole(given) = self.origins[range] {
                self.slots[given] = Some(SpillSlot::new(self.num_slots as usize));
                self.num_slots += 1;
            }
        }
        self.build();
    }

    fn build(&mut self) {
        let given = self.given;
        let mut builder = ProblemBuilder::like(given);
        let mut origins: IndexVec<LiveRange, Origin> = IndexVec::new();
        // By live range of the given problem: its live range in the new problem, or its first piece.
        let mut firsts = IndexVec::new();
        for (range, data) in given.ranges().iter_enumerated() {
            let accesses = given.accesses(range);
            if self.slots[range].is_none() {
                let new = builder.range(data.class, given.segments(range).iter().copied(), accesses.iter().copied());
                builder.spill_cost(new, data.spill_cost);
                if let Some(unit) = data.fixed {
                    builder.fix(new, unit);
                }
                origins.push(Origin::Whole(range));
                firsts.push(new);
                continue;
            }
            let mut first = origins.next_id();
            for (number, access) in (given.first_access(range)..).zip(accesses) {
                first = first.min(builder.piece(data.class, *access));
                origins.push(Origin::Piece(number));
            }
            firsts.push(first);
        }
        for &CopyInst { inst, to, from, frequency } in given.copies() {
            let to = firsts[to].index() + self.piece_at(to, inst, Access::writes);
            let from = firsts[from].index() + self.piece_at(from, inst, Access::reads);
            builder.copy(CopyInst { inst, to: LiveRange::new(to), from: LiveRange::new(from), frequency });
        }
        // A spilled member is reloaded directly into its lane, and stored from its lane.
        for &lane in given.lanes().iter().filter(|lane| self.slots[lane.member].is_none()) {
            builder.lane(Lane { tuple: firsts[lane.tuple], member: firsts[lane.member], ..lane });
        }
        for &Link { start, to, from, frequency } in given.links() {
            if self.slots[to].is_none() {
                // If `from` is spilled, the value of `to` comes from memory: `to` starts with a new value, and has no
                // partner.
                let from = if self.slots[from].is_none() { from } else { to };
                builder.link(Link { start, to: firsts[to], from: firsts[from], frequency });
            }
        }
        self.origins = origins;
        self.changed = Some(builder.finish());
    }

    /// Returns the index of the piece that an instruction uses, among the pieces of a spilled live range. 0 if the live
    /// range is not spilled.
    fn piece_at(&self, range: LiveRange, inst: Inst, wanted: fn(&Access) -> bool) -> usize {
        if self.slots[range].is_none() {
            return 0;
        }
        let accesses = self.given.accesses(range);
        accesses.iter().position(|access| access.inst == inst && wanted(access)).unwrap_or(0)
    }

    /// Returns the allocation of the given problem. Every live range of this round must have a place.
    pub(super) fn allocation(&self, units: &IndexVec<LiveRange, u32>, statistics: AllocationStatistics) -> Allocation {
        let mut allocation = Allocation { statistics, ..Allocation::blank(self.given) };
        for (range, &slot) in self.slots.iter_enumerated() {
            if let Some(slot) = slot {
                allocation.spill(range, slot);
            }
        }
        for (range, &origin) in self.origins.iter_enumerated() {
            match origin {
                Origin::Whole(given) => allocation.placements[given] = Placement::Register(units[range]),
                Origin::Piece(number) => allocation.pieces[number] = Some(units[range]),
            }
        }
        if !self.given.links().is_empty() {
            allocation.number_slots(self.given);
        }
        allocation
    }
}
