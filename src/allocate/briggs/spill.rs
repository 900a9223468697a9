//! Potential spill: if no easy node is left, the node with the least cost for each place that it frees is removed from
//! the graph.
//!
//! The node may still find a place later: select decides (Briggs, Cooper and Torczon, "Improvements to graph coloring
//! register allocation", TOPLAS 1994).

use super::super::indexed_heap::Ordered;
use super::build::Coloring;
use crate::allocate::problem::LiveRange;

impl Coloring<'_> {
    /// Removes a node from the graph although it may not find a place. Returns whether there was a node to remove.
    ///
    /// While a node waits, its degree falls and its key rises. For this reason, the key of the first node is recomputed
    /// before the node is removed.
    pub(super) fn potential_spill(&mut self, neighbours: &mut Vec<LiveRange>) -> bool {
        while let Some(node) = self.spill.first() {
            let key = self.spill_key(node);
            self.spill.insert(node, key);
            if self.spill.first() == Some(node) {
                self.spill.remove(node);
                self.freeze_moves(node);
                self.remove(node, neighbours);
                return true;
            }
        }
        false
    }

    /// Returns the key of a node: its cost for each place that its neighbours get back. Among equal nodes, the node
    /// with fewer neighbours comes first, then the older node.
    ///
    /// The description of cicc multiplies the degree by the factor of coalescing, which changes no order. It also
    /// treats differences below 1e-6 as ties. Such a comparison is not transitive, so it is left out.
    pub(super) fn spill_key(&self, node: LiveRange) -> (Ordered, u32, LiveRange) {
        let degree = self.degree[node].max(1) as f32 * self.rules.degree_factor;
        (Ordered::new(self.cost[node] / degree), self.degree[node], node)
    }
}
