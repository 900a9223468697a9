//! Places in one sequence: the units of all files, followed by the slots.

use crate::allocate::allocation::Allocation;
use crate::allocate::placement::{Placement, SpillSlot};
use crate::allocate::problem::{File, LiveRange, Problem};
use crate::define_index;
use crate::index::IndexVec;

define_index! {
    /// A unit of a register file, or a slot in memory.
    Place, "place"
}

/// Numbering of places.
#[derive(Debug)]
pub(super) struct Places {
    /// First unit of each file. The gap between two files is wider than any live range.
    first: IndexVec<File, u32>,
    /// Used units of each file.
    used: IndexVec<File, u32>,
    first_slot: u32,
    len: usize,
    /// Width in units of the widest live range that has accesses.
    pub(super) widest: u32,
}

impl Places {
    pub(super) fn new(problem: &Problem, allocation: &Allocation) -> Self {
        let widths = problem.ranges().ids().map(|range| problem.class(range).width);
        let gap = widths.max().unwrap_or(1);
        let accessed = problem.ranges().ids().filter(|&range| !problem.accesses(range).is_empty());
        let widest = accessed.map(|range| problem.class(range).width).max().unwrap_or(1);
        let (mut first, mut next) = (IndexVec::new(), gap);
        let used: IndexVec<File, u32> = allocation.costs_of(problem, |_| true).units.into_iter().collect();
        for units in used.iter() {
            first.push(next);
            next += units + gap;
        }
        let slots = allocation.placements.iter().filter_map(|placement| match placement {
            Placement::Spilled(slot) => Some(slot.0 + 1),
            Placement::Register(_) => None,
        });
        let len = (next + slots.max().unwrap_or(0)) as usize;
        Self { first, used, first_slot: next, len, widest }
    }

    /// Returns the number of places.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn unit(&self, file: File, unit: u32) -> Place {
        Place(self.first[file] + unit)
    }

    /// Whether a unit is used.
    pub(super) fn has_unit(&self, file: File, unit: u32) -> bool {
        unit < self.used[file]
    }

    pub(super) fn slot(&self, slot: SpillSlot) -> Place {
        Place(self.first_slot + slot.0)
    }

    /// Returns the unit of a place; `None` for a slot.
    pub(super) fn unit_of(&self, file: File, place: Place) -> Option<u32> {
        (place.0 < self.first_slot).then(|| place.0 - self.first[file])
    }

    /// Returns the place that an allocation gives to a live range.
    pub(super) fn home(&self, problem: &Problem, allocation: &Allocation, range: LiveRange) -> Place {
        match allocation.placements[range] {
            Placement::Register(unit) => self.unit(problem.file(range), unit),
            Placement::Spilled(slot) => self.slot(slot),
        }
    }
}
