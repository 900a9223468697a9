//! Coalesce: merges the two sides of a copy into one node if a filter allows it and the sides are never live at once.
//!
//! This is the merge engine that ptxas is read to have. In ptxas, a copy's target must not weigh more than its source;
//! here, this rule is a knob.
//!
//! ptxas has filter bits for a copy. An allocation problem has the information for three of them:
//!
//! * Bit 0: a side has its place from the start, or is live across a clobber of a call.
//! * Bits 4 and 7: a convention or an encoding demands the place of a side. Here, this is the same as bit 0.
//!
//! It has no information for the others. Predicated copies (bit 3) are no copies here. Classes saved by callees (bit 2)
//! do not exist, because calls only clobber. CSSA (bit 5) does not apply, because PHIs are gone.

use crate::allocate::problem::{CopyInst, LiveRange, Problem};
use crate::allocate::registers::Registers;
use crate::analysis::{overlap, union};
use crate::index::IndexVec;

use super::knobs::Knobs;
use super::nodes::Nodes;

/// Statistics of the merge engine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Merges {
    /// Copies whose sides were merged.
    pub(super) merged: u64,
    /// Copies whose sides stayed apart in the end.
    pub(super) rejected: u64,
    /// Spill cost of the merged nodes that may be spilled.
    pub(super) cost: f64,
}

/// Merges the sides of copies, the most frequent copies first. The pass is repeated as long as it merges a copy and the
/// knobs allow another pass, because the sources of copies weigh more after merges. `fixed` has the live ranges with
/// places from the start.
pub(super) fn coalesce<'a>(
    problem: &'a Problem,
    knobs: &Knobs,
    fixed: &mut Registers<LiveRange>,
) -> (Nodes<'a>, Merges) {
    let mut nodes = Nodes::apart(problem);
    let mut copies: Vec<&CopyInst> = problem.copies().iter().filter(|copy| copy.to != copy.from).collect();
    copies.sort_by(|a, b| b.frequency.total_cmp(&a.frequency));
    let mut fanout: IndexVec<LiveRange, u32> = IndexVec::filled(0, problem.ranges().len());
    let (mut merges, mut segments) = (Merges::default(), Vec::new());
    for _ in 0..knobs.merge_rounds {
        let before = merges.merged;
        for copy in &copies {
            let (node, other) = (nodes.of(copy.to), nodes.of(copy.from));
            let merged = fanout[node] + fanout[other] + 1;
            if node == other || merged > knobs.max_fanout || !passes(&nodes, knobs, fixed, [node, other]) {
                continue;
            }
            union(nodes.segments(node), nodes.segments(other), &mut segments);
            nodes.merge(node, other, segments.clone());
            fanout[node] = merged;
            merges.merged += 1;
        }
        if merges.merged == before {
            break;
        }
    }
    let is_apart = |copy: &&&CopyInst| nodes.of(copy.to) != nodes.of(copy.from);
    merges.rejected = copies.iter().filter(is_apart).count() as u64;
    let cost = |node: LiveRange| f64::from(nodes.cost(node));
    let merged = nodes.iter().filter(|&node| !nodes.merged_members(node).is_empty()).map(cost);
    merges.cost = merged.filter(|cost| cost.is_finite()).sum();
    (nodes, merges)
}

/// Whether the filter allows two nodes to become one. The first is the node that a copy writes, the second the node
/// that the copy reads.
fn passes(nodes: &Nodes<'_>, knobs: &Knobs, fixed: &mut Registers<LiveRange>, pair: [LiveRange; 2]) -> bool {
    let [node, other] = pair;
    let ranges = nodes.problem.ranges();
    let is_alike = ranges[node].class == ranges[other].class;
    let must_have_both = nodes.cost(node).is_infinite() == nodes.cost(other).is_infinite();
    let depth = nodes.members(&node).len() + nodes.members(&other).len();
    let weighs_less = !knobs.merge_by_weight || nodes.cost(node) <= nodes.cost(other);
    is_alike
        && must_have_both
        && weighs_less
        && nodes.class(node).width <= knobs.max_width
        && depth <= knobs.max_depth as usize
        && pair.iter().all(|&side| nodes.fixed(side).is_none())
        && pair.iter().all(|&side| fixed.occupied(nodes.segments(side)).is_empty())
        && !overlap(nodes.segments(node), nodes.segments(other), |_, _| true)
}
