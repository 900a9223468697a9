//! A linear scan: registers take colours in the order in which they are first occupied.
//!
//! The scan follows Poletto and Sarkar, "Linear scan register allocation" (TOPLAS 1999), with holes as in Wimmer and
//! Mössenböck, "Optimized interval splitting in a linear scan register allocator" (VEE 2005). A register takes the
//! first colour that is free and stays free until the register ends. Another register that has a hole at this point
//! must not need the colour again before then. If live ranges have no holes, the number of colours is the most
//! registers that are live at one point.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ranges::Ranges;
use crate::analysis::{IntervalTree, Point, Segment};
use crate::function::VReg;

/// Computes a colour for each of `members`, counted from 0. Two registers with one colour are never occupied at one
/// point.
pub(super) fn colour(ranges: &Ranges, members: &[VReg]) -> Vec<u32> {
    let mut starts: Vec<(Segment, usize)> = Vec::with_capacity(members.len());
    for (member, &register) in members.iter().enumerate() {
        starts.extend(ranges.segments(register).iter().map(|&segment| (segment, member)));
    }
    starts.sort_unstable_by_key(|&(segment, member)| (segment.start, member));

    // A register that is never occupied may share its colour with any other.
    let mut colours = vec![None; members.len()];
    let mut palette = Palette::default();
    for (segment, member) in starts {
        palette.release(segment.start);
        let colour = match colours[member] {
            Some(colour) => colour,
            None => palette.choose(ranges.segments(members[member])),
        };
        palette.take(colour, segment.end);
        colours[member] = Some(colour);
    }
    colours.into_iter().map(Option::unwrap_or_default).collect()
}

/// Free colours.
#[derive(Debug, Default)]
struct Palette {
    /// A bit for each colour, which is set while the colour is free.
    free: Vec<u64>,
    /// Ends of the colours in use.
    until: BinaryHeap<Reverse<(Point, u32)>>,
    /// By colour: the segments in which one of its registers is occupied again after a hole.
    again: Vec<IntervalTree<()>>,
}

impl Palette {
    /// Frees the colours of registers that have ended at a point or before it.
    fn release(&mut self, now: Point) {
        while let Some(&Reverse((end, colour))) = self.until.peek()
            && end <= now
        {
            self.until.pop();
            self.free[colour as usize / 64] |= 1 << (colour % 64);
        }
    }

    /// Returns the first colour that is free during all of a live range that starts at this point. If there is none,
    /// returns a new colour.
    fn choose(&mut self, range: &[Segment]) -> u32 {
        let colour = self.first_free(range).unwrap_or_else(|| {
            let new = self.again.len() as u32;
            self.again.push(IntervalTree::new());
            self.free.resize(self.again.len().div_ceil(64), 0);
            new
        });
        if let [_, behind_holes @ ..] = range {
            self.again[colour as usize].insert(behind_holes, ());
        }
        colour
    }

    fn first_free(&self, range: &[Segment]) -> Option<u32> {
        for (word, &bits) in self.free.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let colour = word as u32 * 64 + bits.trailing_zeros();
                let again = &self.again[colour as usize];
                if again.is_empty() || !again.is_overlapping(range) {
                    return Some(colour);
                }
                bits &= bits - 1;
            }
        }
        None
    }

    /// Marks a colour as used up to a point.
    fn take(&mut self, colour: u32, end: Point) {
        self.free[colour as usize / 64] &= !(1 << (colour % 64));
        self.until.push(Reverse((end, colour)));
    }
}
