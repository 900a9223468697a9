//! Splitting: a live range that would be spilled everywhere is spilled only outside a loop, or only inside it.
//!
//! As NVIDIA's allocator is read to do it, long live ranges are split at the boundaries of loops before they are
//! placed. [`parts`] builds another problem, with a live range for each part and links between the parts. Two engines
//! alternate until neither changes anything, as ptxas is read to do it. The split engine takes boundaries at which a
//! split [can pay](choice) from an ordered [tree](candidates): in each round, a fixed number of the best boundaries.
//! The merge engine merges parts again if both sides are in registers, or both in memory. It does not try such a
//! boundary again. The best result is kept, and the result without splits is one of those compared. So splitting costs
//! time, but never bytes.

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

/// Rules for splitting live ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct Splitting {
    /// Live ranges that span more instructions than this are split; `None`: no live range is split.
    pub threshold: Option<u32>,
    /// If the problem has more live ranges than this, all live ranges that may be split are split. `None`: only long
    /// live ranges are split.
    pub all_above: Option<u32>,
    /// Number of times that the whole problem is allocated again.
    pub rounds: u32,
    /// Number of boundaries that one round takes.
    pub iterations: u32,
    /// A boundary is taken only if it can save more words than this in one run of the function.
    pub least_gain: f32,
}

impl Splitting {
    /// Rules that take all boundaries that can pay in one round, for live ranges that span more than `threshold`
    /// instructions.
    pub const fn at_once(threshold: Option<u32>) -> Self {
        Self { threshold, all_above: None, rounds: 3, iterations: u32::MAX, least_gain: 0.0 }
    }
}

/// The result of splitting: a problem, possibly with split live ranges, and its allocation.
#[derive(Clone, Debug)]
pub struct Split {
    /// The problem with the parts. `None` if splitting gains nothing; the allocation is then for the given problem.
    pub problem: Option<Problem>,
    /// The allocation of this problem.
    pub allocation: Allocation,
}

/// Allocates a problem. If a live range is spilled, the problem is allocated again, with live ranges split at loops.
///
/// Compared with an allocation without splits, the result moves no more bytes and exceeds the register limit by no
/// more. At worst, the cost is one additional allocation for each round. There is no additional cost if no live range
/// is spilled or there is no loop at which to split.
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
            // The problem without splits has an allocation, so the parts gain nothing.
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

/// Merges parts again if both sides are in registers, or both in memory. Returns whether there was such a boundary.
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

/// Whether a live range may be split. It must not be fixed, must not be a part already, and must be spillable.
fn may_split(problem: &Problem, range: LiveRange) -> bool {
    let data = &problem.ranges()[range];
    data.fixed.is_none() && data.part_of.is_none() && data.spill_cost.is_finite()
}

/// Returns the sort key of costs. A word that moves between two registers counts as a quarter of a word that is stored
/// or reloaded. Without this weight, splits that cost more than they save would be accepted.
fn order(costs: &Costs) -> (u64, f64) {
    (costs.over_limit, costs.moved_bytes + costs.link_moves)
}

/// Returns the number of instructions between a live range's first and last point.
fn span(problem: &Problem, range: LiveRange) -> u32 {
    match problem.segments(range) {
        [] => 0,
        [first, .., last] => (last.end.0 - first.start.0) / 4,
        [only] => (only.end.0 - only.start.0) / 4,
    }
}
