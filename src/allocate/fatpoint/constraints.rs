//! Constraints: requirements on a node's place, in addition to the place being free.
//!
//! ptxas has numbered types of constraints. An allocation problem represents them as follows:
//!
//! | type | here |
//! | --- | --- |
//! | 0 point | a segment of one moment: the register of one access to a spilled live range, or the clobber of a call |
//! | 1 register operand | an access, from which the live range's segments come |
//! | 2 immediate | none: an immediate is no live range |
//! | 3 paired | width and alignment of a class; a unit out of alignment is no place |
//! | 4 exclude one | a place that another live range has from the start, while both are live |
//! | 5 exclude all but one | a place from the start |
//! | 6 below a point | a written live range starts after the reads of its instruction; an early write starts before them |
//! | 7 range | segments |
//!
//! The other types are missing because a problem has no such information. A problem has left SSA form, so it has no
//! PHIs (8). Barriers (9) have no file. Of the extended types (10 to 15), only the numbers are known.

use crate::allocate::problem::LiveRange;
use crate::allocate::registers::Registers;
use crate::index::IndexVec;

use super::nodes::Nodes;

/// Constraints by node.
#[derive(Debug)]
pub(super) struct Constraints {
    /// By node: whether a live range with a place from the start is live at the same time.
    is_excluded: IndexVec<LiveRange, bool>,
}

impl Constraints {
    /// Collects the constraints. `fixed` has the live ranges with places from the start.
    pub(super) fn new(nodes: &Nodes<'_>, fixed: &mut Registers<LiveRange>) -> Self {
        let mut is_excluded = IndexVec::filled(false, nodes.problem.ranges().len());
        if nodes.problem.ranges().iter().any(|range| range.fixed.is_some()) {
            for node in nodes.iter().filter(|&node| nodes.fixed(node).is_none()) {
                is_excluded[node] = !fixed.occupied(nodes.segments(node)).is_empty();
            }
        }
        Self { is_excluded }
    }

    /// Whether a node has a constraint, so that ptxas's constraint chain of the node is not empty. Pairs have a list of
    /// their own and do not count.
    pub(super) fn has_any(&self, node: LiveRange) -> bool {
        self.is_excluded[node]
    }
}
