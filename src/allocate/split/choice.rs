//! Loops at whose boundaries it can pay to split a live range.

use super::parts::times;
use super::regions::Regions;
use crate::allocate::problem::{LiveRange, Problem, read_point};
use crate::analysis::Loop;

/// Finds the loops for which a live range should have a part of its own. The condition is that its accesses inside the
/// loop, or its accesses outside, are more frequent than the crossings of the boundary. If only one side is then
/// spilled, the live range moves less data than if it is spilled everywhere. Each loop comes with the most words that a
/// split can save, for a live range of one word.
pub(super) fn loops_to_split_at(problem: &Problem, regions: &Regions, range: LiveRange) -> Vec<(Loop, f64)> {
    let loops = problem.loops();
    let mut boundary = vec![0.0; loops.len()];
    for crossing in regions.crossed(problem, range) {
        let inside: Vec<Loop> = regions.chain(crossing.to).collect();
        let before: Vec<Loop> = regions.chain(crossing.from).collect();
        let entered = inside.iter().filter(|of| !before.contains(of));
        let left = before.iter().filter(|of| !inside.contains(of));
        for of in entered.chain(left) {
            boundary[of.0 as usize] += f64::from(crossing.frequency);
        }
    }
    let mut accesses = vec![0.0; loops.len()];
    let mut all = 0.0;
    for access in problem.accesses(range) {
        all += times(access);
        if let Some(innermost) = regions.innermost(read_point(access.inst)) {
            accesses[innermost.0 as usize] += times(access);
        }
    }
    let mut chosen = Vec::new();
    let mut inside = accesses.clone();
    for (of, data) in loops.iter_enumerated() {
        let number = of.0 as usize;
        let outside = all - inside[number];
        let gain = accesses[number].max(outside) - boundary[number];
        if boundary[number] > 0.0 && gain > 0.0 {
            chosen.push((of, gain));
        } else if let Some(parent) = data.parent {
            // Accesses of an inner loop at which the live range is not split count for the loop around it.
            accesses[parent.0 as usize] += accesses[number];
        }
        if let Some(parent) = data.parent {
            inside[parent.0 as usize] += inside[number];
        }
    }
    // If neither a loop nor its parent has accesses, the live range is split at the inner boundary only if that
    // boundary is crossed less often than the parent's.
    let is_idle = |of: Loop| inside[of.0 as usize] == 0.0;
    let inner_most_wanted = |(of, _): &(Loop, f64)| {
        let around = loops[*of].parent.filter(|parent| is_idle(*parent));
        !(is_idle(*of) && around.is_some_and(|parent| boundary[parent.0 as usize] <= boundary[of.0 as usize]))
    };
    chosen.into_iter().filter(inner_most_wanted).collect()
}
