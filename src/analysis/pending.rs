//! Which nodes of a dependence graph can be scheduled next, from the start of the code to its end.

use super::{DependenceGraph, Node};
use crate::index::IndexVec;

/// The nodes that a scheduler has not taken, and how many predecessors each of them waits for. Memory for one graph
/// after another.
#[derive(Debug, Default)]
pub(crate) struct PendingNodes {
    waits_for: IndexVec<Node, u32>,
    is_taken: IndexVec<Node, bool>,
}

impl PendingNodes {
    /// All nodes of a graph.
    pub(crate) fn new(graph: &DependenceGraph) -> Self {
        let mut pending = Self::default();
        pending.reset(graph);
        pending
    }

    /// Becomes all nodes of a graph. O(nodes).
    pub(crate) fn reset(&mut self, graph: &DependenceGraph) {
        self.waits_for.clear();
        self.waits_for.extend(graph.num_predecessors.iter().copied());
        self.is_taken.clear();
        self.is_taken.resize(graph.num_predecessors.len(), false);
    }

    /// How many predecessors of a node have not been taken; an edge that is there twice counts twice.
    #[inline]
    pub(crate) fn waits_for(&self, node: Node) -> u32 {
        self.waits_for[node]
    }

    /// Whether a node was taken.
    #[inline]
    pub(crate) fn is_taken(&self, node: Node) -> bool {
        self.is_taken[node]
    }

    /// Whether a node can be taken: all its predecessors are, and it is not.
    #[inline]
    pub(crate) fn is_ready(&self, node: Node) -> bool {
        !self.is_taken[node] && self.waits_for[node] == 0
    }

    /// The nodes that can be taken, in the order of the code. O(nodes).
    pub(crate) fn ready(&self) -> impl Iterator<Item = Node> + '_ {
        self.waits_for.ids().filter(|&node| self.is_ready(node))
    }

    /// Whether all nodes were taken. O(nodes).
    pub(crate) fn is_empty(&self) -> bool {
        self.is_taken.iter().all(|&is_taken| is_taken)
    }

    /// Takes a node, and names the successors that thereby become ready; false where the node was taken before.
    /// O(successors).
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
