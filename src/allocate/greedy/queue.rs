//! The order in which items take their places.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::items::Item;

/// Priority of an item: its width in units, then a key that orders items of one width. The greatest priority comes
/// first.
pub(super) type Priority = (u32, u32);

type Entry = (Priority, Reverse<Item>);

/// A priority queue. Among equal priorities, the oldest item comes first.
///
/// Most items are added before the first is removed. Sorting these items once is cheaper than a heap.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Items that were added before the first removal, which sorts them in ascending order.
    first: Vec<Entry>,
    is_sorted: bool,
    later: BinaryHeap<Entry>,
}

impl Queue {
    /// Adds an item.
    pub(super) fn push(&mut self, priority: Priority, item: Item) {
        let entry = (priority, Reverse(item));
        if self.is_sorted { self.later.push(entry) } else { self.first.push(entry) }
    }

    /// Removes the first item.
    pub(super) fn pop(&mut self) -> Option<Item> {
        if !self.is_sorted {
            self.first.sort_unstable();
            self.is_sorted = true;
        }
        let from_later = self.later.peek() > self.first.last();
        let entry = if from_later { self.later.pop() } else { self.first.pop() };
        entry.map(|(_, Reverse(item))| item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items come in the order of their priorities, regardless of when they were added.
    #[test]
    fn in_order() {
        let mut queue = Queue::default();
        for (priority, item) in [(3, 0), (9, 1), (3, 2)] {
            queue.push((1, priority), Item(item));
        }
        assert_eq!(queue.pop(), Some(Item(1)));
        queue.push((1, 3), Item(1));
        queue.push((2, 0), Item(3));
        let rest: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|item| item.0).collect();
        assert_eq!(rest, [3, 0, 1, 2]);
    }
}
