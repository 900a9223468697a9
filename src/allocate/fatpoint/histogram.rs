//! The histogram: for one node, what each place of the file would cost.
//!
//! Each entry has two costs. The primary one is that of conflicts: a unit that somebody holds while the node lives
//! counts more than the discard threshold, so that it is never taken; a unit that a candidate wishes for counts 1. The
//! secondary one decides between equals: a place that saves a copy is better, one that breaks up an aligned group of
//! free units is worse. 512 entries are enough for any file of ptxas; a file without a budget may have more.

use crate::allocate::occupied::Occupied;
use crate::allocate::problem::ClassData;

/// Entries of a file.
const ENTRIES: usize = 512;

/// What the units of a file cost one node.
#[derive(Debug)]
pub(super) struct Histogram {
    primary: Vec<u32>,
    secondary: Vec<i32>,
    /// Units with a primary cost above it are discarded.
    threshold: u32,
}

impl Histogram {
    pub(super) fn new(threshold: u32) -> Self {
        Self { primary: vec![0; ENTRIES], secondary: vec![0; ENTRIES], threshold }
    }

    /// Starts anew, with room for so many units.
    pub(super) fn clear(&mut self, units: u32) {
        let len = self.primary.len().max(units as usize);
        self.primary.clear();
        self.primary.resize(len, 0);
        self.secondary.clear();
        self.secondary.resize(len, 0);
    }

    /// These units are held by others.
    pub(super) fn add_conflicts(&mut self, held: &Occupied) {
        for unit in held.units() {
            if let Some(cost) = self.primary.get_mut(unit as usize) {
                *cost += self.threshold + 1;
            }
        }
    }

    /// Others would best have these units; the node itself would best have those from `own` on.
    pub(super) fn add_wishes(&mut self, wished: &Occupied, own: Option<u32>, class: &ClassData) {
        for unit in wished.units() {
            let is_own = own.is_some_and(|own| (own..own + class.width).contains(&unit));
            if let Some(cost) = self.primary.get_mut(unit as usize).filter(|_| !is_own) {
                *cost += 1;
            }
        }
    }

    /// Places that would save a copy, the best first.
    pub(super) fn prefer(&mut self, places: impl DoubleEndedIterator<Item = u32>) {
        for (rank, place) in places.rev().enumerate() {
            if let Some(cost) = self.secondary.get_mut(place as usize) {
                *cost = -2 - rank as i32;
            }
        }
    }

    /// Groups of `group` units that are wholly free, and would not be any more, cost something: what is as wide as they
    /// are needs them.
    pub(super) fn keep_whole(&mut self, group: u32, limit: u32) {
        if group <= 1 {
            return;
        }
        for start in (0..limit).step_by(group as usize) {
            let units = start as usize..(start + group).min(limit) as usize;
            if units.len() == group as usize && self.primary[units.clone()].iter().all(|&cost| cost <= self.threshold) {
                self.secondary[units].iter_mut().for_each(|cost| *cost += 1);
            }
        }
    }

    /// The place below `limit` of least primary cost, then least secondary cost, then the lowest.
    pub(super) fn best(&self, class: &ClassData, limit: u32) -> Option<u32> {
        let mut best: Option<(u32, i32, u32)> = None;
        let places = (0..).step_by(class.align as usize).take_while(|place| place + class.width <= limit);
        for place in places {
            let units = place as usize..(place + class.width) as usize;
            let Some(costs) = self.primary.get(units) else { break };
            if costs.iter().any(|&cost| cost > self.threshold) {
                continue;
            }
            let found = (costs.iter().sum(), self.secondary[place as usize], place);
            if best.is_none_or(|best| found < best) {
                best = Some(found);
            }
        }
        best.map(|(.., place)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::problem::File;

    fn class(width: u32, align: u32) -> ClassData {
        ClassData { name: "c".into(), file: File(0), width, align, bytes: 4, promotes_to: None }
    }

    /// The lowest of the places that cost least; nobody's place is taken, a wish costs less than a conflict, a copy
    /// decides between equals, and single registers leave pairs whole.
    #[test]
    fn costs_in_their_order() {
        let mut histogram = Histogram::new(50);
        let (single, pair) = (class(1, 1), class(2, 2));
        let (mut held, mut wished) = (Occupied::default(), Occupied::default());
        held.add(1, 1);
        histogram.clear(8);
        assert_eq!(histogram.best(&pair, 8), Some(0));
        histogram.add_conflicts(&held);
        assert_eq!([histogram.best(&single, 8), histogram.best(&pair, 8)], [Some(0), Some(2)]);
        assert_eq!([histogram.best(&pair, 3), histogram.best(&single, 0)], [None, None]);
        wished.add(0, 3);
        histogram.add_wishes(&wished, Some(2), &single);
        assert_eq!([histogram.best(&single, 8), histogram.best(&single, 1)], [Some(2), Some(0)]);
        histogram.prefer([6, 4].into_iter());
        assert_eq!(histogram.best(&single, 8), Some(6));
        histogram.clear(8);
        histogram.add_conflicts(&held);
        histogram.keep_whole(2, 8);
        assert_eq!(histogram.best(&single, 8), Some(0));
        histogram.clear(8);
        held.add(0, 1);
        held.add(5, 1);
        histogram.add_conflicts(&held);
        histogram.keep_whole(2, 8);
        assert_eq!(histogram.best(&single, 8), Some(4));
    }

    /// With a threshold of 0 not even a wish is overridden.
    #[test]
    fn threshold() {
        let mut histogram = Histogram::new(0);
        let mut wished = Occupied::default();
        wished.add(0, 1);
        histogram.clear(4);
        histogram.add_wishes(&wished, None, &class(1, 1));
        assert_eq!([histogram.best(&class(1, 1), 1), histogram.best(&class(1, 1), 2)], [None, Some(1)]);
    }
}
