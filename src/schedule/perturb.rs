//! Small random changes of an order, as candidates for a search.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Order;
use super::region::Region;
use crate::analysis::{Node, PendingNodes};
use crate::index::{EntityIndex, IndexVec};

/// A randomly changed order. With an even seed, each instruction moves by a limited random distance, as far as its
/// dependences allow. With an odd seed, about half of the regions get another order. The same seed gives the same
/// order.
pub(super) struct Perturbed {
    /// The order that is changed.
    pub(super) order: Box<dyn Order>,
    /// The other orders, of which a region may get one.
    pub(super) others: Vec<Box<dyn Order>>,
    /// Seed; not 0.
    pub(super) seed: u32,
}

/// Greatest distance that an instruction moves, in instructions. The seed picks one of these distances.
const REACHES: [u64; 4] = [8, 32, 128, 512];

impl Order for Perturbed {
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        if self.seed.is_multiple_of(2) { self.stray(region) } else { self.draw(region) }
    }
}

impl Perturbed {
    fn stray(&self, region: &Region<'_>) -> Vec<Node> {
        let mut places = IndexVec::filled(0, region.kinds.len());
        for (place, node) in self.order.arrange(region).into_iter().enumerate() {
            places[node] = place as u64;
        }
        let reach = REACHES[self.seed as usize / 2 % REACHES.len()];
        let noise = |node: Node| self.number(region, node) % reach;
        by_rank(region, |node| places[node] + noise(node))
    }

    fn draw(&self, region: &Region<'_>) -> Vec<Node> {
        let drawn = self.number(region, Node(0));
        let other =
            self.others.get((drawn / 2) as usize % self.others.len().max(1)).filter(|_| drawn.is_multiple_of(2));
        other.unwrap_or(&self.order).arrange(region)
    }

    /// Returns a pseudo-random number for an instruction. The number depends on the instruction's index, so that the
    /// regions of a function change differently.
    fn number(&self, region: &Region<'_>, node: Node) -> u64 {
        mix(u64::from(self.seed), region.inst(node).index() as u64)
    }
}

/// Mixes two numbers with the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b.wrapping_add(0xD1B5_4A32_D192_ED03);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns all nodes. Among the ready nodes, the node with the lowest rank comes first. O(n log n) in the dependences.
fn by_rank<R: Ord>(region: &Region<'_>, rank: impl Fn(Node) -> R) -> Vec<Node> {
    let mut pending = PendingNodes::new(&region.graph);
    let mut ready: BinaryHeap<Reverse<(R, Node)>> = pending.ready().map(|node| Reverse((rank(node), node))).collect();
    let mut order = Vec::with_capacity(region.kinds.len());
    while let Some(Reverse((_, node))) = ready.pop() {
        region.step();
        pending.take(&region.graph, node, |freed| ready.push(Reverse((rank(freed), freed))));
        order.push(node);
    }
    order
}
