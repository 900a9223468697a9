//! Constraints: what is asked of a node's place besides that nobody else is there.
//!
//! ptxas has types of constraints, by number; this is what becomes of them in an allocation problem:
//!
//! | type | here |
//! | --- | --- |
//! | 0 point | a segment of one moment: the register of one access to something spilled, what a call clobbers |
//! | 1 register operand | an access; it made the live range's segments |
//! | 2 immediate | none: it is no live range |
//! | 3 paired | width and alignment of a class; a place out of line is no place |
//! | 4 exclude one | a place that something else has from the start, while both live |
//! | 5 exclude all but one | a place from the start |
//! | 6 below a point | what is written comes into being behind what is read; early writes before it |
//! | 7 range | segments |
//!
//! What the problem does not say is not here: PHIs (8), for it has left SSA form; barriers (9), which have no file;
//! and the extended types (10 to 15), of which nothing but the numbers is known.

use crate::allocate::problem::LiveRange;
use crate::allocate::registers::Registers;
use crate::index::IndexVec;

use super::nodes::Nodes;

/// What is asked of places, by node.
#[derive(Debug)]
pub(super) struct Constraints {
    /// Something with a place from the start is live at the same time.
    is_excluded: IndexVec<LiveRange, bool>,
}

impl Constraints {
    /// Collects them. `fixed` holds what has its place from the start.
    pub(super) fn new(nodes: &Nodes<'_>, fixed: &mut Registers<LiveRange>) -> Self {
        let mut is_excluded = IndexVec::filled(false, nodes.problem.ranges().len());
        if nodes.problem.ranges().iter().any(|range| range.fixed.is_some()) {
            for node in nodes.iter().filter(|&node| nodes.fixed(node).is_none()) {
                is_excluded[node] = !fixed.occupied(nodes.segments(node)).is_empty();
            }
        }
        Self { is_excluded }
    }

    /// Whether anything is asked of a node's place: its constraint chain is not empty. Pairs have a list of their own.
    pub(super) fn has_any(&self, node: LiveRange) -> bool {
        self.is_excluded[node]
    }
}
