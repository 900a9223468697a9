//! Who would save a copy by being in the same place.

use super::problem::{LiveRange, Problem};
use crate::analysis::Grouping;

/// The other sides of each live range's copies and links, most frequent first.
pub(super) fn partners(problem: &Problem) -> Grouping<LiveRange, LiveRange> {
    let mut sides: Vec<(LiveRange, LiveRange, f32)> = Vec::new();
    for copy in problem.copies() {
        sides.push((copy.to, copy.from, copy.frequency));
        sides.push((copy.from, copy.to, copy.frequency));
    }
    for link in problem.links().iter().filter(|link| link.to != link.from) {
        sides.push((link.to, link.from, link.frequency));
        sides.push((link.from, link.to, link.frequency));
    }
    sides.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.1.cmp(&b.1)));
    Grouping::new(problem.ranges().len(), sides.iter().map(|&(range, partner, _)| (range, partner)))
}
