//! A binary heap of live ranges that knows the position of each live range, so that keys can change.

use super::problem::LiveRange;
use crate::index::IndexVec;

const ABSENT: u32 = u32::MAX;

/// Live ranges with keys; the least key comes first. If keys end in the live range's number, the order is total.
#[derive(Debug)]
pub(super) struct IndexedHeap<K> {
    entries: Vec<(K, LiveRange)>,
    place: IndexVec<LiveRange, u32>,
}

impl<K: Ord + std::marker::Copy> IndexedHeap<K> {
    /// Creates an empty heap for live ranges below `num_ranges`.
    pub(super) fn new(num_ranges: usize) -> Self {
        Self { entries: Vec::new(), place: IndexVec::filled(ABSENT, num_ranges) }
    }

    /// Whether a live range is in the heap.
    #[inline]
    pub(super) fn contains(&self, range: LiveRange) -> bool {
        self.place[range] != ABSENT
    }

    /// Adds a live range, or changes its key. O(log entries).
    #[inline]
    pub(super) fn insert(&mut self, range: LiveRange, key: K) {
        let at = self.place[range];
        if at == ABSENT {
            self.entries.push((key, range));
            self.place[range] = self.entries.len() as u32 - 1;
            self.sift_up(self.entries.len() - 1);
        } else {
            let at = at as usize;
            let is_less = key < self.entries[at].0;
            self.entries[at].0 = key;
            if is_less { self.sift_up(at) } else { self.sift_down(at) }
        }
    }

    /// Returns the live range with the least key.
    pub(super) fn first(&self) -> Option<LiveRange> {
        self.entries.first().map(|&(_, range)| range)
    }

    /// Removes the live range with the least key. O(log entries).
    pub(super) fn pop(&mut self) -> Option<LiveRange> {
        let first = self.first()?;
        self.remove(first);
        Some(first)
    }

    /// Removes a live range, if it is in the heap. O(log entries).
    pub(super) fn remove(&mut self, range: LiveRange) {
        let at = std::mem::replace(&mut self.place[range], ABSENT);
        if at == ABSENT {
            return;
        }
        let at = at as usize;
        self.entries.swap_remove(at);
        if at < self.entries.len() {
            self.place[self.entries[at].1] = at as u32;
            self.sift_down(at);
            self.sift_up(at);
        }
    }

    fn sift_up(&mut self, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.entries[parent].0 <= self.entries[at].0 {
                break;
            }
            self.swap(at, parent);
            at = parent;
        }
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let children = [2 * at + 1, 2 * at + 2].into_iter().filter(|&child| child < self.entries.len());
            let Some(child) = children.min_by_key(|&child| self.entries[child].0) else { return };
            if self.entries[at].0 <= self.entries[child].0 {
                return;
            }
            self.swap(at, child);
            at = child;
        }
    }

    #[inline]
    fn swap(&mut self, a: usize, b: usize) {
        self.entries.swap(a, b);
        self.place[self.entries[a].1] = a as u32;
        self.place[self.entries[b].1] = b as u32;
    }
}

/// An integer key with the total order of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ordered(u32);

impl Ordered {
    /// Creates the key of `value`.
    #[inline]
    pub(super) fn new(value: f32) -> Self {
        let bits = value.to_bits();
        // Negative numbers are below the others, and their bits are in reverse order.
        Self(if bits >> 31 == 1 { !bits } else { bits | 1 << 31 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::EntityIndex as _;

    /// The heap equals a sorted list after random insertions, changes and removals.
    #[test]
    fn like_a_sorted_list() {
        arbtest::arbtest(|u| {
            let mut heap = IndexedHeap::new(16);
            let mut list: Vec<(u8, LiveRange)> = Vec::new();
            for _ in 0..u.arbitrary_len::<u16>()? {
                let range = LiveRange::new(u.choose_index(16)?);
                match u.choose_index(3)? {
                    0 => {
                        let key: u8 = u.arbitrary()?;
                        heap.insert(range, (key, range));
                        list.retain(|&(_, other)| other != range);
                        list.push((key, range));
                    }
                    1 => {
                        heap.remove(range);
                        list.retain(|&(_, other)| other != range);
                    }
                    _ => {
                        list.sort_unstable();
                        let first = if list.is_empty() { None } else { Some(list.remove(0).1) };
                        assert_eq!(heap.pop(), first);
                    }
                }
                assert_eq!(heap.entries.len(), list.len());
                assert!(list.iter().all(|&(_, range)| heap.contains(range)));
            }
            Ok(())
        });
    }

    /// Keys are ordered like the numbers.
    #[test]
    fn ordered_as_numbers_are() {
        let numbers = [f32::NEG_INFINITY, -1.5, -0.0, 0.0, f32::MIN_POSITIVE, 1.0, 3.5e8, f32::INFINITY];
        assert!(numbers.windows(2).all(|pair| Ordered::new(pair[0]) < Ordered::new(pair[1])));
    }
}
