//! Program points, and sorted lists of half-open segments between them.

use std::fmt;

use crate::define_index;
use crate::function::{Block, Function, Inst};

define_index! {
    /// A value of a register: the result of one definition, or of one place at which definitions meet. Dense over all
    /// registers of a [`LiveRanges`](super::LiveRanges).
    ValueNumber, "v"
}

/// A point in the order of execution within a block: an instruction reads at `2 * inst` and writes at `2 * inst + 1`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point(pub u32);

impl Point {
    /// Returns the point at which an instruction reads.
    #[inline]
    pub fn early(inst: Inst) -> Self {
        Self(2 * inst.0)
    }

    /// Returns the point at which an instruction writes.
    #[inline]
    pub fn late(inst: Inst) -> Self {
        Self(2 * inst.0 + 1)
    }

    /// Returns the start of a block. The block's PHIs write here, and live-in registers are live from here.
    #[inline]
    pub fn block_start(function: &Function, block: Block) -> Self {
        Self::early(function.block_range(block).start)
    }

    /// Returns the end of a block, at which live-out ranges end (exclusive).
    #[inline]
    pub fn block_end(function: &Function, block: Block) -> Self {
        Self::early(function.block_range(block).end)
    }

    /// Returns the instruction to which the point belongs.
    #[inline]
    pub fn inst(self) -> Inst {
        Inst(self.0 / 2)
    }

    /// Returns the next point.
    #[inline]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Debug for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0 / 2, if self.0.is_multiple_of(2) { 'r' } else { 'w' })
    }
}

/// A half-open range of points over which a register holds one value.
///
/// Lists of segments are sorted and disjoint. Touching segments of one list differ in their values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The first point.
    pub start: Point,
    /// The point after the last.
    pub end: Point,
    /// The value that the register holds.
    pub value: ValueNumber,
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:?},{:?}){:?}", self.start, self.end, self.value)
    }
}

/// Returns the segment that covers a point. O(log segments).
#[inline]
pub(crate) fn covering(segments: &[Segment], point: Point) -> Option<&Segment> {
    let at = segments.partition_point(|segment| segment.end <= point);
    segments.get(at).filter(|segment| segment.start <= point)
}

/// Appends a segment that starts at or after the end of the last segment. Discards an empty segment. Merges the segment
/// with the last if they touch and hold the same value. Segments before `first` belong to another list.
#[inline]
pub(crate) fn append(out: &mut Vec<Segment>, first: usize, segment: Segment) {
    if segment.start >= segment.end {
        return;
    }
    if out.len() > first
        && let Some(last) = out.last_mut()
        && last.end == segment.start
        && last.value == segment.value
    {
        last.end = segment.end;
        return;
    }
    out.push(segment);
}

/// Returns the index of the first segment, from index `from` on, that ends after `point`. The search is exponential
/// because the result is usually near.
#[inline]
fn gallop(segments: &[Segment], from: usize, point: Point) -> usize {
    let mut low = from;
    let mut step = 1;
    while segments.get(low + step - 1).is_some_and(|segment| segment.end <= point) {
        low += step;
        step *= 2;
    }
    let high = segments.len().min(low + step - 1);
    low + segments[low..high].partition_point(|segment| segment.end <= point)
}

/// Whether two live ranges have a conflicting overlap. `conflict` is called with the two values of each pair of
/// overlapping segments, in order, until it returns true. Two values with equal bits need not conflict.
///
/// O(smaller · log(larger / smaller) + overlapping pairs).
#[inline]
pub fn overlap(a: &[Segment], b: &[Segment], mut conflict: impl FnMut(ValueNumber, ValueNumber) -> bool) -> bool {
    let (mut at_a, mut at_b) = (0, 0);
    while let (Some(one), Some(other)) = (a.get(at_a), b.get(at_b)) {
        if one.end <= other.start {
            at_a = gallop(a, at_a + 1, other.start);
        } else if other.end <= one.start {
            at_b = gallop(b, at_b + 1, one.start);
        } else if conflict(one.value, other.value) {
            return true;
        } else if one.end <= other.end {
            at_a += 1;
        } else {
            at_b += 1;
        }
    }
    false
}

/// Computes in `out` the union of two live ranges; `out` is cleared first. Where both cover a point, the result has the
/// value of `a`. Callers merge overlapping ranges only if the two values have the same bits. O(segments).
pub fn union(a: &[Segment], b: &[Segment], out: &mut Vec<Segment>) {
    out.clear();
    out.reserve(a.len() + b.len());
    let mut rest_of_b = b.iter().copied();
    let mut pending = rest_of_b.next();
    for &segment in a {
        while let Some(other) = pending.filter(|other| other.start < segment.end) {
            append(out, 0, Segment { end: other.end.min(segment.start), ..other });
            if other.end > segment.end {
                pending = Some(Segment { start: segment.end, ..other });
                break;
            }
            pending = rest_of_b.next();
        }
        append(out, 0, segment);
    }
    for other in pending.into_iter().chain(rest_of_b) {
        append(out, 0, other);
    }
}

#[cfg(test)]
mod tests {
    use super::{Point, Segment, ValueNumber, covering, overlap, union};

    fn segments(list: &[(u32, u32, u32)]) -> Vec<Segment> {
        list.iter()
            .map(|&(start, end, value)| Segment { start: Point(start), end: Point(end), value: ValueNumber(value) })
            .collect()
    }

    fn united(a: &[(u32, u32, u32)], b: &[(u32, u32, u32)]) -> Vec<Segment> {
        let mut out = Vec::new();
        union(&segments(a), &segments(b), &mut out);
        out
    }

    /// Segments that only touch do not overlap.
    #[test]
    fn touching_is_no_overlap() {
        let (a, b) = (segments(&[(0, 4, 0), (8, 12, 0)]), segments(&[(4, 8, 1), (12, 20, 1)]));
        assert!(!overlap(&a, &b, |_, _| true));
    }

    /// `conflict` is called for every overlapping pair of values, in order, up to the first conflict.
    #[test]
    fn pairs_in_order() {
        let (a, b) = (segments(&[(0, 4, 0), (6, 9, 1)]), segments(&[(1, 3, 2), (3, 7, 3), (9, 11, 4)]));
        let mut asked = Vec::new();
        assert!(!overlap(&a, &b, |one, other| {
            asked.push((one.0, other.0));
            false
        }));
        assert_eq!(asked, [(0, 2), (0, 3), (1, 3)]);
        assert!(overlap(&a, &b, |_, other| other == ValueNumber(3)));
    }

    /// A single segment is located among many segments, whichever of the two lists comes first.
    #[test]
    fn lopsided() {
        let many: Vec<(u32, u32, u32)> = (0..1000).map(|at| (10 * at, 10 * at + 5, at)).collect();
        let many = segments(&many);
        for (start, hit) in [(0, true), (5, false), (7325, false), (7324, true), (9994, true), (9995, false)] {
            let one = segments(&[(start, start + 1, 0)]);
            assert_eq!(overlap(&one, &many, |_, _| true), hit, "at {start}");
            assert_eq!(overlap(&many, &one, |_, _| true), hit, "at {start}");
        }
        assert!(!overlap(&many, &[], |_, _| true));
    }

    /// A union keeps both ranges in order, merges touching segments with the same value, and prefers the first range
    /// where both cover a point.
    #[test]
    fn unions() {
        assert_eq!(united(&[(0, 4, 0)], &[(4, 8, 0), (9, 10, 1)]), segments(&[(0, 8, 0), (9, 10, 1)]));
        assert_eq!(united(&[(4, 6, 0)], &[(0, 10, 1)]), segments(&[(0, 4, 1), (4, 6, 0), (6, 10, 1)]));
        assert_eq!(united(&[(0, 10, 0)], &[(2, 3, 1), (9, 12, 2)]), segments(&[(0, 10, 0), (10, 12, 2)]));
        assert_eq!(united(&[(5, 6, 0)], &[(0, 1, 1), (7, 8, 1)]), segments(&[(0, 1, 1), (5, 6, 0), (7, 8, 1)]));
        assert_eq!(united(&[], &[(0, 1, 1)]), segments(&[(0, 1, 1)]));
    }

    /// A segment covers its start but not its end.
    #[test]
    fn coverage() {
        let list = segments(&[(2, 4, 0), (6, 8, 1)]);
        let at = |point| covering(&list, Point(point)).map(|segment| segment.value.0);
        assert_eq!([1, 2, 3, 4, 6, 7, 8].map(at), [None, Some(0), Some(0), None, Some(1), Some(1), None]);
    }

    /// A segment has three words, so a cache line holds five segments.
    #[test]
    fn segment_is_small() {
        assert_eq!(size_of::<Segment>(), 12);
    }
}
