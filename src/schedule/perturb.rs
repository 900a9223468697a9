//! Small changes of an order at random, for a search to draw from.

use super::Order;
use super::region::Region;
use super::top_down::by_rank;
use crate::analysis::Node;
use crate::index::{EntityIndex, IndexVec};

/// An order in which each instruction strays from its place, as far as its dependences let it. The same seed gives the
/// same order.
pub(super) struct Perturbed {
    /// What is changed.
    pub(super) order: Box<dyn Order>,
    /// Not 0.
    pub(super) seed: u32,
}

/// How far an instruction strays at most, in instructions; the seed picks one.
const REACHES: [u64; 4] = [8, 32, 128, 512];

impl Order for Perturbed {
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        let mut places = IndexVec::filled(0, region.kinds.len());
        for (place, node) in self.order.arrange(region).into_iter().enumerate() {
            places[node] = place as u64;
        }
        let reach = REACHES[self.seed as usize % REACHES.len()];
        // An instruction's number, so that two regions of a function are not changed alike.
        let noise = |node: Node| mix(u64::from(self.seed), region.inst(node).index() as u64) % reach;
        by_rank(region, |node| places[node] + noise(node))
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014) over two numbers.
fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b.wrapping_add(0xD1B5_4A32_D192_ED03);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
