//! Settle: spills parts in registers that would cost less in memory, beside spilled parts.
//!
//! The engines weigh a part as if the other parts had registers. If the others are spilled, the part's links may cost
//! more than its accesses: a rarely used part between spilled ones is only stored and reloaded. Spilling it needs no
//! additional registers. At its accesses it keeps its place, which it shares only with copies of itself.

use std::ops::Range;

use crate::allocate::allocation::Allocation;
use crate::allocate::check::check_allocation;
use crate::allocate::links::{families, family_bytes};
use crate::allocate::placement::Placement;
use crate::allocate::problem::{AccessKind, LiveRange, Problem};
use crate::index::IndexVec;

/// Spills parts as long as that saves bytes. O(parts² · (accesses + links)) for each register.
///
/// A live range without writes may share its place with other live ranges, too. Then the checker refuses the result,
/// and nothing is changed.
pub(super) fn settle(problem: &Problem, allocation: Allocation) -> Allocation {
    let mut is_copied: IndexVec<LiveRange, bool> = IndexVec::filled(false, problem.ranges().len());
    for copy in problem.copies() {
        is_copied[copy.to] = true;
        is_copied[copy.from] = true;
    }
    let mut settled = allocation.clone();
    let mut has_changed = false;
    for parts in families(problem).filter(|parts| parts.len() > 1) {
        has_changed |= settle_family(problem, &parts, &is_copied, &mut settled);
    }
    settled.number_slots(problem);
    if has_changed && check_allocation(problem, &settled).is_ok() { settled } else { allocation }
}

/// Spills parts of one register. Returns whether it spilled any.
fn settle_family(
    problem: &Problem,
    parts: &Range<u32>,
    is_copied: &IndexVec<LiveRange, bool>,
    allocation: &mut Allocation,
) -> bool {
    let placements = &mut allocation.placements;
    let slot = parts.clone().find_map(|part| match placements[LiveRange(part)] {
        Placement::Spilled(slot) => Some(slot),
        Placement::Register(_) => None,
    });
    let Some(slot) = slot else { return false };
    let mut bytes = family_bytes(problem, parts, placements);
    let mut has_changed = false;
    loop {
        let mut best: Option<(f64, LiveRange, u32)> = None;
        for part in parts.clone().map(LiveRange) {
            let Placement::Register(unit) = placements[part] else { continue };
            if is_copied[part] || !may_spill(problem, part) {
                continue;
            }
            placements[part] = Placement::Spilled(slot);
            let now = family_bytes(problem, parts, placements);
            placements[part] = Placement::Register(unit);
            if now < best.map_or(bytes, |(least, ..)| least) {
                best = Some((now, part, unit));
            }
        }
        let Some((least, part, unit)) = best else { return has_changed };
        placements[part] = Placement::Spilled(slot);
        let first = problem.first_access(part);
        allocation.pieces[first..first + problem.accesses(part).len()].fill(Some(unit));
        bytes = least;
        has_changed = true;
    }
}

/// Whether the accesses of a part use its place only at points at which it is live. As a live range, an early write may
/// wait for a read by the same instruction.
fn may_spill(problem: &Problem, part: LiveRange) -> bool {
    problem.ranges()[part].spill_cost.is_finite()
        && problem.accesses(part).iter().all(|access| access.kind != AccessKind::EarlyWrite)
}
