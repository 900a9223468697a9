//! Places of one register file: the holders of its units, and the free places.

use std::ops::Range;
use std::sync::Arc;

use super::availability::{Availability, Timeline};
use super::occupied::Occupied;
use super::problem::ClassData;
use crate::analysis::{IntervalTree, Segment};

/// One register file, whose units are held by items `T`.
#[derive(Clone, Debug)]
pub(super) struct Registers<T> {
    availability: Availability,
    /// By unit: the items that hold the unit, over time.
    holders: Vec<IntervalTree<T>>,
    occupied: Occupied,
}

impl<T: Copy> Registers<T> {
    /// Creates a file with all units free. It may grow beyond `units`.
    pub(super) fn new(timeline: Arc<Timeline>, units: u32) -> Self {
        let availability = Availability::new(timeline, units);
        Self { availability, holders: Vec::new(), occupied: Occupied::default() }
    }

    /// Gives units to an item, for its segments.
    pub(super) fn occupy(&mut self, segments: &[Segment], units: Range<u32>, item: T) {
        if self.holders.len() < units.end as usize {
            self.holders.resize_with(units.end as usize, IntervalTree::new);
        }
        for unit in units {
            self.holders[unit as usize].insert(segments, item);
            self.availability.take(segments, unit);
        }
    }

    /// Frees units.
    pub(super) fn vacate(&mut self, segments: &[Segment], units: Range<u32>) {
        for unit in units {
            self.holders[unit as usize].remove(segments);
            self.availability.give_back(segments, unit);
        }
    }

    /// Returns the units that are taken at some time in the segments.
    pub(super) fn occupied(&mut self, segments: &[Segment]) -> &Occupied {
        self.availability.occupied(segments, &mut self.occupied);
        &self.occupied
    }

    /// Returns a place that is free in all of these segments: the first of the wanted places that is free, or else the
    /// lowest free place.
    pub(super) fn free_place(
        &mut self,
        class: &ClassData,
        segments: &[Segment],
        register_limit: Option<u32>,
        wanted: &[u32],
    ) -> Option<u32> {
        let occupied = self.occupied(segments);
        let mut wanted = wanted.iter().copied();
        wanted
            .find(|&unit| occupied.is_free(class, unit, register_limit))
            .or_else(|| occupied.first_free(class, register_limit))
    }

    /// Returns the lowest free place, even beyond the register limit.
    pub(super) fn place_beyond(&mut self, class: &ClassData, segments: &[Segment]) -> u32 {
        self.free_place(class, segments, None, &[]).unwrap_or(0)
    }

    /// Returns the holders of a unit during the segments. A holder is repeated for each time that it holds the unit.
    pub(super) fn holders<'a>(&'a self, unit: u32, segments: &'a [Segment]) -> impl Iterator<Item = T> + 'a {
        let holders = self.holders.get(unit as usize);
        holders.into_iter().flat_map(|tree| tree.overlaps(segments)).map(|overlap| overlap.owner)
    }
}
