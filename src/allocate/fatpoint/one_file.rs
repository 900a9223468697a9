//! The problem of one register file alone. Files do not overlap, so each is allocated by itself.

use crate::allocate::allocation::Allocation;
use crate::allocate::problem::{CopyInst, File, Lane, Link, LiveRange, Problem, ProblemBuilder};
use crate::index::IndexVec;

/// The part of a problem that belongs to one file.
#[derive(Debug)]
pub(super) struct OneFile {
    pub(super) problem: Problem,
    /// By live range of this part: the live range of the whole problem.
    given: IndexVec<LiveRange, LiveRange>,
}

impl OneFile {
    /// Extracts a file's part from a problem, with `register_limit` units. O(problem).
    pub(super) fn new(problem: &Problem, file: File, register_limit: Option<u32>) -> Self {
        let mut builder = ProblemBuilder::like(problem);
        builder.register_limit(file, register_limit);
        let mut given: IndexVec<LiveRange, LiveRange> = IndexVec::new();
        let mut own: IndexVec<LiveRange, LiveRange> = IndexVec::filled(LiveRange(0), problem.ranges().len());
        for (range, data) in problem.ranges().iter_enumerated().filter(|&(range, _)| problem.file(range) == file) {
            let segments = problem.segments(range).iter().copied();
            own[range] = builder.range(data.class, segments, problem.accesses(range).iter().copied());
            given.push(range);
            builder.spill_cost(own[range], data.spill_cost);
            if let Some(unit) = data.fixed {
                builder.fix(own[range], unit);
            }
            if let Some(first) = data.part_of {
                builder.part_of(own[range], own[first]);
            }
        }
        for &CopyInst { inst, to, from, frequency } in
            problem.copies().iter().filter(|copy| problem.file(copy.to) == file)
        {
            builder.copy(CopyInst { inst, to: own[to], from: own[from], frequency });
        }
        for &Link { start, to, from, frequency } in problem.links().iter().filter(|link| problem.file(link.to) == file)
        {
            builder.link(Link { start, to: own[to], from: own[from], frequency });
        }
        for &lane in problem.lanes().iter().filter(|lane| problem.file(lane.tuple) == file) {
            builder.lane(Lane { tuple: own[lane.tuple], member: own[lane.member], ..lane });
        }
        Self { problem: builder.finish(), given }
    }

    /// Copies the file's allocation into the allocation of the whole problem. `found` is the allocation of this part.
    pub(super) fn enter(&self, found: &Allocation, problem: &Problem, into: &mut Allocation) {
        for (own, &given) in self.given.iter_enumerated() {
            into.placements[given] = found.placements[own];
            let (from, to) = (self.problem.first_access(own), problem.first_access(given));
            let count = problem.accesses(given).len();
            into.pieces[to..to + count].copy_from_slice(&found.pieces[from..from + count]);
        }
    }

    /// Whether the file has no live ranges.
    pub(super) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }
}
