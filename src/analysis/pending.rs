//! The nodes of a dependence graph that can be scheduled next, for a scheduler that works from the start of the code to
//! its end.

use super::{DependenceGraph, Node};
use crate::index::IndexVec;

/// The nodes that are not yet scheduled, each with the number of its unscheduled predecessors. The memory serves one
/// graph after another.
#[derive(Debug, Default)]
pub(crate) struct PendingNodes {
    waits_for: IndexVec<Node, u32>,
    is_taken: IndexVec<Node, bool>,
}

impl PendingNodes {
    /// Returns the state in which all nodes of a graph are pending.
    pub(crate) fn new(graph: &DependenceGraph) -> Self {
        let mut pending = Self::default();
        pending.reset(graph);
        pending
    }

    /// Makes all nodes of a graph pending. O(nodes).
    pub(crate) fn reset(&mut self, graph: &DependenceGraph) {
        self.waits_for.clear();
        self.waits_for.extend(graph.num_predecessors.iter().copied());
        self.is_taken.clear();
        self.is_taken.resize(graph.num_predecessors.len(), false);
    }

    /// Returns the number of a node's unscheduled predecessors. A repeated edge counts twice.
    #[inline]
    pub(crate) fn waits_for(&self, node: Node) -> u32 {
        self.waits_for[node]
    }

    /// Whether the node is scheduled.
    #[inline]
    pub(crate) fn is_taken(&self, node: Node) -> bool {
        self.is_taken[node]
    }

    /// Whether the node can be scheduled: it is pending, and all its predecessors are scheduled.
    #[inline]
    pub(crate) fn is_ready(&self, node: Node) -> bool {
        !self.is_taken[node] && self.waits_for[node] == 0
    }

    /// Returns the nodes that can be scheduled, in code order. O(nodes).
    pub(crate) fn ready(&self) -> impl Iterator<Item = Node> + '_ {
        self.waits_for.ids().filter(|&node| self.is_ready(node))
    }

    /// Whether all nodes are scheduled. O(nodes).
    pub(crate) fn is_empty(&self) -> bool {
        self.is_taken.iter().all(|&is_taken| is_taken)
    }

    /// Schedules a node and passes the successors that become ready to the callback. Returns false if the node was
    /// already scheduled. O(successors).
    #[inline]
    pub(crate) fn take(&mut self, graph: &DependenceGraph, node: Node, mut becomes_ready: impl FnMut(Node)) -> bool {
        if std::mem::replace(&mut self.is_taken[node], true) {
            return false;
        }
        for &successor in graph.successors.of(node) {
            self.waits_for[successor] -= 1;
            if self.waits_for[successor] == 0 {
                becomes_ready(successor);
            }
        }
        true
    }
}
