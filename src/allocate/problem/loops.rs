//! Loops, where live ranges can be split, and the links between the parts of those that were.
//!
//! A part of a register is a live range like any other. Where control flow goes from one part to another, a [`Link`]
//! says so: on that edge, and at no instruction, the value changes its place. All links of an edge together are one
//! parallel copy: what is in two registers moves, what is in a register and in memory is stored or reloaded, and what
//! is in memory on both sides stays in the slot that the parts share.

use std::ops::Range;

use super::{LiveRange, Problem};
use crate::analysis::{Loop, Point};
use crate::index::IndexVec;

/// A natural loop with a place for code on each edge that enters or leaves it: edges enter from blocks that go nowhere
/// else, and leave to blocks that nobody else comes to. Loops without are none here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopData {
    /// The innermost of these loops around it; its number is greater.
    pub parent: Option<Loop>,
    /// The points of its blocks and of those of the loops inside it, sorted and disjoint.
    pub spans: Vec<Range<Point>>,
}

/// Control flow into loops or out of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The first point of the block where it arrives.
    pub start: Point,
    /// The innermost loop that it comes from.
    pub from: Option<Loop>,
    /// The innermost loop that it arrives in.
    pub to: Option<Loop>,
    /// How often in one run of the function.
    pub frequency: f32,
}

/// Control flow that takes the value of a register from one of its parts to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The first point of the block where it arrives, and of a segment of `to`.
    pub start: Point,
    /// The part that is live there.
    pub to: LiveRange,
    /// The part that was live before; `to` itself where there was none, or where it is in memory for good.
    pub from: LiveRange,
    /// How often in one run of the function.
    pub frequency: f32,
}

impl Problem {
    /// The loops that live ranges can be split at, inner before outer ones.
    pub fn loops(&self) -> &IndexVec<Loop, LoopData> {
        &self.loops
    }

    /// Every way into these loops and out of them, in the order of points.
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
    }

    /// The links, by the part that they lead to, and then in the order of points.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The first part of the register that a live range is a part of; itself where it was not split.
    #[inline]
    pub fn family(&self, range: LiveRange) -> LiveRange {
        self.ranges[range].part_of.unwrap_or(range)
    }

    /// The links to the parts from `first` up to, without, `end`. O(log links).
    pub fn links_to(&self, first: LiveRange, end: LiveRange) -> &[Link] {
        let links = &self.links[self.links.partition_point(|link| link.to < first)..];
        &links[..links.partition_point(|link| link.to < end)]
    }

    /// The links that lead to a live range at a point. O(log links).
    #[inline]
    pub(super) fn links_at(&self, range: LiveRange, start: Point) -> &[Link] {
        if self.links.is_empty() {
            return &[];
        }
        let links = &self.links[self.links.partition_point(|link| (link.to, link.start) < (range, start))..];
        &links[..links.partition_point(|link| (link.to, link.start) == (range, start))]
    }
}
