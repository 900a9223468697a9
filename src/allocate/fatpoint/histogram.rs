//! The histogram: the cost of each place of the file for one node.
//!
//! A unit that another node holds during the node's life is excluded. The costs choose among the other units: a place
//! that saves a copy is better, and a place that breaks up an aligned group of free units is worse. 512 entries are
//! enough for every file of ptxas. A file without a register limit may need more.

use crate::allocate::occupied::Occupied;
use crate::allocate::problem::ClassData;

/// Entries for which memory is allocated at first.
const ENTRIES: usize = 512;

/// Costs of a file's units for one node.
#[derive(Debug)]
pub(super) struct Histogram {
    is_held: Vec<bool>,
    cost: Vec<i32>,
}

impl Histogram {
    pub(super) fn new() -> Self {
        Self { is_held: vec![false; ENTRIES], cost: vec![0; ENTRIES] }
    }

    /// Clears the histogram and makes room for the given number of units.
    pub(super) fn clear(&mut self, units: u32) {
        let len = self.cost.len().max(units as usize);
        self.is_held.clear();
        self.is_held.resize(len, false);
        self.cost.clear();
        self.cost.resize(len, 0);
    }

    /// Excludes units that other nodes hold.
    pub(super) fn add_conflicts(&mut self, held: &Occupied) {
        for unit in held.units() {
            if let Some(is_held) = self.is_held.get_mut(unit as usize) {
                *is_held = true;
            }
        }
    }

    /// Lowers the cost of places that would save a copy. The places are given best first.
    pub(super) fn prefer(&mut self, places: impl DoubleEndedIterator<Item = u32>) {
        for (rank, place) in places.rev().enumerate() {
            if let Some(cost) = self.cost.get_mut(place as usize) {
                *cost = -2 - rank as i32;
            }
        }
    }

    /// Adds a cost to the units of each completely free group of `group` units: wider live ranges need whole groups.
    pub(super) fn keep_whole(&mut self, group: u32, limit: u32) {
        if group <= 1 {
            return;
        }
        for start in (0..limit).step_by(group as usize) {
            let units = start as usize..(start + group).min(limit) as usize;
            if units.len() == group as usize && !self.is_held[units.clone()].contains(&true) {
                self.cost[units].iter_mut().for_each(|cost| *cost += 1);
            }
        }
    }

    /// Returns the free place below `limit` with the least cost; the lowest of equally cheap places.
    pub(super) fn best(&self, class: &ClassData, limit: u32) -> Option<u32> {
        let places = (0..).step_by(class.align as usize).take_while(|place| place + class.width <= limit);
        let is_free = |place: &u32| {
            let units = self.is_held.get(*place as usize..(*place + class.width) as usize);
            units.is_some_and(|units| !units.contains(&true))
        };
        places.filter(is_free).min_by_key(|&place| (self.cost[place as usize], place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::problem::File;

    fn class(width: u32, align: u32) -> ClassData {
        ClassData { name: "c".into(), file: File(0), width, align, bytes: 4, promotes_to: None }
    }

    /// The lowest of the cheapest places is chosen. Held places are excluded, copies decide between places of equal
    /// cost, and single registers leave pairs whole.
    #[test]
    fn costs_in_their_order() {
        let mut histogram = Histogram::new();
        let (single, pair) = (class(1, 1), class(2, 2));
        let mut held = Occupied::default();
        held.add(1, 1);
        histogram.clear(8);
        assert_eq!(histogram.best(&pair, 8), Some(0));
        histogram.add_conflicts(&held);
        assert_eq!([histogram.best(&single, 8), histogram.best(&pair, 8)], [Some(0), Some(2)]);
        assert_eq!([histogram.best(&pair, 3), histogram.best(&single, 0)], [None, None]);
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
}
