//! Potential spill: where all that is left is hard, the node that costs least for what it gives back leaves the graph.
//!
//! It may still find a place when its turn comes (Briggs, Cooper and Torczon, "Improvements to graph coloring register
//! allocation", TOPLAS 1994): only select decides.

use super::super::indexed_heap::Ordered;
use super::build::Coloring;
use crate::allocate::problem::LiveRange;

impl Coloring<'_> {
    /// Takes a node out of the graph although it may not find a place. Says whether there was one.
    ///
    /// Degrees fall, and keys with them rise, while nodes wait: the first is looked at again before it is taken.
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

    /// Cost for each place that a node's neighbours get back; of equals the one with fewer neighbours, then the older.
    ///
    /// The document multiplies the degree by the factor of coalescing, which changes no order. It takes differences
    /// below 1e-6 for ties, which is no order at all, and is left out.
    pub(super) fn spill_key(&self, node: LiveRange) -> (Ordered, u32, LiveRange) {
        let degree = self.degree[node].max(1) as f32 * self.rules.degree_factor;
        (Ordered::new(self.cost[node] / degree), self.degree[node], node)
    }
}
