//! Coalesce: the two sides of a copy become one node, where a filter lets them and they are never live at once.
//!
//! Of the filter bits that ptxas has for a copy, the problem can tell: bit 0, a side has its place from the start, or
//! is live across what a call clobbers; bits 4 and 7, its place is demanded by a convention or an encoding, which is
//! the same here. Predicated copies (3), callee-saved classes (2) and CSSA (5) it cannot tell: a predicated copy is no
//! copy to it, calls only clobber, and PHIs are gone.

use crate::allocate::problem::{CopyInst, LiveRange, Problem};
use crate::allocate::registers::Registers;
use crate::analysis::{overlap, union};
use crate::index::IndexVec;

use super::knobs::Knobs;
use super::nodes::Nodes;

/// Merges the sides of copies, the most frequent first. `fixed` holds what has its place from the start. Says how many
/// copies were merged.
pub(super) fn coalesce<'a>(problem: &'a Problem, knobs: &Knobs, fixed: &mut Registers<LiveRange>) -> (Nodes<'a>, u64) {
    let mut nodes = Nodes::apart(problem);
    let mut copies: Vec<&CopyInst> = problem.copies().iter().filter(|copy| copy.to != copy.from).collect();
    copies.sort_by(|a, b| b.frequency.total_cmp(&a.frequency));
    let mut fanout: IndexVec<LiveRange, u32> = IndexVec::filled(0, problem.ranges().len());
    let mut count = 0;
    let mut segments = Vec::new();
    for copy in copies {
        let (node, other) = (nodes.of(copy.to), nodes.of(copy.from));
        let merged = fanout[node] + fanout[other] + 1;
        if node == other || merged > knobs.max_fanout || !passes(&nodes, knobs, fixed, [node, other]) {
            continue;
        }
        union(nodes.segments(node), nodes.segments(other), &mut segments);
        nodes.merge(node, other, segments.clone());
        fanout[node] = merged;
        count += 1;
    }
    (nodes, count)
}

/// Whether the filter lets two nodes become one.
fn passes(nodes: &Nodes<'_>, knobs: &Knobs, fixed: &mut Registers<LiveRange>, pair: [LiveRange; 2]) -> bool {
    let [node, other] = pair;
    let ranges = nodes.problem.ranges();
    let is_alike = ranges[node].class == ranges[other].class;
    let must_have_both = nodes.cost(node).is_infinite() == nodes.cost(other).is_infinite();
    let depth = nodes.members(&node).len() + nodes.members(&other).len();
    is_alike
        && must_have_both
        && nodes.class(node).width <= knobs.max_width
        && depth <= knobs.max_depth as usize
        && pair.iter().all(|&side| nodes.fixed(side).is_none())
        && pair.iter().all(|&side| fixed.occupied(nodes.segments(side)).is_empty())
        && !overlap(nodes.segments(node), nodes.segments(other), |_, _| true)
}
