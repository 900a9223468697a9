//! Assign: the places of one register file, who holds them, and which are free.

use std::ops::Range;

use super::super::occupied::Occupied;
use super::super::problem::{ClassData, File, FileData, Problem};
use super::Run;
use super::availability::{Availability, Timeline};
use super::items::Item;
use crate::analysis::{IntervalTree, Segment};
use crate::index::IndexVec;

/// One register file.
pub(super) struct Registers {
    availability: Availability,
    /// By unit: who holds it when.
    holders: Vec<IntervalTree<Item>>,
    occupied: Occupied,
}

/// The files of a problem, all free.
pub(super) fn files(problem: &Problem) -> IndexVec<File, Registers> {
    let peaks = problem.peaks();
    let timeline = Timeline::new(problem);
    let file = |(file, data): (File, &FileData)| Registers {
        availability: Availability::new(
            timeline.clone(),
            data.budget.map_or(peaks[file], |budget| budget.min(peaks[file])),
        ),
        holders: Vec::new(),
        occupied: Occupied::default(),
    };
    problem.files().iter_enumerated().map(file).collect()
}

impl Registers {
    /// Gives units to an item, for its segments.
    pub(super) fn occupy(&mut self, segments: &[Segment], units: Range<u32>, item: Item) {
        if self.holders.len() < units.end as usize {
            self.holders.resize_with(units.end as usize, IntervalTree::new);
        }
        for unit in units {
            self.holders[unit as usize].insert(segments, item);
            self.availability.take(segments, unit);
        }
    }

    /// Takes units back.
    pub(super) fn vacate(&mut self, segments: &[Segment], units: Range<u32>) {
        for unit in units {
            self.holders[unit as usize].remove(segments);
            self.availability.give_back(segments, unit);
        }
    }

    /// A place that is free at all of these segments: the first of the wanted ones, else the lowest.
    pub(super) fn free_place(
        &mut self,
        class: &ClassData,
        segments: &[Segment],
        budget: Option<u32>,
        wanted: &[u32],
    ) -> Option<u32> {
        self.availability.occupied(segments, &mut self.occupied);
        let mut wanted = wanted.iter().copied();
        wanted
            .find(|&unit| self.occupied.is_free(class, unit, budget))
            .or_else(|| self.occupied.first_free(class, budget))
    }

    /// The lowest free place, whatever the budget is.
    pub(super) fn place_beyond(&mut self, class: &ClassData, segments: &[Segment]) -> u32 {
        self.free_place(class, segments, None, &[]).unwrap_or(0)
    }

    /// Who holds a unit at a time that is wanted, each time that he does.
    pub(super) fn holders<'a>(&'a self, unit: u32, segments: &'a [Segment]) -> impl Iterator<Item = Item> + 'a {
        let holders = self.holders.get(unit as usize);
        holders.into_iter().flat_map(|tree| tree.overlaps(segments)).map(|overlap| overlap.owner)
    }
}

impl Run<'_> {
    /// Where an item would save a copy, the most frequent first.
    pub(super) fn hints(&self, item: Item) -> Vec<u32> {
        let width = self.items.class(item).width;
        let partners = self.items.partners(item).iter().map(|&partner| Item::whole(partner));
        partners
            .filter(|&partner| self.items.class(partner).width == width)
            .filter_map(|partner| self.unit[partner])
            .collect()
    }
}
