//! The problem after splits. A live range has one part for each chosen loop, and one for the points outside these
//! loops.

use super::regions::Regions;
use crate::allocate::problem::{
    Access, AccessKind, CopyInst, Crossing, Lane, Link, LiveRange, Problem, ProblemBuilder, read_point,
};
use crate::analysis::{Loop, Point, Segment};
use crate::index::{EntityIndex, IndexVec};

/// Splits live ranges at the boundaries of loops. `chosen` has the loops of each live range, in any order.
///
/// The spill cost of a part is a share of the live range's spill cost, in proportion to the part's accesses. The stores
/// and reloads on the links to other parts count as accesses. O(problem + live ranges · loops).
pub(super) fn split(given: &Problem, regions: &Regions, chosen: &IndexVec<LiveRange, Vec<Loop>>) -> Parted {
    let (builder, loop_of) = (ProblemBuilder::like(given), IndexVec::new());
    let mut splitter = Splitter { given, regions, builder, loop_of, parts: IndexVec::new() };
    for range in given.ranges().ids() {
        let parts = match chosen[range].as_slice() {
            [] => splitter.keep(range),
            loops => splitter.split(range, loops),
        };
        splitter.parts.push(parts);
    }
    for &CopyInst { inst, to, from, frequency } in given.copies() {
        let (to, from) = (splitter.part_at(to, read_point(inst)), splitter.part_at(from, read_point(inst)));
        splitter.builder.copy(CopyInst { inst, to, from, frequency });
    }
    for &lane in given.lanes() {
        let [tuple, member] = [lane.tuple, lane.member].map(|range| splitter.part_at(range, read_point(lane.inst)));
        splitter.builder.lane(Lane { tuple, member, ..lane });
    }
    Parted { problem: splitter.builder.finish(), loop_of: splitter.loop_of }
}

/// A problem with live ranges split.
pub(super) struct Parted {
    pub(super) problem: Problem,
    /// The loop of a part; `None` for the part outside all chosen loops, and for a live range that is not split.
    pub(super) loop_of: IndexVec<LiveRange, Option<Loop>>,
}

/// The parts of a given live range.
struct Parts {
    /// By loop: the part at the points of the loop. The last entry is the part outside all chosen loops. Empty for a
    /// live range that is not split.
    of_loop: Vec<Option<LiveRange>>,
    first: Option<LiveRange>,
}

struct Splitter<'a> {
    given: &'a Problem,
    regions: &'a Regions,
    builder: ProblemBuilder,
    loop_of: IndexVec<LiveRange, Option<Loop>>,
    parts: IndexVec<LiveRange, Parts>,
}

impl Splitter<'_> {
    fn keep(&mut self, range: LiveRange) -> Parts {
        let (data, given) = (&self.given.ranges()[range], self.given);
        let segments = given.segments(range).iter().copied();
        let first = self.builder.range(data.class, segments, given.accesses(range).iter().copied());
        self.builder.spill_cost(first, data.spill_cost);
        self.loop_of.push(None);
        if let Some(unit) = data.fixed {
            self.builder.fix(first, unit);
        }
        if let Some(register) = data.register {
            self.builder.register(first, register);
        }
        Parts { of_loop: Vec::new(), first: Some(first) }
    }

    fn split(&mut self, range: LiveRange, loops: &[Loop]) -> Parts {
        let (given, data) = (self.given, &self.given.ranges()[range]);
        let owners = self.regions.owners(loops);
        let outside = given.loops().len();
        let owner = |at: Option<Loop>| at.map_or(outside, |at| owners[at].map_or(outside, Loop::index));
        let crossed: Vec<&Crossing> = self.regions.crossed(given, range).collect();
        let linked = crossed.iter().filter(|crossing| owner(crossing.from) != owner(crossing.to));
        let starts: Vec<Point> = linked.clone().map(|crossing| crossing.start).collect();

        let mut segments: Vec<Vec<Segment>> = vec![Vec::new(); outside + 1];
        for segment in given.segments(range) {
            for (piece, at) in self.regions.cut(segment) {
                push(&mut segments[owner(at)], piece, &starts);
            }
        }
        let mut accesses: Vec<Vec<Access>> = vec![Vec::new(); outside + 1];
        for &access in given.accesses(range) {
            accesses[owner(self.regions.innermost(read_point(access.inst)))].push(access);
        }
        let times = |accesses: &[Access]| accesses.iter().map(times).sum::<f64>();
        let cost_of_one = f64::from(data.spill_cost) / times(given.accesses(range)).max(f64::MIN_POSITIVE);

        let mut parts = Parts { of_loop: vec![None; outside + 1], first: None };
        // The part outside the loops comes first, and is usually the longest.
        for place in std::iter::once(outside).chain(0..outside) {
            if segments[place].is_empty() {
                continue;
            }
            let is_beside = |crossing: &&&Crossing| owner(crossing.from) == place || owner(crossing.to) == place;
            let ways: f64 = linked.clone().filter(is_beside).map(|crossing| f64::from(crossing.frequency)).sum();
            let cost = cost_of_one * (times(&accesses[place]) + ways);
            let part = self.builder.range(data.class, segments[place].drain(..), accesses[place].drain(..));
            self.builder.spill_cost(part, if data.spill_cost.is_finite() { cost as f32 } else { data.spill_cost });
            if let Some(register) = data.register {
                self.builder.register(part, register);
            }
            match parts.first {
                Some(first) => self.builder.part_of(part, first),
                None => parts.first = Some(part),
            }
            self.loop_of.push((place != outside).then(|| Loop::new(place)));
            parts.of_loop[place] = Some(part);
        }
        for crossing in linked {
            if let Some(to) = parts.of_loop[owner(crossing.to)] {
                let from = parts.of_loop[owner(crossing.from)].unwrap_or(to);
                let (start, frequency) = (crossing.start, crossing.frequency);
                self.builder.link(Link { start, to, from, frequency });
            }
        }
        for place in 0..outside {
            let owner = owners[Loop::new(place)].map_or(outside, Loop::index);
            parts.of_loop[place] = parts.of_loop[owner];
        }
        parts
    }

    /// Returns the part of a live range at a point.
    fn part_at(&self, range: LiveRange, point: Point) -> LiveRange {
        let parts = &self.parts[range];
        let place = parts
            .of_loop
            .len()
            .checked_sub(1)
            .and_then(|outside| parts.of_loop[self.regions.innermost(point).map_or(outside, Loop::index)]);
        place.or(parts.first).unwrap_or(LiveRange(0))
    }
}

/// Appends a piece. It is joined to the last segment if both touch and no link leads to the point between them.
fn push(segments: &mut Vec<Segment>, piece: Segment, starts: &[Point]) {
    match segments.last_mut() {
        Some(last) if last.end == piece.start && last.value == piece.value && !starts.contains(&piece.start) => {
            last.end = piece.end;
        }
        _ => segments.push(piece),
    }
}

/// Returns the number of stores and reloads of a spilled value at an access, in one run of the function.
pub(super) fn times(access: &Access) -> f64 {
    f64::from(access.frequency) * if access.kind == AccessKind::Update { 2.0 } else { 1.0 }
}
