//! Spill costs of a function's live ranges, by a preset.

use super::aggregate::in_diamonds;
use super::live_counts::live_counts;
use super::{Access, File, LiveRange, Problem};
use crate::allocate::cost::{Accessed, Usage};
use crate::allocate::eligibility::RangeCosts;
use crate::allocate::preset::Preset;
use crate::index::IndexVec;

/// Properties of a live range that come from the function.
pub(super) struct RangeContext {
    /// Loop depth of the blocks in which the live range is live, weighted by their frequency.
    pub(super) loop_depth: f32,
    /// Whether the value is the same in all threads of a warp.
    pub(super) is_uniform: bool,
}

/// Sets the spill cost of each live range of the function. `context` returns `None` for live ranges that represent no
/// register of the function.
pub(super) fn set_costs(problem: &mut Problem, preset: &Preset, context: impl Fn(LiveRange) -> Option<RangeContext>) {
    let peaks = problem.peaks();
    let live_bytes = peaks.iter().sum::<u32>().saturating_mul(if preset.packs_halves { 2 } else { 4 });
    let is_high =
        |file: File| problem.files()[file].register_limit.is_some_and(|register_limit| peaks[file] > register_limit);
    let live_counts = preset.eligibility.density.map(|_| live_counts(problem));
    let mut range_costs: IndexVec<LiveRange, Option<RangeCosts>> = IndexVec::filled(None, problem.ranges().len());
    for range in problem.ranges().ids() {
        let Some(RangeContext { loop_depth, is_uniform }) = context(range) else { continue };
        let (accesses, file) = (problem.accesses(range), problem.file(range));
        let sum = |wanted: &dyn Fn(&Access) -> bool| -> f32 {
            accesses.iter().filter(|access| wanted(access)).map(|access| access.frequency).sum()
        };
        let last_write = accesses.iter().rev().find(|access| access.writes()).map(|access| access.inst);
        let usage = Usage {
            written: sum(&Access::writes),
            read: sum(&Access::reads),
            loop_depth,
            words: problem.class(range).bytes / 4,
            is_uniform,
        };
        let accessed = Accessed { live_bytes, is_high: is_high(file) };
        let behind = sum(&|access| access.reads() && last_write.is_none_or(|write| access.inst > write));
        let data = &problem.files()[file];
        let density = live_counts
            .as_ref()
            .zip(data.register_limit)
            .map(|(live_counts, register_limit)| register_limit / live_counts[range].max(1));
        range_costs[range] = Some(RangeCosts {
            primary: preset.cost.cost(&usage, accessed),
            secondary: behind * usage.words as f32 * preset.cost.of_access(accessed),
            density,
        });
    }
    if preset.aggregates_copies {
        for copy in in_diamonds(problem) {
            if let (Some(to), Some(from)) = (range_costs[copy.to], &mut range_costs[copy.from]) {
                from.primary += to.primary;
                from.secondary += to.secondary;
            }
        }
    }
    for (range, costs) in range_costs.iter_enumerated() {
        if let Some(costs) = costs {
            problem.ranges[range].spill_cost = preset.eligibility.cost(costs);
        }
    }
}
