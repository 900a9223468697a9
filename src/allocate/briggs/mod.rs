//! Chaitin-Briggs: an interference graph, coloured optimistically, with iterated conservative coalescing.
//!
//! The phases follow NVIDIA's cicc, as its code is read, in the order of the files. [`build`] constructs the graph.
//! While nodes are left, [`simplify`] removes a node that is sure to find a place; else [`coalesce`] merges a copy;
//! else [`freeze`] gives one up; else a [`spill`] candidate is removed. Then [`select`] assigns places in the reverse
//! order. Nodes without a place are spilled. A short live range remains for each of their uses and definitions, and the
//! phases start again, until all nodes have places. If the graph of a problem would be too large, [`relieve`] spills
//! some live ranges before the graph is built.

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
    /// plus the tests of copies. The number of edges is at most the larger of two bounds: [`relieve::EDGES_OF_NODE`]
    /// for each node, or the register limit's units for each write. The greedy allocator takes over if neither bound
    /// holds.
    fn allocate(&self, problem: &Problem) -> Result<Allocation, ProblemError> {
        problem.validate()?;
        let mut statistics = AllocationStatistics::default();
        let mut rounds = Rounds::new(problem);
        let edges = expected_edges(problem);
        if is_too_large(edges, problem) {
            let start = Instant::now();
            let spilled = to_relieve(problem);
            if spilled.is_empty() {
                // Without a register limit nothing is spilled, and all live ranges that are live at once interfere.
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
    /// Runs one round. Returns a place for every node, or the nodes without a place, and the node that represents each
    /// live range.
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
