//! Register pressure at each instruction, updated while values are removed from ranges of instructions.

use std::ops::Range;

use super::{LiveRanges, Segment};
use crate::function::{Function, VReg};

/// The words that are live at the reads of each instruction. The maximum over a stretch of instructions, and a decrease
/// over a stretch, take O(log instructions). The data structure is a tree of maxima over halves. A decrease that covers
/// all of a node's instructions is stored at the node.
#[derive(Clone)]
pub(crate) struct Pressure {
    /// The number of instructions, rounded up to a power of two.
    width: usize,
    /// The maximum below a node, without the decreases of its ancestors. The root is 1, the children of `n` are `2n`
    /// and `2n + 1`.
    most: Vec<i64>,
    /// The decrease that applies to all instructions below a node.
    taken: Vec<i64>,
}

/// Returns the instructions at whose reads a segment is live.
pub(crate) fn instructions(segment: &Segment) -> Range<u32> {
    segment.start.0.div_ceil(2)..segment.end.0.div_ceil(2)
}

impl Pressure {
    /// Returns the pressure of all registers. O(instructions + segments).
    pub(crate) fn new(function: &Function, live: &LiveRanges) -> Self {
        Self::of(function, live, |_| true)
    }

    /// Returns the pressure of the registers for which `counts` holds.
    pub(crate) fn of(function: &Function, live: &LiveRanges, counts: impl Fn(VReg) -> bool) -> Self {
        let words = |reg| if counts(reg) { function.class(reg).words() } else { 0 };
        Self::weighted(function, live, words)
    }

    /// Returns the pressure if each register counts as `weight` words.
    pub(crate) fn weighted(function: &Function, live: &LiveRanges, weight: impl Fn(VReg) -> u32) -> Self {
        let mut change = vec![0i64; function.num_insts() + 1];
        for reg in function.regs() {
            let words = i64::from(weight(reg));
            if words == 0 {
                continue;
            }
            for segment in live.segments(reg) {
                let range = instructions(segment);
                change[range.start as usize] += words;
                change[range.end as usize] -= words;
            }
        }
        let width = function.num_insts().next_power_of_two();
        let mut most = vec![0; 2 * width];
        let mut words = 0;
        for (leaf, change) in most[width..].iter_mut().zip(&change) {
            words += change;
            *leaf = words;
        }
        // Nothing is live after the last instruction.
        most[width + function.num_insts()..].fill(0);
        for node in (1..width).rev() {
            most[node] = most[2 * node].max(most[2 * node + 1]);
        }
        Self { width, most, taken: vec![0; 2 * width] }
    }

    /// Returns the maximum over all instructions.
    pub(crate) fn peak(&self) -> u32 {
        self.most[1] as u32
    }

    /// Returns the words at each instruction, padded with 0 to a power of two. O(instructions).
    pub(crate) fn all(&self) -> Vec<u32> {
        let mut taken = vec![0i64; 2 * self.width];
        for node in 2..2 * self.width {
            taken[node] = taken[node / 2] + self.taken[node / 2];
        }
        (self.width..2 * self.width).map(|leaf| (self.most[leaf] - taken[leaf]).max(0) as u32).collect()
    }

    /// Returns the maximum over a stretch; 0 if the stretch is empty.
    pub(crate) fn most_in(&self, stretch: &Range<u32>) -> u32 {
        self.most_below(1, 0..self.width, stretch).max(0) as u32
    }

    /// Returns the maximum over the part of a stretch below a node; far below 0 if there is no such part.
    fn most_below(&self, node: usize, covers: Range<usize>, stretch: &Range<u32>) -> i64 {
        let (start, end) = (stretch.start as usize, stretch.end as usize);
        if end <= covers.start || covers.end <= start {
            return i64::MIN / 2;
        }
        if start <= covers.start && covers.end <= end {
            return self.most[node];
        }
        let middle = covers.start.midpoint(covers.end);
        let left = self.most_below(2 * node, covers.start..middle, stretch);
        let right = self.most_below(2 * node + 1, middle..covers.end, stretch);
        left.max(right) - self.taken[node]
    }

    /// Decreases the pressure over a stretch.
    pub(crate) fn take(&mut self, stretch: &Range<u32>, words: u32) {
        self.take_below(1, 0..self.width, stretch, i64::from(words));
    }

    /// Increases the pressure over a stretch.
    pub(crate) fn put(&mut self, stretch: &Range<u32>, words: u32) {
        self.take_below(1, 0..self.width, stretch, -i64::from(words));
    }

    fn take_below(&mut self, node: usize, covers: Range<usize>, stretch: &Range<u32>, words: i64) {
        let (start, end) = (stretch.start as usize, stretch.end as usize);
        if end <= covers.start || covers.end <= start {
            return;
        }
        if start <= covers.start && covers.end <= end {
            self.most[node] -= words;
            self.taken[node] += words;
            return;
        }
        let middle = covers.start.midpoint(covers.end);
        self.take_below(2 * node, covers.start..middle, stretch, words);
        self.take_below(2 * node + 1, middle..covers.end, stretch, words);
        self.most[node] = self.most[2 * node].max(self.most[2 * node + 1]) - self.taken[node];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After any decreases, the tree gives the same answers as a plain list of numbers.
    #[test]
    fn like_a_list() {
        arbtest::arbtest(|u| {
            let count: usize = u.int_in_range(1..=20)?;
            let mut list: Vec<i64> = (0..count).map(|_| u.int_in_range(50..=90)).collect::<Result<_, _>>()?;
            let width = count.next_power_of_two();
            let mut most = vec![0; 2 * width];
            most[width..width + count].copy_from_slice(&list);
            for node in (1..width).rev() {
                most[node] = most[2 * node].max(most[2 * node + 1]);
            }
            let mut tree = Pressure { width, most, taken: vec![0; 2 * width] };
            for _ in 0..10 {
                let (a, b): (u32, u32) = (u.int_in_range(0..=count as u32)?, u.int_in_range(0..=count as u32)?);
                let stretch = a.min(b)..a.max(b);
                let places = stretch.start as usize..stretch.end as usize;
                let expected = list[places.clone()].iter().copied().max().unwrap_or(0);
                assert_eq!(i64::from(tree.most_in(&stretch)), expected);
                let words = u.int_in_range(0..=4)?;
                let is_more = u.arbitrary()?;
                if is_more {
                    tree.put(&stretch, words)
                } else {
                    tree.take(&stretch, words)
                }
                let change = if is_more { i64::from(words) } else { -i64::from(words) };
                list[places].iter_mut().for_each(|at| *at += change);
                assert_eq!(Some(i64::from(tree.peak())), list.iter().copied().max());
                assert!(tree.all().iter().zip(&list).all(|(&at, &expected)| i64::from(at) == expected));
            }
            Ok(())
        });
    }
}
