//! Candidates for the interval tree, on the live ranges of one colour. Run with `cargo bench --bench interval_tree`.
//!
//! The production structure, the standard library's B-tree, is measured beside the others, so that the choice can be
//! made anew: a sorted vector, a B+ tree of two levels, and a red-black tree that carries the greatest end of each
//! subtree. The sorted vector is left out where one round of insertions takes seconds.

use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use iset::IntervalMap;
use nvptx_ra::analysis::{AnalysisContext, IntervalTree, Point, Segment};

mod support;

trait Candidate: Default {
    const NAME: &'static str;
    fn insert(&mut self, range: &[Segment], owner: u32);
    fn remove(&mut self, range: &[Segment]);
    fn is_overlapping(&self, range: &[Segment]) -> bool;
}

#[derive(Default)]
struct Production(IntervalTree<u32>);

impl Candidate for Production {
    const NAME: &'static str = "production";

    fn insert(&mut self, range: &[Segment], owner: u32) {
        self.0.insert(range, owner);
    }

    fn remove(&mut self, range: &[Segment]) {
        self.0.remove(range);
    }

    fn is_overlapping(&self, range: &[Segment]) -> bool {
        self.0.is_overlapping(range)
    }
}

#[derive(Clone, Copy)]
struct Entry {
    start: Point,
    end: Point,
    #[expect(dead_code, reason = "no question asks for it, but a map holds it, and its memory counts")]
    owner: u32,
}

/// One sorted vector; a live range is merged in from behind.
#[derive(Default)]
struct SortedVector(Vec<Entry>);

impl Candidate for SortedVector {
    const NAME: &'static str = "sorted vector";

    fn insert(&mut self, range: &[Segment], owner: u32) {
        let mut from = self.0.len();
        let entries = range.iter().map(|segment| Entry { start: segment.start, end: segment.end, owner });
        self.0.extend(entries.clone());
        let mut to = self.0.len();
        for entry in entries.rev() {
            while from > 0 && self.0[from - 1].start > entry.start {
                from -= 1;
                to -= 1;
                self.0[to] = self.0[from];
            }
            to -= 1;
            self.0[to] = entry;
        }
    }

    fn remove(&mut self, range: &[Segment]) {
        let Some(first) = range.first() else { return };
        let mut to = self.0.partition_point(|entry| entry.start < first.start);
        let mut segments = range.iter().peekable();
        let first_moved = to;
        for from in first_moved..self.0.len() {
            if segments.next_if(|segment| segment.start == self.0[from].start).is_none() {
                self.0[to] = self.0[from];
                to += 1;
            }
        }
        self.0.truncate(to);
    }

    fn is_overlapping(&self, range: &[Segment]) -> bool {
        let mut rest = self.0.as_slice();
        for segment in range {
            let mut step = 1;
            while rest.get(step).is_some_and(|entry| entry.end <= segment.start) {
                step *= 2;
            }
            let near = &rest[..rest.len().min(step + 1)];
            rest = &rest[near.partition_point(|entry| entry.end <= segment.start)..];
            match rest.first() {
                Some(entry) if entry.start < segment.end => return true,
                Some(_) => {}
                None => return false,
            }
        }
        false
    }
}

/// A B+ tree of two levels: sorted vectors of some cache lines, and the vector of their first points.
#[derive(Default)]
struct TwoLevels {
    firsts: Vec<Point>,
    leaves: Vec<Vec<Entry>>,
}

impl TwoLevels {
    const CAPACITY: usize = 128;

    fn leaf_of(&self, point: Point) -> usize {
        self.firsts.partition_point(|&first| first <= point).saturating_sub(1)
    }
}

impl Candidate for TwoLevels {
    const NAME: &'static str = "B+ tree";

    fn insert(&mut self, range: &[Segment], owner: u32) {
        for segment in range {
            let entry = Entry { start: segment.start, end: segment.end, owner };
            if self.leaves.is_empty() {
                self.firsts.push(entry.start);
                self.leaves.push(Vec::with_capacity(Self::CAPACITY));
            }
            let mut at = self.leaf_of(entry.start);
            if self.leaves[at].len() == Self::CAPACITY {
                let mut upper = Vec::with_capacity(Self::CAPACITY);
                upper.extend(self.leaves[at].drain(Self::CAPACITY / 2..));
                self.firsts.insert(at + 1, upper[0].start);
                self.leaves.insert(at + 1, upper);
                at = self.leaf_of(entry.start);
            }
            let leaf = &mut self.leaves[at];
            let place = leaf.partition_point(|other| other.start < entry.start);
            leaf.insert(place, entry);
            self.firsts[at] = leaf[0].start;
        }
    }

    fn remove(&mut self, range: &[Segment]) {
        for segment in range {
            let at = self.leaf_of(segment.start);
            let leaf = &mut self.leaves[at];
            let place = leaf.partition_point(|other| other.start < segment.start);
            leaf.remove(place);
            if leaf.is_empty() {
                self.leaves.remove(at);
                self.firsts.remove(at);
            }
        }
    }

    fn is_overlapping(&self, range: &[Segment]) -> bool {
        for segment in range {
            let mut at = self.leaf_of(segment.start);
            let Some(leaf) = self.leaves.get(at) else { return false };
            let mut place = leaf.partition_point(|entry| entry.end <= segment.start);
            if place == leaf.len() {
                (at, place) = (at + 1, 0);
            }
            if self.leaves.get(at).is_some_and(|leaf| leaf[place].start < segment.end) {
                return true;
            }
        }
        false
    }
}

/// The red-black interval tree of the crate `iset`.
#[derive(Default)]
struct RedBlack(IntervalMap<u32, u32>);

impl Candidate for RedBlack {
    const NAME: &'static str = "red-black";

    fn insert(&mut self, range: &[Segment], owner: u32) {
        for segment in range {
            self.0.insert(segment.start.0..segment.end.0, owner);
        }
    }

    fn remove(&mut self, range: &[Segment]) {
        for segment in range {
            self.0.remove(segment.start.0..segment.end.0);
        }
    }

    fn is_overlapping(&self, range: &[Segment]) -> bool {
        range.iter().any(|segment| self.0.values(segment.start.0..segment.end.0).next().is_some())
    }
}

/// What an allocator asks of one colour.
struct Workload {
    /// Live ranges that fit one colour, as first fit finds them, in the order of their insertion: longest first.
    members: Vec<Vec<Segment>>,
    /// Live ranges of the same function, members or not.
    queries: Vec<Vec<Segment>>,
}

impl Workload {
    fn new(size: usize) -> Self {
        let function = support::kernel(size);
        let regs: Vec<_> = function.regs().collect();
        let mut context = AnalysisContext::default();
        context.cfg.compute(&function);
        context.dominators.compute(&function, &context.cfg);
        context.occurrences.compute(&function, &|_, operand| operand.reg());
        context.live_ranges.compute(&function, &context.cfg, &context.dominators, &context.occurrences, &regs);
        let mut queries: Vec<Vec<Segment>> =
            regs.iter().map(|&reg| context.live_ranges.segments(reg).to_vec()).collect();
        queries.retain(|range| !range.is_empty());
        let length = |range: &Vec<Segment>| range.iter().map(|segment| segment.end.0 - segment.start.0).sum::<u32>();
        queries.sort_by_key(|range| std::cmp::Reverse(length(range)));
        // The third colour: the first ones hold little but the longest ranges.
        let mut colours: [IntervalTree<u32>; 3] = Default::default();
        let mut members = Vec::new();
        for range in &queries {
            let free = colours.iter().position(|colour| !colour.is_overlapping(range));
            if let Some(free) = free {
                colours[free].insert(range, 0);
                if free == 2 {
                    members.push(range.clone());
                }
            }
        }
        Self { members, queries }
    }
}

/// Measures a candidate; how many of the queries overlap it, which all must agree on.
fn measure<C: Candidate>(criterion: &mut Criterion, work: &Workload) -> usize {
    let num_segments: usize = work.members.iter().map(Vec::len).sum();
    let filled = || {
        let mut candidate = C::default();
        for (owner, range) in work.members.iter().enumerate() {
            candidate.insert(range, owner as u32);
        }
        candidate
    };
    let mut group = criterion.benchmark_group("interval tree");
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(800));
    group.throughput(Throughput::Elements(work.members.len() as u64));
    group.bench_function(BenchmarkId::new(format!("insert/{}", C::NAME), num_segments), |bencher| {
        bencher.iter(filled);
    });
    group.bench_function(BenchmarkId::new(format!("remove/{}", C::NAME), num_segments), |bencher| {
        let remove_all = |mut candidate: C| work.members.iter().for_each(|range| candidate.remove(range));
        bencher.iter_batched(filled, remove_all, BatchSize::LargeInput);
    });
    let candidate = filled();
    group.throughput(Throughput::Elements(work.queries.len() as u64));
    let count = || work.queries.iter().filter(|range| candidate.is_overlapping(range)).count();
    group.bench_function(BenchmarkId::new(format!("query/{}", C::NAME), num_segments), |bencher| bencher.iter(count));
    group.finish();
    count()
}

fn candidates(criterion: &mut Criterion) {
    for size in [1_000, 10_000, 100_000, 1_000_000] {
        let work = Workload::new(size);
        let expected = measure::<Production>(criterion, &work);
        assert_eq!(measure::<TwoLevels>(criterion, &work), expected);
        assert_eq!(measure::<RedBlack>(criterion, &work), expected);
        if size <= 100_000 {
            assert_eq!(measure::<SortedVector>(criterion, &work), expected);
        }
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    candidates(&mut criterion);
    criterion.final_summary();
}
