//! Chaitin-Briggs: an interference graph, coloured optimistically, with iterated conservative coalescing.
//!
//! The phases follow the description of NVIDIA's cicc. Each phase has its own file:
//!
//! 1. [`build`] constructs the graph.
//! 2. While nodes are left, the first possible step of four is taken: [`simplify`] removes a node that is sure to find
//!    a place, [`coalesce`] merges a copy, [`freeze`] gives up copies, and [`spill`] removes a candidate for spilling.
//! 3. [`select`] assigns places in the reverse order of removal.
//!
//! Nodes without a place are spilled. Each of their uses and definitions becomes a short live range, and the phases
//! start again, until all nodes have places. If the graph of a problem would be too large, [`relieve`] spills some live
//! ranges before the graph is built.

mod build;
mod coalesce;
mod freeze;
mod relieve;
mod select;
mod simplify;
mod spill;

use std::time::Instant;

use super::Allocator;
use super::allocation::{Allocation, AllocationStatistics};
use super::greedy::Greedy;
use super::preset::{Coalescing, Preset};
use super::problem::{Problem, ProblemError};
use super::rounds::Rounds;
use crate::index::IndexVec;
use build::Coloring;
use relieve::{expected_edges, is_too_large, to_relieve};
use select::Selection;

/// The Chaitin-Briggs allocator.
#[derive(Clone, Debug)]
pub struct Briggs {
    /// Rules for merging copies.
    pub coalescing: Coalescing,
}

impl Default for Briggs {
    fn default() -> Self {
        Self { coalescing: Preset::HW.coalescing }
    }
}

impl Allocator for Briggs {
    fn name(&self) -> &'static str {
        "briggs"
    }

    /// Terminates because every round spills at least one more live range. A round costs O(edges + nodes · log nodes),
    /// plus the tests of copies. The number of edges is bounded by the larger of two numbers:
    /// [`relieve::EDGES_OF_NODE`] for each node, and the units of the register limit for each write. If the graph would
    /// exceed the first bound and no live range can be spilled, the greedy allocator takes over.
    fn allocate(&self, problem: &Problem) -> Result<Allocation, ProblemError> {
        problem.validate()?;
        let mut statistics = AllocationStatistics::default();
        let mut rounds = Rounds::new(problem);
        let edges = expected_edges(problem);
        if is_too_large(edges, problem) {
            let start = Instant::now();
            let spilled = to_relieve(problem);
            if spilled.is_empty() {
                // No live range can be spilled, for example because there is no register limit. So the graph cannot be
                // made smaller.
                let mut allocation = Greedy::default().allocate(problem)?;
                allocation.statistics.too_many_edges = edges;
                return Ok(allocation);
            }
            statistics.too_many_edges = edges;
            statistics.spilled_before = spilled.len() as u64;
            rounds.spill(&spilled);
            statistics.lap("relieve", start.elapsed());
        }
        loop {
            let spilled = {
                let round = rounds.problem();
                let (selection, nodes) = self.color(round, &mut statistics);
                let unit = |range| selection.unit[nodes[range]];
                if selection.spilled.is_empty() {
                    let units = round.ranges().ids().map(|range| unit(range).unwrap_or(0)).collect();
                    return Ok(rounds.allocation(&units, statistics));
                }
                let is_spilled = |range: &_| unit(*range).is_none();
                round.ranges().ids().filter(is_spilled).collect::<Vec<_>>()
            };
            rounds.spill(&spilled);
        }
    }
}

impl Briggs {
    /// Runs one round. Returns the places, the nodes that found no place, and the node that represents each live range.
    fn color(
        &self,
        problem: &Problem,
        statistics: &mut AllocationStatistics,
    ) -> (Selection, IndexVec<super::problem::LiveRange, super::problem::LiveRange>) {
        let start = Instant::now();
        let mut coloring = Coloring::build(problem, &self.coalescing);
        statistics.rounds += 1;
        if statistics.rounds == 1 {
            let graph = coloring.graph().statistics();
            statistics.nodes = graph.nodes as u64;
            statistics.edges = graph.edges as u64;
            statistics.max_degree = graph.max_degree as u64;
        }
        statistics.lap("build", start.elapsed());

        let start = Instant::now();
        let mut neighbours = Vec::new();
        while coloring.simplify(&mut neighbours)
            || coloring.coalesce()
            || coloring.freeze()
            || coloring.potential_spill(&mut neighbours)
        {}
        if statistics.rounds == 1 {
            statistics.merged_copies = coloring.merged;
        }
        statistics.lap("simplify", start.elapsed());

        let start = Instant::now();
        let selection = coloring.select();
        statistics.lap("select", start.elapsed());
        let nodes = problem.ranges().ids().map(|range| coloring.find(range)).collect();
        (selection, nodes)
    }
}
