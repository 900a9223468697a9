//! The interference graph: which live ranges may not share a place.
//!
//! Two live ranges interfere where one is written while the other is live, unless it is written by a copy of the other
//! (Chaitin, "Register allocation & spilling via graph coloring", 1982). The textbook scans each block backwards from what
//! is live out of it. Live ranges are at hand here, so one sweep over their starts does the same: at each start all that is
//! live is known. Both meet every pair at the definitions alone, so that the cost is that of the edges.

use super::problem::{File, LiveRange, Problem, write_point};
use crate::analysis::Point;
use crate::function::Inst;
use crate::index::{EntityIndex, IndexVec};

/// Which live ranges may not share a place, as lists of neighbours.
#[derive(Clone, Debug, Default)]
pub struct InterferenceGraph {
    /// The neighbours of live range `r` are `neighbours[starts[r]..starts[r + 1]]`.
    starts: Vec<u32>,
    neighbours: Vec<LiveRange>,
}

/// How many nodes and edges a graph has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GraphStatistics {
    /// Live ranges.
    pub nodes: usize,
    /// Pairs that interfere.
    pub edges: usize,
    /// The most neighbours of one live range.
    pub max_degree: usize,
}

impl GraphStatistics {
    /// Neighbours of a live range on average.
    pub fn average_degree(&self) -> f64 {
        2.0 * self.edges as f64 / self.nodes.max(1) as f64
    }

    /// Edges by all that there could be, from 0 to 1.
    pub fn density(&self) -> f64 {
        self.average_degree() / (self.nodes.max(2) - 1) as f64
    }
}

impl InterferenceGraph {
    /// The graph of a problem. O(segments · log segments + edges), an edge counted as often as one of the two is written
    /// where the other is live.
    pub fn new(problem: &Problem) -> Self {
        let pairs = interfering_pairs(problem);
        let mut graph = Self::grouped(problem.ranges().len(), &pairs);
        graph.remove_repetitions();
        graph
    }

    /// The graph with these edges, each given once or more, in either direction.
    fn grouped(num_ranges: usize, pairs: &[(LiveRange, LiveRange)]) -> Self {
        let mut starts = vec![0_u32; num_ranges + 2];
        for &(a, b) in pairs {
            starts[a.index() + 2] += 1;
            starts[b.index() + 2] += 1;
        }
        for at in 2..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut neighbours = vec![LiveRange(0); 2 * pairs.len()];
        for &(a, b) in pairs {
            for (from, to) in [(a, b), (b, a)] {
                let place = &mut starts[from.index() + 1];
                neighbours[*place as usize] = to;
                *place += 1;
            }
        }
        starts.truncate(num_ranges + 1);
        Self { starts, neighbours }
    }

    fn remove_repetitions(&mut self) {
        let num_ranges = self.starts.len() - 1;
        let mut seen_by = vec![u32::MAX; num_ranges];
        let mut kept = 0;
        for range in 0..num_ranges {
            let (start, end) = (self.starts[range] as usize, self.starts[range + 1] as usize);
            self.starts[range] = kept as u32;
            for at in start..end {
                let neighbour = self.neighbours[at];
                if std::mem::replace(&mut seen_by[neighbour.index()], range as u32) != range as u32 {
                    self.neighbours[kept] = neighbour;
                    kept += 1;
                }
            }
        }
        self.starts[num_ranges] = kept as u32;
        self.neighbours.truncate(kept);
    }

    /// The neighbours of a live range, each once, in an order that depends on the problem alone.
    #[inline]
    pub fn neighbours(&self, range: LiveRange) -> &[LiveRange] {
        &self.neighbours[self.starts[range.index()] as usize..self.starts[range.index() + 1] as usize]
    }

    /// How many nodes and edges it has.
    pub fn statistics(&self) -> GraphStatistics {
        let nodes = self.starts.len() - 1;
        let max_degree = LiveRange::all(nodes).map(|range| self.neighbours(range).len()).max().unwrap_or(0);
        GraphStatistics { nodes, edges: self.neighbours.len() / 2, max_degree }
    }
}

/// A segment of a live range, as the sweep takes it up.
struct Start {
    at: Point,
    /// What only goes on comes before what is written at the same point.
    is_written: bool,
    end: Point,
    range: LiveRange,
}

/// All pairs that interfere, some of them more than once.
fn interfering_pairs(problem: &Problem) -> Vec<(LiveRange, LiveRange)> {
    let mut starts = Vec::new();
    for range in problem.ranges().ids() {
        let segments = problem.segments(range).iter();
        starts.extend(segments.map(|segment| {
            let is_written = problem.is_written_at(range, segment.start);
            Start { at: segment.start, is_written, end: segment.end, range }
        }));
    }
    starts.sort_unstable_by_key(|start| (start.at, start.is_written, start.range));

    let mut live: IndexVec<File, Vec<(Point, Point, LiveRange)>> = IndexVec::filled(Vec::new(), problem.files().len());
    let mut copies = problem.copies();
    let mut pairs = Vec::new();
    for Start { at, is_written, end, range } in starts {
        let live = &mut live[problem.file(range)];
        if is_written {
            let inst = Inst(at.0 / 4);
            while copies.first().is_some_and(|copy| copy.inst < inst) {
                copies = &copies[1..];
            }
            let is_write = at == write_point(inst);
            let mut here = copies.iter().take_while(|copy| is_write && copy.inst == inst);
            let copied = here.find(|copy| copy.to == range);
            let copied = copied.map(|copy| copy.from);
            live.retain(|&(start, end, other)| {
                let is_live = end > at;
                // What is written at the same point is not what was copied.
                let is_copy = copied == Some(other) && start < at;
                if is_live && other != range && !is_copy {
                    pairs.push((range, other));
                }
                is_live
            });
        }
        live.push((at, end, range));
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

    /// Two live ranges interfere where one is written while the other lives, and are neighbours once.
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

    /// A copy and its source do not interfere, until one of them is written anew while the other lives.
    #[test]
    fn copies_are_exempt() {
        let copied = "range A live 2..13 write 0*1 read 1*1 read 3*1\nrange A live 6..13 write 1*1 read 3*1\n\
            copy 1 lr1 = lr0 * 1\n";
        assert_eq!(graph(copied).0.statistics().edges, 0);
        let rewritten = "range A live 2..17 write 0*1 read 1*1 read 4*1\nrange A live 6..10 10..17 write 1*1 write 2*1 read 4*1\n\
            copy 1 lr1 = lr0 * 1\n";
        assert_eq!(graph(rewritten).0.statistics().edges, 1);
    }

    /// What two blocks bring along together was written somewhere: the place where they meet adds nothing.
    #[test]
    fn meeting_is_no_definition() {
        let body = "range A live 2..4 8..13 write 0*1 read 3*1\nrange A live 6..13 write 1*1 read 3*1\n";
        assert_eq!(graph(body).0.statistics().edges, 0);
    }
}
