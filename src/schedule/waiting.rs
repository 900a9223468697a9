//! Lists of nodes that wait for nobody, from the start of a region to its end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::region::Region;
use crate::analysis::Node;
use crate::index::IndexVec;

/// Which nodes still wait for whom.
pub(super) struct Waiting {
    pub(super) waits_for: IndexVec<Node, u32>,
    pub(super) is_done: IndexVec<Node, bool>,
}

impl Waiting {
    pub(super) fn new(region: &Region<'_>) -> Self {
        let is_done = IndexVec::filled(false, region.kinds.len());
        Self { waits_for: region.graph.num_predecessors.clone(), is_done }
    }

    /// Those that wait for nobody.
    pub(super) fn ready<'a>(&'a self, region: &'a Region<'_>) -> impl Iterator<Item = Node> + use<'a> {
        region.nodes().filter(|&node| self.waits_for[node] == 0)
    }

    /// Takes a node, and tells who waits for nobody any more; false where it was taken before.
    pub(super) fn take(&mut self, region: &Region<'_>, node: Node, mut freed: impl FnMut(Node)) -> bool {
        if std::mem::replace(&mut self.is_done[node], true) {
            return false;
        }
        for &successor in region.graph.successors.of(node) {
            self.waits_for[successor] -= 1;
            if self.waits_for[successor] == 0 {
                freed(successor);
            }
        }
        true
    }
}

/// All nodes by rank, the least first, as soon as they wait for nobody. O(n log n) in the dependences.
pub(super) fn by_rank<R: Ord>(region: &Region<'_>, rank: impl Fn(Node) -> R) -> Vec<Node> {
    let mut waiting = Waiting::new(region);
    let mut ready: BinaryHeap<Reverse<(R, Node)>> =
        waiting.ready(region).map(|node| Reverse((rank(node), node))).collect();
    let mut order = Vec::with_capacity(region.kinds.len());
    while let Some(Reverse((_, node))) = ready.pop() {
        region.step();
        waiting.take(region, node, |freed| ready.push(Reverse((rank(freed), freed))));
        order.push(node);
    }
    order
}
