//! Nodes: live ranges that share one place. A node is one live range, or several that coalescing has merged.

use crate::allocate::problem::{ClassData, LiveRange, Problem};
use crate::analysis::Segment;
use crate::index::IndexVec;

/// Several live ranges with one place.
#[derive(Clone, Debug)]
pub(super) struct Merged {
    pub(super) members: Vec<LiveRange>,
    pub(super) segments: Vec<Segment>,
    pub(super) cost: f32,
}

/// All nodes of a problem. A node is identified by one of its live ranges, its leader.
#[derive(Clone, Debug)]
pub(super) struct Nodes<'a> {
    pub(super) problem: &'a Problem,
    leader: IndexVec<LiveRange, LiveRange>,
    /// By leader: the merged live ranges; `None` for a node of one live range.
    merged: IndexVec<LiveRange, Option<Box<Merged>>>,
}

impl<'a> Nodes<'a> {
    /// Makes a node of every live range.
    pub(super) fn apart(problem: &'a Problem) -> Self {
        let merged = IndexVec::filled(None, problem.ranges().len());
        Self { problem, leader: problem.ranges().ids().collect(), merged }
    }

    /// Returns the leaders of all nodes.
    pub(super) fn iter(&self) -> impl Iterator<Item = LiveRange> + '_ {
        self.leader.iter_enumerated().filter(|(range, leader)| range == *leader).map(|(range, _)| range)
    }

    /// Returns the node of a live range.
    #[inline]
    pub(super) fn of(&self, range: LiveRange) -> LiveRange {
        self.leader[range]
    }

    /// Returns the live ranges of a node: its leader alone if nothing was merged into it.
    pub(super) fn members<'b>(&'b self, node: &'b LiveRange) -> &'b [LiveRange] {
        self.merged[*node].as_ref().map_or(std::slice::from_ref(node), |merged| &merged.members)
    }

    /// Returns the live ranges of a merged node; empty for a node of one live range.
    pub(super) fn merged_members(&self, node: LiveRange) -> &[LiveRange] {
        self.merged[node].as_ref().map_or(&[], |merged| &merged.members)
    }

    #[inline]
    pub(super) fn segments(&self, node: LiveRange) -> &[Segment] {
        self.merged[node].as_ref().map_or_else(|| self.problem.segments(node), |merged| &merged.segments)
    }

    #[inline]
    pub(super) fn class(&self, node: LiveRange) -> &'a ClassData {
        self.problem.class(node)
    }

    /// Returns the spill cost of a node; infinite if it must have a register.
    #[inline]
    pub(super) fn cost(&self, node: LiveRange) -> f32 {
        let data = &self.problem.ranges()[node];
        self.merged[node].as_ref().map_or(data.spill_cost, |merged| merged.cost)
    }

    /// Returns the place that a node has from the start, if any.
    #[inline]
    pub(super) fn fixed(&self, node: LiveRange) -> Option<u32> {
        self.problem.ranges()[node].fixed
    }

    /// Whether a node may be spilled.
    pub(super) fn is_spillable(&self, node: LiveRange) -> bool {
        self.fixed(node).is_none() && self.cost(node).is_finite()
    }

    /// Merges two nodes. `segments` are the segments of both.
    pub(super) fn merge(&mut self, node: LiveRange, other: LiveRange, segments: Vec<Segment>) {
        let cost = self.cost(node) + self.cost(other);
        let mut members = self.members(&node).to_vec();
        members.extend_from_slice(self.members(&other));
        for &member in self.members(&other).to_vec().iter() {
            self.leader[member] = node;
        }
        self.merged[other] = None;
        self.merged[node] = Some(Box::new(Merged { members, segments, cost }));
    }
}
