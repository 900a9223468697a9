//! Settle: spills parts that are in registers but would cost less in memory, because other parts of the same register
//! are spilled.
//!
//! The engines weigh a part as if the other parts had registers. If the other parts are spilled, the part's links may
//! cost more than its accesses. For example, a rarely used part between spilled parts is only stored and reloaded.
//! Spilling such a part needs no additional registers: each of its accesses keeps the part's place. No other live range
//! needs the place there, because only copies of one value may share a place, and parts that are copied are left out.

use std::ops::Range;

use crate::allocate::allocation::Allocation;
use crate::allocate::check::check_allocation;
use crate::allocate::links::{families, family_bytes};
use crate::allocate::placement::Placement;
use crate::allocate::problem::{AccessKind, LiveRange, Problem};
use crate::index::IndexVec;

/// Spills parts as long as this saves bytes. O(parts² · (accesses + links)) for each register.
///
/// A live range without writes may also share its place with other live ranges. In this case the checker refuses the
/// result, and nothing is changed.
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

/// Whether a part may be spilled: its accesses must use its place only while the part is live. An early write could use
/// the place before that, because the part may only start after a read by the same instruction.
fn may_spill(problem: &Problem, part: LiveRange) -> bool {
    problem.ranges()[part].spill_cost.is_finite()
        && problem.accesses(part).iter().all(|access| access.kind != AccessKind::EarlyWrite)
}
