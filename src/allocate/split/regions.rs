//! The innermost loop of each point.

use crate::allocate::problem::{AccessKind, Crossing, LiveRange, Problem};
use crate::analysis::{Loop, Point, Segment, covering};
use crate::function::Inst;
use crate::index::IndexVec;

/// The loops of a problem, by point.
pub(super) struct Regions {
    /// Start of each stretch of points, with its innermost loop. Points before the first stretch are in no loop.
    starts: Vec<(Point, Option<Loop>)>,
    parents: IndexVec<Loop, Option<Loop>>,
}

impl Regions {
    /// Collects the loops. O(spans · (log spans + depth)).
    pub(super) fn new(problem: &Problem) -> Self {
        let loops = problem.loops();
        let spans = loops.iter().flat_map(|data| &data.spans).flat_map(|span| [span.start, span.end]);
        // Segments are also cut where a crossing arrives, so that parts can start there.
        let arrivals = problem.crossings().iter().map(|crossing| crossing.start);
        let mut starts: Vec<(Point, Option<Loop>)> = spans.chain(arrivals).map(|point| (point, None)).collect();
        starts.sort_unstable_by_key(|&(point, _)| point);
        starts.dedup_by_key(|&mut (point, _)| point);
        // In reverse order, inner loops overwrite the loops around them.
        for (of, data) in loops.iter_enumerated().rev() {
            for span in &data.spans {
                let first = starts.partition_point(|&(point, _)| point < span.start);
                for (_, innermost) in starts[first..].iter_mut().take_while(|(point, _)| *point < span.end) {
                    *innermost = Some(of);
                }
            }
        }
        Self { starts, parents: loops.iter().map(|data| data.parent).collect() }
    }

    /// Returns the innermost loop around a point. O(log spans).
    pub(super) fn innermost(&self, point: Point) -> Option<Loop> {
        let after = self.starts.partition_point(|&(start, _)| start <= point);
        self.starts[..after].last().and_then(|&(_, innermost)| innermost)
    }

    /// Returns a loop and its ancestors.
    pub(super) fn chain(&self, innermost: Option<Loop>) -> impl Iterator<Item = Loop> + '_ {
        std::iter::successors(innermost, |&of| self.parents[of])
    }

    /// Computes for each loop the innermost of the `chosen` loops that contains it.
    pub(super) fn owners(&self, chosen: &[Loop]) -> IndexVec<Loop, Option<Loop>> {
        let mut owners: IndexVec<Loop, Option<Loop>> = IndexVec::filled(None, self.parents.len());
        for of in self.parents.ids().rev() {
            let around = self.parents[of].and_then(|parent| owners[parent]);
            owners[of] = if chosen.contains(&of) { Some(of) } else { around };
        }
        owners
    }

    /// Cuts a segment into pieces with one innermost loop each, in order.
    pub(super) fn cut<'a>(&'a self, segment: &Segment) -> impl Iterator<Item = (Segment, Option<Loop>)> + 'a {
        let segment = *segment;
        let mut next = self.starts.partition_point(|&(start, _)| start <= segment.start);
        let mut at = segment.start;
        std::iter::from_fn(move || {
            if at >= segment.end {
                return None;
            }
            let innermost = self.starts[..next].last().and_then(|&(_, innermost)| innermost);
            let end = self.starts.get(next).map_or(segment.end, |&(start, _)| start.min(segment.end));
            let piece = Segment { start: at, end, ..segment };
            next += 1;
            at = end;
            Some((piece, innermost))
        })
    }

    /// Returns the crossings that the value of a live range goes through: the live range is live at the crossing's
    /// point, which is in the loop after the edge.
    pub(super) fn crossed<'a>(&'a self, problem: &'a Problem, range: LiveRange) -> impl Iterator<Item = &'a Crossing> {
        let (segments, crossings) = (problem.segments(range), problem.crossings());
        let [first, last] = [segments.first().map(|first| first.start), segments.last().map(|last| last.end)];
        let [from, to] = [first, last].map(|bound| {
            let bound = bound.unwrap_or(Point(0));
            crossings.partition_point(|crossing| crossing.start < bound)
        });
        crossings[from..to].iter().filter(move |crossing| {
            let Some(segment) = covering(segments, crossing.start) else { return false };
            // An early write at the block's first instruction begins at the same point, but no earlier value enters
            // there.
            let inst = Inst(crossing.start.0 / 4);
            let is_new = segment.start == crossing.start
                && problem.accesses_at(range, inst).first().is_some_and(|access| access.kind == AccessKind::EarlyWrite);
            !is_new && self.innermost(crossing.start) == crossing.to
        })
    }
}
