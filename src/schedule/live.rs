//! The number of live words while an order of a region is built from start to end.

use super::region::{Region, ScheduledValue};
use crate::analysis::Node;
use crate::index::IndexVec;

/// The values that are live after the placed nodes.
pub(super) struct LiveWords<'a> {
    region: &'a Region<'a>,
    /// By value: the number of readers that are not placed yet.
    unread: IndexVec<ScheduledValue, u32>,
    /// Number of live words.
    pub(super) words: i32,
}

impl<'a> LiveWords<'a> {
    /// Starts before all nodes: the values that are live into the region are live.
    pub(super) fn new(region: &'a Region<'a>) -> Self {
        let from_outside = region.values.as_slice().iter().filter(|value| value.definition.is_none());
        Self {
            region,
            unread: region.values.ids().map(|value| region.readers.of(value).len() as u32).collect(),
            words: from_outside.map(|value| value.words).sum::<u32>() as i32,
        }
    }

    /// Returns the most words that are live in an order of all nodes. O(operands).
    pub(super) fn peak(region: &'a Region<'a>, order: impl Iterator<Item = Node>) -> i32 {
        let mut live = Self::new(region);
        let mut peak = live.words;
        for node in order {
            peak = peak.max(live.words + live.change(node, None));
            live.place(node, |_| {});
        }
        peak
    }

    /// Returns the values that have no remaining reader once `node` is placed, after `also` if `also` is given.
    fn ends(&self, node: Node, also: Option<Node>) -> impl Iterator<Item = ScheduledValue> {
        self.region.reads.of(node).iter().copied().filter(move |&value| {
            let read_before = also.is_some_and(|also| self.region.reads.of(also).contains(&value));
            self.unread[value] - u32::from(read_before) == 1 && !self.region.values[value].stays
        })
    }

    /// Whether `node` is the last reader of any value, after `also` if `also` is given.
    pub(super) fn ends_any(&self, node: Node, also: Option<Node>) -> bool {
        self.ends(node, also).next().is_some()
    }

    /// Returns the words that a node makes live, minus the words of the values of which it is the last reader, after
    /// `also` if `also` is given. For a ready node, this number only decreases.
    pub(super) fn change(&self, node: Node, also: Option<Node>) -> i32 {
        let ends: u32 = self.ends(node, also).map(|value| self.region.values[value].words).sum();
        self.region.words_written(node) as i32 - ends as i32
    }

    /// Places a node. Calls `is_last` for each node that becomes the only remaining reader of a value.
    pub(super) fn place(&mut self, node: Node, mut is_last: impl FnMut(Node)) {
        let values = &self.region.values;
        self.words += self.change(node, None);
        for &value in self.region.reads.of(node) {
            self.unread[value] -= 1;
            if self.unread[value] == 1 {
                self.region.readers.of(value).iter().for_each(|&reader| is_last(reader));
            }
        }
        let dead = self.region.writes.of(node).iter().filter(|&&value| self.unread[value] == 0 && !values[value].stays);
        self.words -= dead.map(|&value| values[value].words).sum::<u32>() as i32;
    }
}
