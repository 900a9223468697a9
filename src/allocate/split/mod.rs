//! Splitting: a live range that would be spilled everywhere is spilled around a loop, or in it, only.
//!
//! As NVIDIA's allocator is read to do it, long live ranges are split where loops begin and end, before they are
//! placed: [`parts`] makes another problem, with a live range for each part and links between them. Two engines work in
//! turns on the boundaries to split at, until neither changes anything, as ptxas is read to do it. The split engine
//! takes from an ordered [tree](candidates) those that [can pay](choice), the best first and so many in a round; the
//! merge engine makes parts one again where both sides are in registers, or both in memory, and such a boundary is not
//! tried again. The best of what comes out is kept, what was placed whole included: so splitting costs time, and never
//! bytes.

mod candidates;
mod choice;
mod parts;
mod regions;
mod settle;
#[cfg(test)]
mod tests;

use super::Allocator;
use super::allocation::{Allocation, Costs};
use super::links::families;
use super::placement::Placement;
use super::problem::{LiveRange, Problem, ProblemError};
use crate::analysis::Loop;
use crate::index::IndexVec;
use candidates::Candidates;
use parts::Parted;
use regions::Regions;

/// When and how far live ranges are split.
#[derive(Clone, Debug, PartialEq)]
pub struct Splitting {
    /// What spans more instructions is split; `None`: nothing is.
    pub threshold: Option<u32>,
    /// With more live ranges than these, all are split that may be; `None`: only long ones, however many there are.
    pub all_above: Option<u32>,
    /// Times that everything is placed anew.
    pub rounds: u32,
    /// Boundaries that are taken in one round.
    pub iterations: u32,
    /// A boundary is taken where it can save more words than these in one run of the function.
    pub least_gain: f32,
}

impl Splitting {
    /// All boundaries that can pay at once, for what spans more than `threshold` instructions.
    pub const fn at_once(threshold: Option<u32>) -> Self {
        Self { threshold, all_above: None, rounds: 3, iterations: u32::MAX, least_gain: 0.0 }
    }
}

/// A problem with live ranges split, and its allocation.
#[derive(Clone, Debug)]
pub struct Split {
    /// The problem with the parts; none where splitting brings nothing, and the given one is what was allocated.
    pub problem: Option<Problem>,
    /// The allocation, of that problem.
    pub allocation: Allocation,
}

/// Allocates a problem, and, where something is spilled, again with live ranges split at loops.
///
/// No more is moved, and no more is beyond the register limit, than where nothing is split. Costs what so many more allocations
/// do as there are rounds, at worst, where something is spilled and there is a loop to split at, and nothing elsewhere.
pub fn allocate(engine: &dyn Allocator, given: &Problem, splitting: &Splitting) -> Result<Split, ProblemError> {
    let mut best = Split { problem: None, allocation: engine.allocate(given)? };
    let Some(threshold) = splitting.threshold.filter(|_| !given.loops().is_empty()) else { return Ok(best) };
    let mut costs = best.allocation.costs(given);
    if costs.spilled == 0 {
        return Ok(best);
    }
    let has_many = splitting.all_above.is_some_and(|most| given.ranges().len() > most as usize);
    let threshold = if has_many { 0 } else { threshold };
    let regions = Regions::new(given);
    let long = given.ranges().ids().filter(|&range| may_split(given, range) && span(given, range) > threshold);
    let mut candidates = Candidates::new(given, &regions, long, splitting.least_gain);
    let mut chosen: IndexVec<LiveRange, Vec<Loop>> = IndexVec::filled(Vec::new(), given.ranges().len());
    let mut has_merged = false;
    for _ in 0..splitting.rounds {
        let has_split = candidates.take(splitting.iterations, &mut chosen);
        if !(has_split || has_merged) || chosen.iter().all(Vec::is_empty) {
            break;
        }
        let parted = parts::split(given, &regions, &chosen);
        let placed = match engine.allocate(&parted.problem) {
            // Whole, everything had a place: then the parts are no gain.
            Err(ProblemError::LimitNotMet { .. }) => break,
            placed => placed?,
        };
        let allocation = settle::settle(&parted.problem, placed);
        let now = allocation.costs(&parted.problem);
        has_merged = merge(&parted, &allocation, &regions, &mut chosen);
        if order(&now) < order(&costs) {
            costs = now;
            best = Split { problem: Some(parted.problem), allocation };
        }
    }
    Ok(best)
}

/// Parts become one again where both sides are in registers, or both in memory. Says whether there was such a boundary.
fn merge(
    parted: &Parted,
    allocation: &Allocation,
    regions: &Regions,
    chosen: &mut IndexVec<LiveRange, Vec<Loop>>,
) -> bool {
    let mut has_merged = false;
    for (loops, parts) in chosen.iter_mut().zip(families(&parted.problem)).filter(|(loops, _)| !loops.is_empty()) {
        let is_spilled = |at: Option<Loop>| {
            let part = parts.clone().map(LiveRange).find(|&part| parted.loop_of[part] == at)?;
            Some(matches!(allocation.placements[part], Placement::Spilled(_)))
        };
        let all = loops.clone();
        loops.retain(|&of| {
            let around = regions.chain(Some(of)).skip(1).find(|outer| all.contains(outer));
            is_spilled(Some(of)).zip(is_spilled(around)).is_some_and(|(inside, outside)| inside != outside)
        });
        has_merged |= loops.len() < all.len();
    }
    has_merged
}

/// What has its place already, or may not be spilled, is not split.
fn may_split(problem: &Problem, range: LiveRange) -> bool {
    let data = &problem.ranges()[range];
    data.fixed.is_none() && data.part_of.is_none() && data.spill_cost.is_finite()
}

/// A move between two registers counts a quarter of a word that is stored or reloaded: with it splitting can cost more
/// than it saves, and without it nothing says so.
fn order(costs: &Costs) -> (u64, f64) {
    (costs.over_limit, costs.moved_bytes + costs.link_moves)
}

/// How many instructions lie between a live range's first and last point.
fn span(problem: &Problem, range: LiveRange) -> u32 {
    match problem.segments(range) {
        [] => 0,
        [first, .., last] => (last.end.0 - first.start.0) / 4,
        [only] => (only.end.0 - only.start.0) / 4,
    }
}
