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
//! | 5 exclude all but one | a place from the start, or that of a [forced candidate](super::candidates) |
//! | 6 below a point | what is written comes into being behind what is read; early writes before it |
//! | 7 range | segments |
//!
//! What the problem does not say is not here: PHIs (8), for it has left SSA form; barriers (9), which have no file;
//! and the extended types (10 to 15), of which nothing but the numbers is known.

use std::sync::Arc;

use crate::allocate::availability::{Availability, Timeline};
use crate::allocate::occupied::Occupied;
use crate::allocate::problem::LiveRange;
use crate::allocate::registers::Registers;
use crate::index::IndexVec;

use super::candidates::Candidate;
use super::nodes::Nodes;

/// What is asked of places, by node.
#[derive(Debug)]
pub(super) struct Constraints {
    /// Something with a place from the start is live at the same time.
    is_excluded: IndexVec<LiveRange, bool>,
    /// The place that a candidate wants.
    wish: IndexVec<LiveRange, Option<u32>>,
    /// When which units are wished for.
    wished: Option<Availability>,
}

impl Constraints {
    /// Collects them. `fixed` holds what has its place from the start.
    pub(super) fn new(
        nodes: &Nodes<'_>,
        candidates: &[Candidate],
        fixed: &mut Registers<LiveRange>,
        timeline: &Arc<Timeline>,
    ) -> Self {
        let count = nodes.problem.ranges().len();
        let mut this =
            Self { is_excluded: IndexVec::filled(false, count), wish: IndexVec::filled(None, count), wished: None };
        if nodes.problem.ranges().iter().all(|range| range.fixed.is_none()) {
            return this;
        }
        for node in nodes.iter().filter(|&node| nodes.fixed(node).is_none()) {
            this.is_excluded[node] = !fixed.occupied(nodes.segments(node)).is_empty();
        }
        let mut occupied = Occupied::default();
        for &Candidate { node, unit } in candidates {
            let wished = this.wished.get_or_insert_with(|| Availability::new(timeline.clone(), 1));
            wished.occupied(nodes.segments(node), &mut occupied);
            let units = unit..unit + nodes.class(node).width;
            if this.wish[node].is_none() && !units.clone().any(|unit| occupied.is_taken(unit)) {
                this.wish[node] = Some(unit);
                units.for_each(|unit| wished.take(nodes.segments(node), unit));
            }
        }
        this
    }

    /// Whether anything is asked of a node's place: its constraint chain is not empty. Pairs have a list of their own.
    pub(super) fn has_any(&self, node: LiveRange) -> bool {
        self.is_excluded[node] || self.wish[node].is_some()
    }

    /// The place that a node would best have.
    pub(super) fn wish(&self, node: LiveRange) -> Option<u32> {
        self.wish[node]
    }

    /// The units that candidates wish for at some time in a node's segments, itself included.
    pub(super) fn wished_units(&self, nodes: &Nodes<'_>, node: LiveRange, out: &mut Occupied) {
        out.clear();
        if let Some(wished) = &self.wished {
            wished.occupied(nodes.segments(node), out);
        }
    }
}
