//! Maps program points to owners: the live ranges that share one machine register without overlapping.
//!
//! There is one map from disjoint segments to owners for each colour. An ordered map by segment start serves as
//! interval tree. Disjoint segments have the same order by start and by end, so no node needs the greatest end below
//! it. docs/notebook has the measurements of the standard library's B-tree against a sorted vector, a B+ tree and a
//! red-black tree.

use std::collections::BTreeMap;

use super::{Point, Segment};

/// The overlap of a live range with one segment of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap<T> {
    /// The first point that both segments cover.
    pub start: Point,
    /// The point after the last that both segments cover.
    pub end: Point,
    /// The owner of the tree's segment.
    pub owner: T,
}

/// A map from disjoint segments to owners.
#[derive(Clone, Debug)]
pub struct IntervalTree<T> {
    /// Maps the start of a segment to its end (exclusive) and its owner.
    segments: BTreeMap<Point, (Point, T)>,
}

impl<T> Default for IntervalTree<T> {
    fn default() -> Self {
        Self { segments: BTreeMap::new() }
    }
}

impl<T: Copy> IntervalTree<T> {
    /// Returns an empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of segments.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there are no segments.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Adds a live range that overlaps no segment of the tree. O(its segments · log all).
    pub fn insert(&mut self, range: &[Segment], owner: T) {
        debug_assert!(!self.is_overlapping(range), "the live range overlaps another");
        for segment in range {
            self.segments.insert(segment.start, (segment.end, owner));
        }
    }

    /// Removes a live range; it must be the same as when inserted. O(its segments · log all).
    pub fn remove(&mut self, range: &[Segment]) {
        for segment in range {
            let removed = self.segments.remove(&segment.start);
            debug_assert!(removed.is_some_and(|(end, _)| end == segment.end), "the live range is not in the tree");
        }
    }

    /// Whether a live range overlaps any segment of the tree. O(its segments · log all).
    pub fn is_overlapping(&self, range: &[Segment]) -> bool {
        range.iter().any(|segment| self.reaches_into(segment))
    }

    /// Returns the first overlap of a live range with the tree.
    pub fn first_overlap(&self, range: &[Segment]) -> Option<Overlap<T>> {
        self.overlaps(range).next()
    }

    /// Returns all overlaps of a live range with the tree, in order. O(log all) for each segment of the range, plus the
    /// overlaps.
    pub fn overlaps<'a>(&'a self, range: &'a [Segment]) -> impl Iterator<Item = Overlap<T>> + 'a {
        range.iter().filter(|segment| self.reaches_into(segment)).flat_map(|segment| {
            let before = self.segments.range(..segment.start).next_back();
            let inside = self.segments.range(segment.start..segment.end);
            let overlapping = before.into_iter().chain(inside).filter(|(_, (end, _))| *end > segment.start);
            overlapping.map(|(&start, &(end, owner))| Overlap {
                start: start.max(segment.start),
                end: end.min(segment.end),
                owner,
            })
        })
    }

    /// Whether a segment of the tree overlaps `segment`. The last tree segment that starts before the end of `segment`
    /// also ends last, so it alone decides.
    #[inline]
    fn reaches_into(&self, segment: &Segment) -> bool {
        self.segments.range(..segment.end).next_back().is_some_and(|(_, (end, _))| *end > segment.start)
    }
}

#[cfg(test)]
mod tests {
    use super::IntervalTree;
    use crate::analysis::{Point, Segment, ValueNumber};

    fn segment(start: u32, end: u32) -> Segment {
        Segment { start: Point(start), end: Point(end), value: ValueNumber(0) }
    }

    /// Returns a tree in which every tenth point has its own owner.
    fn comb() -> IntervalTree<u32> {
        let mut tree = IntervalTree::new();
        for at in 0..1000 {
            let tooth = at * 7 % 1000;
            tree.insert(&[segment(10 * tooth, 10 * tooth + 1)], tooth);
        }
        tree
    }

    /// A live range that fills the gaps overlaps nothing. With one more point it overlaps a segment.
    #[test]
    fn gaps_and_teeth() {
        let tree = comb();
        let gaps: Vec<_> = (0..tree.len() as u32).map(|tooth| segment(10 * tooth + 1, 10 * tooth + 10)).collect();
        assert_eq!(tree.first_overlap(&gaps), None);
        assert!(!tree.is_overlapping(&gaps) && tree.is_overlapping(&[segment(1, 11)]));
        let owners: Vec<u32> = tree.overlaps(&[segment(2490, 2521)]).map(|overlap| overlap.owner).collect();
        assert_eq!(owners, [249, 250, 251, 252]);
    }

    /// A removed live range overlaps nothing.
    #[test]
    fn removal_of_everything() {
        let mut tree = comb();
        for tooth in 0..tree.len() as u32 {
            tree.remove(&[segment(10 * tooth, 10 * tooth + 1)]);
            assert_eq!(tree.first_overlap(&[segment(0, 10 * tooth + 10)]), None);
        }
        assert!(tree.is_empty());
        assert_eq!(tree.first_overlap(&[segment(0, u32::MAX)]), None);
    }
}
