//! Relieve: if the interference graph would be too large to build, live ranges that must be spilled anyway are spilled
//! first.
//!
//! If N live ranges are live at once, the graph has N² / 2 edges, and every test of a copy visits N neighbours. Up to a
//! few times the register limit, the graph is worth its cost, because it gives the best choice of live ranges to spill.
//! For a larger N, nearly all live ranges must be spilled, whatever the graph is. Then a sweep over the starts of
//! segments spills live ranges until no more units are live at once than the register limit has, like a linear scan
//! (Poletto and Sarkar, "Linear scan register allocation", TOPLAS 1999). After that, the units that are live at a write
//! are at most the register limit, so the graph grows linearly with the problem.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::super::indexed_heap::Ordered;
use super::super::problem::{File, LiveRange, Problem};
use crate::analysis::Point;
use crate::index::IndexVec;

/// Most edges for each node of a graph that is built completely. A node of such a graph has at most 1024 neighbours on
/// average, four times the largest register limit.
pub(super) const EDGES_OF_NODE: u64 = 512;

/// Estimates the number of edges of the interference graph. Each live range has an edge to every live range that is
/// live at one of its writes. O(segments · log segments).
pub(super) fn expected_edges(problem: &Problem) -> u64 {
    let mut edges = 0;
    for file in problem.files().ids() {
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for range in problem.ranges().ids().filter(|&range| problem.file(range) == file) {
            for segment in problem.segments(range) {
                starts.push((segment.start, problem.is_written_at(range, segment.start)));
                ends.push(segment.end);
            }
        }
        starts.sort_unstable();
        ends.sort_unstable();
        let mut ended = 0;
        for (number, &(at, is_written)) in starts.iter().enumerate() {
            ended += ends[ended..].partition_point(|&end| end <= at);
            edges += if is_written { (number - ended) as u64 } else { 0 };
        }
    }
    edges
}

/// Whether a graph with this number of edges is too large to be built.
pub(super) fn is_too_large(edges: u64, problem: &Problem) -> bool {
    edges > EDGES_OF_NODE * problem.ranges().len() as u64
}

/// Chooses live ranges to spill until the live units fit each register limit, as far as live ranges may be spilled. At
/// each point, the live ranges with the least cost for each freed unit and point are chosen. O(segments · log
/// segments).
pub(super) fn to_relieve(problem: &Problem) -> Vec<LiveRange> {
    let mut spilled = Vec::new();
    for file in problem.files().ids() {
        if let Some(register_limit) = problem.files()[file].register_limit {
            relieve_file(problem, file, register_limit, &mut spilled);
        }
    }
    spilled.sort_unstable();
    spilled
}

fn relieve_file(problem: &Problem, file: File, register_limit: u32, spilled: &mut Vec<LiveRange>) {
    let mut starts: Vec<(Point, Point, LiveRange)> = Vec::new();
    for range in problem.ranges().ids().filter(|&range| problem.file(range) == file) {
        starts.extend(problem.segments(range).iter().map(|segment| (segment.start, segment.end, range)));
    }
    starts.sort_unstable();
    let mut is_spilled = IndexVec::<LiveRange, bool>::filled(false, problem.ranges().len());
    // The live ranges that are live, by their ends. The candidates are those of them that may be spilled, cheapest
    // first.
    let mut live: BinaryHeap<Reverse<(Point, LiveRange)>> = BinaryHeap::new();
    let mut candidates: BTreeSet<(Ordered, LiveRange)> = BTreeSet::new();
    let mut units = 0;
    for (start, end, range) in starts {
        while let Some(&Reverse((end, ended))) = live.peek()
            && end <= start
        {
            live.pop();
            if !is_spilled[ended] {
                units -= problem.class(ended).width;
                candidates.remove(&(cost_of_point(problem, ended), ended));
            }
        }
        if is_spilled[range] {
            continue;
        }
        units += problem.class(range).width;
        live.push(Reverse((end, range)));
        if problem.ranges()[range].fixed.is_none() && problem.ranges()[range].spill_cost.is_finite() {
            candidates.insert((cost_of_point(problem, range), range));
        }
        while units > register_limit
            && let Some((_, cheapest)) = candidates.pop_first()
        {
            is_spilled[cheapest] = true;
            units -= problem.class(cheapest).width;
            spilled.push(cheapest);
        }
    }
}

/// Returns the spill cost of a live range for each point and unit that spilling it frees.
fn cost_of_point(problem: &Problem, range: LiveRange) -> Ordered {
    let points: u32 = problem.segments(range).iter().map(|segment| segment.end.0 - segment.start.0).sum();
    let freed = points.max(1) as f32 * problem.class(range).width as f32;
    Ordered::new(problem.ranges()[range].spill_cost / freed)
}

#[cfg(test)]
mod tests {
    use super::super::Briggs;
    use super::*;
    use crate::allocate::{AllocationStatistics, Allocator, check_allocation};

    /// A loop with `count` values that are all live at once. Each is copied to the next at the loop's end.
    fn crowd(count: u32, register_limit: &str) -> Problem {
        let mut text = format!("allocation 1\nproblem k\nfile R{register_limit}\nclass A R\n");
        let (first_copy, first_use) = (count, 2 * count);
        for number in 0..count {
            let (write, copied) = (number, first_copy + number);
            let last = 4 * (first_use + number) + 1;
            text += &format!(
                "range A cost 3 live {}..{last} write {write}*1 read {copied}*9 read {}*1\n",
                4 * write + 2,
                first_use + number
            );
        }
        for number in 0..count {
            let copy = first_copy + number;
            text +=
                &format!("range A cost 2 live {}..{} write {copy}*9 read {}*1\n", 4 * copy + 2, 4 * copy + 5, copy + 1);
        }
        for number in 0..count {
            text += &format!("copy {} lr{} = lr{number} * 9\n", first_copy + number, count + number);
        }
        let problem = Problem::parse(&(text + "end\n")).expect("a problem");
        problem.validate().expect("a sound problem");
        problem
    }

    fn statistics(problem: &Problem) -> AllocationStatistics {
        let allocation = Briggs::default().allocate(problem).expect("it can be allocated");
        check_allocation(problem, &allocation).expect("the allocation is right");
        allocation.statistics
    }

    /// A problem of twice the size has about twice as many edges, whatever its pressure.
    #[test]
    fn the_graph_grows_with_the_problem() {
        let [small, large] = [2_000, 4_000].map(|count| statistics(&crowd(count, " budget 64")));
        assert!(small.spilled_before > 0 && large.too_many_edges > 3 * small.too_many_edges, "{small:?} {large:?}");
        assert!(large.edges as f64 <= 2.5 * small.edges as f64, "{small:?} {large:?}");
    }

    /// Problems of moderate size are left to the graph: none of their live ranges is spilled early.
    #[test]
    fn moderate_problems_keep_their_graph() {
        let statistics = statistics(&crowd(300, " budget 64"));
        assert_eq!((statistics.spilled_before, statistics.too_many_edges), (0, 0));
        assert!(statistics.edges > 300 * 300 / 2);
    }

    /// Without a register limit, no live range may be spilled: the greedy allocator takes over, and the statistics show
    /// it.
    #[test]
    fn without_a_limit_greedy_takes_over() {
        let statistics = statistics(&crowd(2_000, ""));
        assert!(statistics.too_many_edges > 0 && statistics.spilled_before == 0 && statistics.edges == 0);
    }

    /// The estimate is exact if no copies exist and no two live ranges are written at once.
    #[test]
    fn edges_are_estimated_right() {
        let text = "allocation 1\nproblem k\nfile R budget 8\nclass A R\nrange A live 2..17 write 0*1 read 4*1\n\
            range A live 6..13 write 1*1 read 3*1\nrange A live 10..17 write 2*1 read 4*1\n\
            range A live 14..17 write 3*1 read 4*1\nend\n";
        let problem = Problem::parse(text).expect("a problem");
        assert_eq!(expected_edges(&problem), 5);
        assert_eq!(crate::allocate::InterferenceGraph::new(&problem).statistics().edges, 5);
    }
}
