//! Assign: the register files of a problem.

use super::super::availability::Timeline;
use super::super::problem::{File, FileData, Problem};
use super::super::registers::Registers;
use super::items::Item;
use crate::index::IndexVec;

/// The files of a problem, all free.
pub(super) fn files(problem: &Problem) -> IndexVec<File, Registers<Item>> {
    let peaks = problem.peaks();
    let timeline = Timeline::new(problem);
    let file = |(file, data): (File, &FileData)| {
        let units = data.register_limit.map_or(peaks[file], |register_limit| register_limit.min(peaks[file]));
        Registers::new(timeline.clone(), units)
    };
    problem.files().iter_enumerated().map(file).collect()
}
