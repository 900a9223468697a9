//! Pressure: the number of units that are live at each moment, and the fattest point, at which the most units are live.
//!
//! The structure is a segment tree over the moments. Units can be added to a whole stretch of moments at once. `max` of
//! a node includes the units that were added to the node, but not the units that were added to its ancestors.

use std::ops::Range;

use crate::allocate::availability::Timeline;
use crate::allocate::problem::{LiveRange, Problem};
use crate::analysis::Segment;

/// Live units over time.
#[derive(Debug)]
pub(super) struct Pressure<'a> {
    timeline: &'a Timeline,
    leaves: usize,
    /// By node, from 1: the children of `n` are `2n` and `2n + 1`.
    added: Vec<i64>,
    max: Vec<i64>,
}

impl<'a> Pressure<'a> {
    /// Computes the pressure of all live ranges. Of live ranges with places from the start, only the units within the
    /// register limit count. O(moments + segments).
    pub(super) fn new(problem: &Problem, timeline: &'a Timeline, register_limit: u32) -> Self {
        let leaves = timeline.len().next_power_of_two();
        let mut change = vec![0_i64; timeline.len() + 1];
        for range in problem.ranges().ids() {
            let width = units_within(problem, range, register_limit);
            for segment in problem.segments(range) {
                let moments = timeline.moments(segment);
                change[moments.start] += width;
                change[moments.end] -= width;
            }
        }
        let mut max = vec![0; 2 * leaves];
        let mut live = 0;
        for (moment, change) in change.iter().enumerate().take(timeline.len()) {
            live += change;
            max[leaves + moment] = live;
        }
        for node in (1..leaves).rev() {
            max[node] = max[2 * node].max(max[2 * node + 1]);
        }
        Self { timeline, leaves, added: vec![0; 2 * leaves], max }
    }

    /// Adds units to every moment of a segment. O(log moments).
    pub(super) fn add(&mut self, segment: &Segment, units: i64) {
        let moments = self.timeline.moments(segment);
        self.add_to(1, 0..self.leaves, &moments, units);
    }

    fn add_to(&mut self, node: usize, span: Range<usize>, wanted: &Range<usize>, units: i64) {
        if wanted.end <= span.start || span.end <= wanted.start {
            return;
        }
        if wanted.start <= span.start && span.end <= wanted.end {
            self.added[node] += units;
            self.max[node] += units;
            return;
        }
        let middle = span.start.midpoint(span.end);
        self.add_to(2 * node, span.start..middle, wanted, units);
        self.add_to(2 * node + 1, middle..span.end, wanted, units);
        self.max[node] = self.added[node] + self.max[2 * node].max(self.max[2 * node + 1]);
    }

    /// Returns the most units that are live at one moment of these segments. O(segments · log moments).
    pub(super) fn max(&self, segments: &[Segment]) -> i64 {
        let max = |segment| self.max_of(1, 0..self.leaves, &self.timeline.moments(segment));
        segments.iter().map(max).max().unwrap_or(0)
    }

    fn max_of(&self, node: usize, span: Range<usize>, wanted: &Range<usize>) -> i64 {
        if wanted.end <= span.start || span.end <= wanted.start {
            return i64::MIN / 2;
        }
        if wanted.start <= span.start && span.end <= wanted.end {
            return self.max[node];
        }
        let middle = span.start.midpoint(span.end);
        let left = self.max_of(2 * node, span.start..middle, wanted);
        self.added[node] + left.max(self.max_of(2 * node + 1, middle..span.end, wanted))
    }

    /// Returns the units that are live at a moment. O(log moments).
    pub(super) fn at(&self, moment: usize) -> i64 {
        self.max_of(1, 0..self.leaves, &(moment..moment + 1))
    }

    /// Returns the moment with the most live units, the first of several, and the number of these units. O(log
    /// moments).
    pub(super) fn fattest(&self) -> (usize, i64) {
        let mut node = 1;
        while node < self.leaves {
            node = if self.max[2 * node] >= self.max[2 * node + 1] { 2 * node } else { 2 * node + 1 };
        }
        (node - self.leaves, self.max[1])
    }

    /// Returns for each moment, and for the end, the number of earlier moments with more than `limit` live units.
    /// O(moments).
    pub(super) fn moments_above(&self, limit: i64) -> Vec<u32> {
        let mut above: Vec<i64> = self.added.clone();
        for node in 2..above.len() {
            above[node] += above[node / 2];
        }
        let live = |moment: usize| {
            let leaf = self.leaves + moment;
            self.max[leaf] + if leaf > 1 { above[leaf / 2] } else { 0 }
        };
        let mut count = 0;
        let mut counts = vec![0];
        counts.extend((0..self.timeline.len()).map(|moment| {
            count += u32::from(live(moment) > limit);
            count
        }));
        counts
    }

    /// Excludes a moment from the search for the fattest moment.
    pub(super) fn ignore(&mut self, moment: usize) {
        self.add_to(1, 0..self.leaves, &(moment..moment + 1), -IGNORED);
    }

    /// Includes an excluded moment again.
    pub(super) fn mind(&mut self, moment: usize) {
        self.add_to(1, 0..self.leaves, &(moment..moment + 1), IGNORED);
    }
}

/// Larger than any number of units.
const IGNORED: i64 = 1 << 48;

/// Returns the units of a live range. Of a live range with a place from the start, only the units within the register
/// limit count.
fn units_within(problem: &Problem, range: LiveRange, register_limit: u32) -> i64 {
    let width = problem.class(range).width;
    let place = problem.ranges()[range].fixed;
    place.map_or(i64::from(width), |place| {
        i64::from(place.saturating_add(width).min(register_limit)) - i64::from(place.min(register_limit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Point, ValueNumber};

    /// The results equal those of a table of every moment.
    #[test]
    fn like_a_table() {
        arbtest::arbtest(|u| {
            let text = "allocation 1\nproblem k\nfile R\nclass A R\nrange A live 0..120\nend\n";
            let problem = Problem::parse(text).expect("a problem");
            let timeline = Timeline::new(&problem);
            let mut pressure = Pressure::new(&problem, &timeline, 9);
            let mut table = vec![1_i64; timeline.len() - 1];
            for _ in 0..u.int_in_range(0..=30)? {
                let (a, b) = (2 * u.int_in_range(0..=59_u32)?, 2 * u.int_in_range(0..=59_u32)?);
                let segment = Segment { start: Point(a.min(b)), end: Point(a.max(b) + 2), value: ValueNumber(0) };
                let units = i64::from(u.arbitrary::<i8>()?);
                pressure.add(&segment, units);
                let moments = timeline.moments(&segment);
                table[moments.clone()].iter_mut().for_each(|live| *live += units);
                assert_eq!(Some(pressure.max(&[segment])), table[moments].iter().max().copied());
            }
            let (moment, live) = pressure.fattest();
            if live > 0 {
                assert_eq!(Some(live), table.iter().max().copied());
                assert_eq!(table.iter().position(|&at| at == live), Some(moment));
            }
            Ok(())
        });
    }
}
