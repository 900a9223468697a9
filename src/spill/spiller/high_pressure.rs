//! High-pressure points while values are spilled one by one.

use std::ops::Range;

/// The high-pressure points of a function. Once the pressure at an instruction falls to the limit, it never exceeds the
/// limit again. A binary tree over the instructions therefore finds each point that a change frees exactly once.
pub(in crate::spill) struct HighPressurePoints {
    /// Number of instructions, rounded up to a power of two.
    width: usize,
    /// The root is 1; the children of `n` are `2n` and `2n + 1`.
    nodes: Vec<Node>,
}

/// A node of the tree: a range of instructions.
#[derive(Clone, Copy)]
struct Node {
    /// Fewest words over the limit at any high-pressure point, without the words taken from ancestors.
    least: i64,
    /// Words taken from all instructions of the node.
    taken: i64,
    /// Number of high-pressure points.
    count: u32,
    /// Sum of their frequencies.
    runs: f64,
}

const NONE_HIGH: Node = Node { least: i64::MAX, taken: 0, count: 0, runs: 0.0 };

impl HighPressurePoints {
    /// Builds the tree from the live words and the frequency of each instruction. O(instructions).
    pub(in crate::spill) fn new(instructions: impl ExactSizeIterator<Item = (u32, f64)>, limit: u32) -> Self {
        let width = instructions.len().next_power_of_two();
        let mut nodes = vec![NONE_HIGH; 2 * width];
        for (leaf, (words, runs)) in nodes[width..].iter_mut().zip(instructions) {
            if words > limit {
                *leaf = Node { least: i64::from(words - limit), taken: 0, count: 1, runs };
            }
        }
        let mut points = Self { width, nodes };
        (1..width).rev().for_each(|node| points.join(node));
        points
    }

    /// Lowers the pressure at each instruction of a stretch. O(log instructions), and O(log instructions) more for each
    /// point that is freed.
    pub(in crate::spill) fn take(&mut self, stretch: &Range<u32>, words: u32) {
        self.take_below(1, 0..self.width, stretch, i64::from(words));
    }

    /// Returns the number of high-pressure points in a stretch. O(log instructions).
    pub(in crate::spill) fn count(&self, stretch: &Range<u32>) -> u32 {
        let mut count = 0;
        self.each_within(stretch, |node| count += node.count);
        count
    }

    /// Returns the sum of the frequencies of the high-pressure points in a stretch. O(log instructions).
    pub(in crate::spill) fn runs(&self, stretch: &Range<u32>) -> f64 {
        let mut runs = 0.0;
        self.each_within(stretch, |node| runs += node.runs);
        runs
    }

    fn take_below(&mut self, node: usize, covers: Range<usize>, stretch: &Range<u32>, words: i64) {
        let (start, end) = (stretch.start as usize, stretch.end as usize);
        if end <= covers.start || covers.end <= start || self.nodes[node].count == 0 {
            return;
        }
        if start <= covers.start && covers.end <= end {
            self.lower(node, words);
            return;
        }
        self.push(node);
        let middle = covers.start.midpoint(covers.end);
        self.take_below(2 * node, covers.start..middle, stretch, words);
        self.take_below(2 * node + 1, middle..covers.end, stretch, words);
        self.join(node);
    }

    /// Lowers the pressure at all instructions of a node that has a high-pressure point.
    fn lower(&mut self, node: usize, words: i64) {
        let at = &mut self.nodes[node];
        if at.count == 0 {
            return;
        }
        at.least -= words;
        at.taken += words;
        if at.least > 0 {
            return;
        }
        if node >= self.width {
            *at = NONE_HIGH;
            return;
        }
        self.push(node);
        self.join(node);
    }

    /// Passes the words taken from a node to its children.
    fn push(&mut self, node: usize) {
        let taken = std::mem::take(&mut self.nodes[node].taken);
        self.lower(2 * node, taken);
        self.lower(2 * node + 1, taken);
    }

    /// Recomputes a node from its children.
    fn join(&mut self, node: usize) {
        let [left, right] = [self.nodes[2 * node], self.nodes[2 * node + 1]];
        let at = &mut self.nodes[node];
        let least = left.least.min(right.least);
        *at = match left.count + right.count {
            0 => NONE_HIGH,
            count => Node { least: least - at.taken, taken: at.taken, count, runs: left.runs + right.runs },
        };
    }

    /// Visits the fewest nodes that together cover a stretch, in the order of the code.
    fn each_within(&self, stretch: &Range<u32>, mut found: impl FnMut(&Node)) {
        let mut todo = vec![(1, 0..self.width)];
        let (start, end) = (stretch.start as usize, stretch.end as usize);
        while let Some((node, covers)) = todo.pop() {
            if end <= covers.start || covers.end <= start || self.nodes[node].count == 0 {
                continue;
            }
            if start <= covers.start && covers.end <= end {
                found(&self.nodes[node]);
                continue;
            }
            let middle = covers.start.midpoint(covers.end);
            todo.push((2 * node + 1, middle..covers.end));
            todo.push((2 * node, covers.start..middle));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HighPressurePoints;

    /// The tree returns the same results as a list, whatever words are taken away.
    #[test]
    fn like_a_list() {
        arbtest::arbtest(|u| {
            let limit = 60;
            let count: usize = u.int_in_range(1..=20)?;
            let mut list: Vec<(i64, f64)> = Vec::new();
            for _ in 0..count {
                list.push((u.int_in_range(50..=90)?, f64::from(u.int_in_range(1..=8)?)));
            }
            let mut points = HighPressurePoints::new(list.iter().map(|&(words, runs)| (words as u32, runs)), limit);
            for _ in 0..10 {
                let (a, b): (u32, u32) = (u.int_in_range(0..=count as u32)?, u.int_in_range(0..=count as u32)?);
                let stretch = a.min(b)..a.max(b);
                let places = stretch.start as usize..stretch.end as usize;
                let full = || list[places.clone()].iter().filter(|(words, _)| *words > i64::from(limit));
                assert_eq!(points.count(&stretch) as usize, full().count());
                // Sums of integers are exact.
                assert_eq!(points.runs(&stretch), full().map(|(_, runs)| runs).sum::<f64>());
                let words = u.int_in_range(0..=6)?;
                points.take(&stretch, words);
                list[places].iter_mut().for_each(|(at, _)| *at -= i64::from(words));
            }
            Ok(())
        });
    }
}
