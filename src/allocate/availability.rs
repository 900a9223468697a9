//! Finds the units of a file that are free over a live range, for all units at once.
//!
//! The structure is a segment tree over time. Each node has two masks of units. `whole` has the units that were stored
//! at this node: they are taken for all of the node's time. `any` has the units that are taken at some time in the
//! node. Each segment of a live range consists of O(log time) nodes. A query reads these nodes and returns the mask of
//! all units that are not free. It does not search a tree for each unit.

use std::ops::Range;
use std::sync::Arc;

use super::occupied::Occupied;
use super::problem::Problem;
use crate::analysis::{Point, Segment};

/// Compressed points of time: consecutive points form one moment if nothing can begin or end between them.
#[derive(Debug)]
pub(super) struct Timeline {
    /// By point: the number of moments before it.
    moments: Vec<u32>,
    len: u32,
}

impl Timeline {
    /// Collects the moments of a problem: for each instruction one for reads, one for writes, and one for clobbers if
    /// there are any. O(instructions + segments).
    pub(super) fn new(problem: &Problem) -> Arc<Self> {
        let num_points = 4 * (problem.num_insts() + 1) + 1;
        let mut begins = vec![false; num_points];
        for point in (0..num_points).step_by(2) {
            begins[point] = true;
        }
        for range in problem.ranges().ids() {
            for segment in problem.segments(range) {
                begins[segment.start.0 as usize] = true;
                // A moment begins at every even point. Of the odd ends, only 4i + 3 begins a moment: a read ends at 4i
                // + 1, where none begins.
                begins[segment.end.0 as usize] |= segment.end.0 % 4 == 3;
            }
        }
        let mut len = 0;
        let mut moments = Vec::with_capacity(num_points);
        for begins in begins {
            moments.push(len);
            len += u32::from(begins);
        }
        Arc::new(Self { moments, len })
    }

    /// Returns the number of moments.
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns the moments of a segment: at least one.
    #[inline]
    pub(super) fn moments(&self, segment: &Segment) -> Range<usize> {
        let first = self.moment(segment.start);
        first..self.moment(segment.end).max(first + 1)
    }

    #[inline]
    fn moment(&self, point: Point) -> usize {
        self.moments[point.0 as usize] as usize
    }
}

/// Masks of one file over time.
#[derive(Clone, Debug)]
pub(super) struct Availability {
    timeline: Arc<Timeline>,
    leaves: usize,
    /// Number of words in a mask.
    words: usize,
    /// By node, from 1: first `whole`, then `any`. The children of node `n` are `2n` and `2n + 1`.
    masks: Vec<u64>,
}

impl Availability {
    /// Creates masks of `units` units, all of them free. Units beyond this number may be taken later.
    pub(super) fn new(timeline: Arc<Timeline>, units: u32) -> Self {
        // With a power of two, all leaves have the same depth.
        let leaves = timeline.len.next_power_of_two() as usize;
        let words = units.div_ceil(64).max(1) as usize;
        Self { timeline, leaves, words, masks: vec![0; 4 * leaves * words] }
    }

    /// Computes the units that are taken at some time in the segments.
    pub(super) fn occupied(&self, segments: &[Segment], out: &mut Occupied) {
        let taken = out.reset(self.words);
        for segment in segments {
            let leaves = self.leaves_of(segment);
            for node in nodes_of(leaves) {
                self.add(taken, self.any(node));
            }
            // Units may be stored at ancestors of these nodes. Every such ancestor is also above the segment's first or
            // last leaf.
            let (mut above_left, mut above_right) = (leaves.0, leaves.1 - 1);
            while above_left != above_right {
                self.add(taken, self.whole(above_left));
                self.add(taken, self.whole(above_right));
                above_left /= 2;
                above_right /= 2;
            }
            while above_left > 0 {
                self.add(taken, self.whole(above_left));
                above_left /= 2;
            }
        }
    }

    /// Takes a unit for the segments.
    pub(super) fn take(&mut self, segments: &[Segment], unit: u32) {
        self.widen(unit);
        let (word, bit) = (unit as usize / 64, 1 << (unit % 64));
        for segment in segments {
            for node in nodes_of(self.leaves_of(segment)) {
                let at = self.place(node, word);
                self.masks[at] |= bit;
                self.masks[at + self.words] |= bit;
                self.spread(node / 2, word, bit);
            }
        }
    }

    /// Frees a unit that was taken for these segments.
    pub(super) fn give_back(&mut self, segments: &[Segment], unit: u32) {
        let (word, bit) = (unit as usize / 64, 1_u64 << (unit % 64));
        for segment in segments {
            let leaves = self.leaves_of(segment);
            for node in nodes_of(leaves) {
                let at = self.place(node, word);
                self.masks[at] &= !bit;
                self.masks[at + self.words] &= !bit;
            }
            for node in nodes_of(leaves) {
                self.sum_up(node / 2, word);
            }
        }
    }

    /// Adds a unit to `any` of a node and of its ancestors. Stops at the first node that has the unit already, because
    /// all nodes above it have the unit, too.
    fn spread(&mut self, mut node: usize, word: usize, bit: u64) {
        while node > 0 {
            let at = self.place(node, self.words + word);
            if self.masks[at] & bit != 0 {
                return;
            }
            self.masks[at] |= bit;
            node /= 2;
        }
    }

    /// Recomputes `any` of a node and of its ancestors. Stops at the first node that does not change.
    fn sum_up(&mut self, mut node: usize, word: usize) {
        let any = self.words + word;
        while node > 0 {
            let children = self.masks[self.place(2 * node, any)] | self.masks[self.place(2 * node + 1, any)];
            let sum = self.masks[self.place(node, word)] | children;
            let at = self.place(node, any);
            if std::mem::replace(&mut self.masks[at], sum) == sum {
                return;
            }
            node /= 2;
        }
    }

    /// Returns the leaves of a segment, as nodes.
    #[inline]
    fn leaves_of(&self, segment: &Segment) -> (usize, usize) {
        let Range { start, end } = self.timeline.moments(segment);
        (self.leaves + start, self.leaves + end)
    }

    #[inline]
    fn place(&self, node: usize, word: usize) -> usize {
        2 * node * self.words + word
    }

    #[inline]
    fn whole(&self, node: usize) -> &[u64] {
        &self.masks[self.place(node, 0)..][..self.words]
    }

    #[inline]
    fn any(&self, node: usize) -> &[u64] {
        &self.masks[self.place(node, self.words)..][..self.words]
    }

    #[inline]
    fn add(&self, taken: &mut [u64], mask: &[u64]) {
        for (word, more) in taken.iter_mut().zip(mask) {
            *word |= more;
        }
    }

    /// Makes room in the masks for a unit beyond the current number of units.
    fn widen(&mut self, unit: u32) {
        let words = unit as usize / 64 + 1;
        if words <= self.words {
            return;
        }
        let mut masks = vec![0; 4 * self.leaves * words];
        for (from, to) in self.masks.chunks_exact(self.words).zip(masks.chunks_exact_mut(words)) {
            to[..from.len()].copy_from_slice(from);
        }
        self.masks = masks;
        self.words = words;
    }
}

/// Returns the nodes that cover a range of leaves, given by the first leaf and the leaf after the last: at most two
/// nodes on each level.
pub(super) fn nodes_of((mut left, mut right): (usize, usize)) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        while left < right {
            if left % 2 == 1 {
                left += 1;
                return Some(left - 1);
            }
            if right % 2 == 1 {
                right -= 1;
                return Some(right);
            }
            left /= 2;
            right /= 2;
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::problem::{ClassData, File, FileData, ProblemBuilder};
    use crate::analysis::ValueNumber;

    /// The result equals that of a table of every unit at every point.
    #[test]
    fn like_a_table() {
        const UNITS: usize = 70;
        arbtest::arbtest(|u| {
            let num_insts = u.int_in_range(1..=40)?;
            let mut builder = ProblemBuilder::new("k");
            let file = builder.file(FileData { name: "R".into(), register_limit: None, units_per_register: 1 });
            let data = ClassData { name: "c".into(), file, width: 1, align: 1, bytes: 4, promotes_to: None };
            let class = builder.class(data);
            let segment = |start, end| Segment { start: Point(start), end: Point(end), value: ValueNumber(0) };
            builder.range(class, [segment(0, 4 * num_insts)], []);
            let problem = builder.finish();
            assert_eq!(File(0), file);
            let timeline = Timeline::new(&problem);
            let mut availability = Availability::new(timeline, 1);
            let mut table = vec![[false; UNITS]; 4 * num_insts as usize];
            let mut taken: Vec<(Segment, u32)> = Vec::new();
            let mut occupied = Occupied::default();
            for _ in 0..u.int_in_range(0..=60)? {
                let (a, b) = (u.int_in_range(0..=2 * num_insts - 1)?, u.int_in_range(0..=2 * num_insts - 1)?);
                let wanted = segment(2 * a.min(b), 2 * a.max(b) + 2);
                let unit = u.choose_index(UNITS)?;
                let points = |segment: &Segment| segment.start.0 as usize..segment.end.0 as usize;
                if !taken.is_empty() && u.ratio(1, 3)? {
                    let (segment, unit) = taken.swap_remove(u.choose_index(taken.len())?);
                    availability.give_back(&[segment], unit);
                    table[points(&segment)].iter_mut().for_each(|row| row[unit as usize] = false);
                } else if table[points(&wanted)].iter().all(|row| !row[unit]) {
                    availability.take(&[wanted], unit as u32);
                    table[points(&wanted)].iter_mut().for_each(|row| row[unit] = true);
                    taken.push((wanted, unit as u32));
                }
                availability.occupied(&[wanted], &mut occupied);
                for unit in 0..UNITS {
                    let is_free = table[points(&wanted)].iter().all(|row| !row[unit]);
                    assert_eq!(
                        occupied.is_free(problem.class(crate::allocate::LiveRange(0)), unit as u32, None),
                        is_free
                    );
                }
            }
            Ok(())
        });
    }
}
