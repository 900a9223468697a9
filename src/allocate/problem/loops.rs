//! Loops at which live ranges can be split, and links between the parts of split live ranges.
//!
//! A part of a register is an ordinary live range. If control flow leads from one part to another, the problem has a
//! [`Link`]: on that edge, between instructions, the value changes its place. All links of an edge together are one
//! parallel copy. A value that is in registers on both sides is moved. A value that is in a register on one side and in
//! memory on the other is stored or reloaded. A value that is in memory on both sides stays in the slot that the parts
//! share.

use std::ops::Range;

use super::{LiveRange, Problem};
use crate::analysis::{Loop, Point};
use crate::index::IndexVec;

/// A natural loop with a place for code on each edge that enters or leaves it. An entering block has no other
/// successor, and an exit block has no other predecessors. Other loops are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopData {
    /// The innermost loop of the problem around this loop. Its number is greater than this loop's.
    pub parent: Option<Loop>,
    /// Points of its blocks, including those of inner loops, sorted and disjoint.
    pub spans: Vec<Range<Point>>,
}

/// An edge that enters or leaves loops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// First point of the block that the edge enters.
    pub start: Point,
    /// Innermost loop before the edge.
    pub from: Option<Loop>,
    /// Innermost loop after the edge.
    pub to: Option<Loop>,
    /// Executions of the edge in one run of the function.
    pub frequency: f32,
}

/// An edge on which the value of a register passes from one of its parts to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// First point of the block that the edge enters, at which a segment of `to` starts.
    pub start: Point,
    /// Part that is live after the edge.
    pub to: LiveRange,
    /// Part that was live before the edge. `to` itself if no part was live, or if the value is always in memory.
    pub from: LiveRange,
    /// Executions of the edge in one run of the function.
    pub frequency: f32,
}

impl Problem {
    /// Returns the loops at which live ranges can be split, inner loops before outer ones.
    pub fn loops(&self) -> &IndexVec<Loop, LoopData> {
        &self.loops
    }

    /// Returns the crossings of these loops, in the order of points.
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
    }

    /// Returns the links, sorted by the part that they lead to, and then by point.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Returns the first part of the register to which a live range belongs; the live range itself if it was not split.
    #[inline]
    pub fn family(&self, range: LiveRange) -> LiveRange {
        self.ranges[range].part_of.unwrap_or(range)
    }

    /// Returns the links to a range of parts: from `first`, up to but not including `end`. O(log links).
    pub fn links_to(&self, first: LiveRange, end: LiveRange) -> &[Link] {
        let links = &self.links[self.links.partition_point(|link| link.to < first)..];
        &links[..links.partition_point(|link| link.to < end)]
    }

    /// Returns the links that lead to a live range at a point. O(log links).
    #[inline]
    pub(super) fn links_at(&self, range: LiveRange, start: Point) -> &[Link] {
        if self.links.is_empty() {
            return &[];
        }
        let links = &self.links[self.links.partition_point(|link| (link.to, link.start) < (range, start))..];
        &links[..links.partition_point(|link| (link.to, link.start) == (range, start))]
    }
}
