//! Orders the instructions within blocks.
//!
//! ptxas reorders the instructions again, but its result still depends, irregularly, on the order of its input. No
//! order is the best for every kernel, so there are several, each an [`Order`]. All orders keep the properties that the
//! checker proves: every read finds its value, and instructions with effects keep their order.
//!
//! In the order of the files:
//! * [`facts`]: analyses of the function;
//! * [`effects`], [`region`]: stretches of blocks whose instructions may be reordered, and the dependences that
//!   constrain them;
//! * [`live`]: the live words after the placed instructions;
//! * [`late_placement`], [`eager`], [`bottom_up`], [`top_down`]: the orders;
//! * [`perturb`]: small random changes of any order;
//! * [`cycles`]: a lower bound of the code's duration, whatever its order.

mod bottom_up;
mod cycles;
mod eager;
mod effects;
mod facts;
mod late_placement;
mod live;
mod perturb;
mod region;
#[cfg(test)]
mod tests;
mod top_down;

use crate::analysis::{Edges, Node};
use crate::config;
use crate::function::{Block, Edit, EditList, Function, Inst};
use crate::target::Classification;
use bottom_up::BottomUp;
pub use cycles::estimated_cycles;
use eager::Eager;
use facts::Facts;
use late_placement::{Late, LoadsLate, SethiUllman};
use perturb::Perturbed;
use region::{Region, regions};
use top_down::{LatencyAware, LoadsClustered};

/// All orders, the order of the code first. A search decides which is the best for a kernel.
pub const ORDERS: [config::Order; 8] = [
    config::Order::Source,
    config::Order::SethiUllman,
    config::Order::BottomUp,
    config::Order::Latency,
    config::Order::Late,
    config::Order::Eager,
    config::Order::LoadsLate,
    config::Order::LoadsClustered,
];

/// A way to order the instructions of a region.
trait Order {
    /// Returns all nodes of a region, each after the nodes on which it depends. O(n log n) in the operands and
    /// dependences.
    fn arrange(&self, region: &Region<'_>) -> Vec<Node>;
}

/// The order of the code.
struct Source;

impl Order for Source {
    fn arrange(&self, region: &Region<'_>) -> Vec<Node> {
        region.nodes().collect()
    }
}

/// Result of ordering.
#[derive(Debug)]
pub struct Outcome {
    /// The edits: one permutation for each block that changes.
    pub edits: EditList,
    /// Number of instructions whose preceding instruction has changed.
    pub moved: usize,
    /// Steps that the orders took, for tests of their cost.
    pub work: u64,
}

/// Whether an order leaves every function unchanged.
pub fn changes_nothing(order: config::Order, seed: u32) -> bool {
    order == config::Order::Source && seed == 0
}

/// Orders the instructions of each block. The function must have left SSA form. `seed` changes the order slightly and
/// pseudo-randomly; with 0, the order does not change.
pub fn schedule(function: &Function, classification: &Classification, order: config::Order, seed: u32) -> Outcome {
    let mut outcome = Outcome { edits: EditList::new(function), moved: 0, work: 0 };
    if changes_nothing(order, seed) {
        return outcome;
    }
    let order = perturbed(order_of(order), seed);
    let facts = Facts::new(function, classification);
    let mut edges = Edges::default();
    for block in function.blocks() {
        schedule_block(&facts, &mut edges, block, &*order, &mut outcome);
    }
    outcome
}

fn schedule_block(facts: &Facts<'_>, edges: &mut Edges, block: Block, order: &dyn Order, outcome: &mut Outcome) {
    let range = facts.function.block_range(block);
    let mut insts: Vec<Inst> = facts.function.block_insts(block).collect();
    for (first, end) in regions(facts.function, block) {
        // A single instruction has only one order.
        if end.0 - first.0 < 2 {
            continue;
        }
        let region = Region::new(facts, edges, first, end);
        let places = &mut insts[(first.0 - range.start.0) as usize..(end.0 - range.start.0) as usize];
        let arranged = order.arrange(&region);
        debug_assert_eq!(arranged.len(), places.len(), "an order has every node once");
        for (place, node) in places.iter_mut().zip(arranged) {
            *place = region.inst(node);
        }
        outcome.work += region.work.get();
    }
    let moved = insts.windows(2).filter(|pair| pair[1].0 != pair[0].0 + 1).count();
    if moved > 0 {
        outcome.moved += moved;
        outcome.edits.push(Edit::Permute { block, order: insts });
    }
}

fn order_of(order: config::Order) -> Box<dyn Order> {
    match order {
        config::Order::Source => Box::new(Source),
        config::Order::SethiUllman => Box::new(SethiUllman),
        config::Order::BottomUp => Box::new(BottomUp),
        config::Order::Latency => Box::new(LatencyAware),
        config::Order::Late => Box::new(Late),
        config::Order::Eager => Box::new(Eager),
        config::Order::LoadsLate => Box::new(LoadsLate),
        config::Order::LoadsClustered => Box::new(LoadsClustered),
    }
}

fn perturbed(order: Box<dyn Order>, seed: u32) -> Box<dyn Order> {
    if seed == 0 {
        return order;
    }
    use config::Order::{BottomUp, Late, Latency, LoadsClustered, LoadsLate, SethiUllman, Source};
    let others = [Source, Late, BottomUp, Latency, SethiUllman, LoadsLate, LoadsClustered];
    Box::new(Perturbed { order, others: others.into_iter().map(order_of).collect(), seed })
}
