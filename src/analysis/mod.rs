//! Analyses of the view: control flow, dominators and post-dominators, loops, block frequencies, occurrences of
//! registers, live ranges, interval trees, uniformity within a warp.
//!
//! Every analysis takes linear or nearly linear time in its input. An analysis keeps its memory: `compute` fills it
//! again for another function, and `new` calls `compute` on an empty analysis. An [`AnalysisContext`] holds one
//! analysis of each kind, to be reused from function to function. No result depends on hash-table order or on
//! addresses.

mod cfg;
mod dependences;
mod dominators;
mod frequency;
mod grouping;
mod interval_tree;
mod live_ranges;
mod liveness;
mod lone_values;
mod loops;
mod occurrences;
mod pending;
mod phi_placement;
mod post_dominators;
pub(crate) mod pressure;
mod segment;
mod turns;
mod uniformity;
mod unrolled_loops;

pub use cfg::Cfg;
pub(crate) use dependences::{DependenceGraph, Edges, Node};
pub use dominators::Dominators;
pub use frequency::block_frequencies;
pub(crate) use grouping::Grouping;
pub use interval_tree::{IntervalTree, Overlap};
pub use live_ranges::{LiveIn, LiveRanges, ValueDef};
pub use loops::{Loop, Loops};
pub use occurrences::{Occurrence, Occurrences};
pub(crate) use pending::PendingNodes;
pub use post_dominators::PostDominators;
pub use segment::{Point, Segment, ValueNumber, overlap, union};
pub(crate) use segment::{append, covering};
pub use turns::with_turns;
pub use uniformity::UniformityInfo;
pub use unrolled_loops::{Counter, FloatCounter, Obstacle, UnrolledLoops, Unrolling};

/// One analysis of each kind, with the memory that it keeps between functions.
#[derive(Debug, Default)]
pub struct AnalysisContext {
    /// Predecessors and block orders.
    pub cfg: Cfg,
    /// The dominator tree.
    pub dominators: Dominators,
    /// The natural loops.
    pub loops: Loops,
    /// Reads and writes of the requested registers.
    pub occurrences: Occurrences,
    /// Live ranges of the requested registers, with their values.
    pub live_ranges: LiveRanges,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::function::{Block, Function, FunctionBuilder, OpcodeTable};

    /// Builds a function of empty blocks with the given successors.
    pub(super) fn graph(succs: &[&[u32]]) -> Function {
        let mut builder = FunctionBuilder::new("graph", Arc::new(OpcodeTable::new()));
        for succs in succs {
            let succs: Vec<Block> = succs.iter().copied().map(Block).collect();
            builder.block(&succs, 1.0, 0);
        }
        builder.finish()
    }
}
