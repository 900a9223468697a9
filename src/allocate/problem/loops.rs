//! Loops at which live ranges can be split, and links between the parts of split ones.
//!
//! A part of a register is an ordinary live range. If control flow leads from one part to another, there is a [`Link`]:
//! on that edge, and at no instruction, the value changes its place. All links of an edge together are one parallel
//! copy. A value in two registers moves. A value in a register and in memory is stored or reloaded. A value that is in
//! memory on both sides stays in the slot that the parts share.

use std::ops::Range;

use super::{LiveRange, Problem};
use crate::analysis::{Loop, Point};
use crate::index::IndexVec;

/// A natural loop with a place for code on each edge that enters or leaves it. An entering block has no other
/// successor, and an exit block has no other predecessors. Other loops are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopData {
    /// The innermost of these loops around it, which has a greater number.
    pub parent: Option<Loop>,
    /// Points of its blocks, including those of inner loops, sorted and disjoint.
    pub spans: Vec<Range<Point>>,
}

/// An edge into loops or out of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// First point of the block that the edge enters.
    pub start: Point,
    /// Innermost loop before the edge.
    pub from: Option<Loop>,
    /// Innermost loop after the edge.
    pub to: Option<Loop>,
    /// Executions in one run of the function.
    pub frequency: f32,
}

/// An edge on which the value of a register passes from one of its parts to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// First point of the block that the edge enters, and of a segment of `to`.
    pub start: Point,
    /// Part that is live after the edge.
    pub to: LiveRange,
    /// Part that was live before the edge; `to` itself if there was none, or if the value is always in memory.
    pub from: LiveRange,
    /// Executions in one run of the function.
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

    /// Returns the links, by the part that they lead to, and then in the order of points.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Returns the first part of the register that a live range is a part of; itself if it was not split.
    #[inline]
    pub fn family(&self, range: LiveRange) -> LiveRange {
        self.ranges[range].part_of.unwrap_or(range)
    }

    /// Returns the links to the parts from `first` up to, but not including, `end`. O(log links).
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
