//! The interference graph: pairs of live ranges that may not share a place.
//!
//! Two live ranges interfere if one is written while the other is live, unless the write is a copy of the other
//! (Chaitin, "Register allocation & spilling via graph coloring", 1982). A [`sweep`] finds every pair at the writes of
//! its live ranges only, so the cost is proportional to the edges.

use super::problem::{CopyInst, LiveRange, Problem};
use super::sweep::{Start, sweep};
use crate::analysis::Grouping;
use crate::index::EntityIndex;

/// Lists of neighbours: live ranges that may not share a place.
#[derive(Clone, Debug, Default)]
pub struct InterferenceGraph {
    neighbours: Grouping<LiveRange, LiveRange>,
    nodes: usize,
}

/// Sizes of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GraphStatistics {
    /// Live ranges.
    pub nodes: usize,
    /// Pairs that interfere.
    pub edges: usize,
    /// Largest number of neighbours of one live range.
    pub max_degree: usize,
}

impl GraphStatistics {
    /// Returns the average number of neighbours of a live range.
    pub fn average_degree(&self) -> f64 {
        2.0 * self.edges as f64 / self.nodes.max(1) as f64
    }
}

impl InterferenceGraph {
    /// Builds the graph of a problem. O(segments · log segments + edges). For this bound, an edge counts once for each
    /// write of one of its sides while the other is live.
    pub fn new(problem: &Problem) -> Self {
        let nodes = problem.ranges().len();
        let pairs = interfering_pairs(problem);
        let mut neighbours = Grouping::new(nodes, pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]));
        neighbours.remove_repetitions(nodes);
        Self { neighbours, nodes }
    }

    /// Returns the neighbours of a live range, each once. Their order depends only on the problem.
    #[inline]
    pub fn neighbours(&self, range: LiveRange) -> &[LiveRange] {
        self.neighbours.of(range)
    }

    /// Returns the number of nodes and edges.
    pub fn statistics(&self) -> GraphStatistics {
        let degrees = (0..self.nodes).map(|node| self.neighbours(LiveRange::new(node)).len());
        let (max_degree, ends) = degrees.fold((0, 0), |(max, sum), degree| (max.max(degree), sum + degree));
        GraphStatistics { nodes: self.nodes, edges: ends / 2, max_degree }
    }
}

/// Returns all pairs that interfere, some of them more than once.
fn interfering_pairs(problem: &Problem) -> Vec<(LiveRange, LiveRange)> {
    let mut pairs = Vec::new();
    for file in problem.files().ids() {
        let mut starts = Vec::new();
        for range in problem.ranges().ids().filter(|&range| problem.file(range) == file) {
            let segments = problem.segments(range).iter();
            starts.extend(segments.map(|segment| {
                let is_written = problem.is_written_at(range, segment.start);
                Start { at: segment.start, is_written, end: segment.end, who: range }
            }));
        }
        sweep(starts, |comer, live| {
            let copies = problem.copies_at(comer.at);
            for other in live.iter().filter(|other| other.who != comer.who) {
                // The other live range can be the source of the copy only if it was live before this point: one that is
                // written at the point itself is not.
                let is_source = |copy: &CopyInst| copy.to == comer.who && copy.from == other.who;
                if !(other.at < comer.at && copies.iter().any(is_source)) {
                    pairs.push((comer.who, other.who));
                }
            }
        });
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(body: &str) -> (InterferenceGraph, Problem) {
        let text =
            format!("allocation 1\nproblem k\nfile R budget 8\nclass A R\nclass B R width 2 align 2\n{body}end\n");
        let problem = Problem::parse(&text).expect("a problem");
        problem.validate().expect("a sound problem");
        (InterferenceGraph::new(&problem), problem)
    }

    /// Two live ranges interfere if one is written while the other is live. Each is then listed once as the other's
    /// neighbour.
    #[test]
    fn neighbours() {
        let (graph, _) = graph(
            "range A live 2..13 write 0*1 read 3*1\nrange A live 6..9 10..16 write 1*1 read 2*1 write 2*1\n\
             range B live 14..16 write 3*1\n",
        );
        assert_eq!(graph.neighbours(LiveRange(0)), [LiveRange(1)]);
        assert_eq!(graph.neighbours(LiveRange(2)), [LiveRange(1)]);
        assert_eq!(graph.statistics(), GraphStatistics { nodes: 3, edges: 2, max_degree: 2 });
    }

    /// A copy and its source do not interfere, until one of them is written again while the other is live.
    #[test]
    fn copies_are_exempt() {
        let copied = "range A live 2..13 write 0*1 read 1*1 read 3*1\nrange A live 6..13 write 1*1 read 3*1\n\
            copy 1 lr1 = lr0 * 1\n";
        assert_eq!(graph(copied).0.statistics().edges, 0);
        let rewritten = "range A live 2..17 write 0*1 read 1*1 read 4*1\nrange A live 6..10 10..17 write 1*1 write 2*1 read 4*1\n\
            copy 1 lr1 = lr0 * 1\n";
        assert_eq!(graph(rewritten).0.statistics().edges, 1);
    }

    /// Live ranges that are live into a block were written earlier: the start of the block adds no edge between them.
    #[test]
    fn meeting_is_no_definition() {
        let body = "range A live 2..4 8..13 write 0*1 read 3*1\nrange A live 6..13 write 1*1 read 3*1\n";
        assert_eq!(graph(body).0.statistics().edges, 0);
    }
}
