//! Assign: the register files of a problem, and where an item would save a copy.

use super::super::availability::Timeline;
use super::super::problem::{File, FileData, Problem};
use super::super::registers::Registers;
use super::Run;
use super::items::Item;
use crate::index::IndexVec;

/// The files of a problem, all free.
pub(super) fn files(problem: &Problem) -> IndexVec<File, Registers<Item>> {
    let peaks = problem.peaks();
    let timeline = Timeline::new(problem);
    let file = |(file, data): (File, &FileData)| {
        let units = data.budget.map_or(peaks[file], |budget| budget.min(peaks[file]));
        Registers::new(timeline.clone(), units)
    };
    problem.files().iter_enumerated().map(file).collect()
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
