//! Items grouped by a dense key: compressed sparse rows, built by a counting sort.

use std::marker::PhantomData;

use crate::index::EntityIndex;

/// Items of type `T`, grouped by `K`. A group keeps its items in the order of their insertion.
#[derive(Clone, Debug)]
pub(crate) struct Grouping<K, T> {
    /// Group `k` is `items[starts[k]..starts[k + 1]]`. The vector is empty if there are no items at all.
    starts: Vec<u32>,
    items: Vec<T>,
    key: PhantomData<fn(K) -> K>,
}

impl<K, T> Default for Grouping<K, T> {
    fn default() -> Self {
        Self { starts: Vec::new(), items: Vec::new(), key: PhantomData }
    }
}

impl<K: EntityIndex, T: Copy> Grouping<K, T> {
    /// Groups the items by keys below `num_keys`. O(keys + items), stable.
    pub(crate) fn compute(&mut self, num_keys: usize, pairs: impl Iterator<Item = (K, T)> + Clone) {
        self.starts.clear();
        self.items.clear();
        let Some((_, filler)) = pairs.clone().next() else { return };
        // Counts are stored two positions higher. After the prefix sums, `starts[k + 1]` is the start of group `k`; the
        // distribution advances it to the group's end.
        self.starts.resize(num_keys + 2, 0);
        // Internal iteration is faster for chained and flattened iterators.
        pairs.clone().for_each(|(key, _)| self.starts[key.index() + 2] += 1);
        let mut total = 0;
        for count in &mut self.starts {
            total += *count;
            *count = total;
        }
        self.items.resize(total as usize, filler);
        pairs.for_each(|(key, item)| {
            let place = &mut self.starts[key.index() + 1];
            self.items[*place as usize] = item;
            *place += 1;
        });
        self.starts.truncate(num_keys + 1);
    }

    /// Groups the items by keys below `num_keys`. O(keys + items), stable.
    pub(crate) fn new(num_keys: usize, pairs: impl Iterator<Item = (K, T)> + Clone) -> Self {
        let mut grouping = Self::default();
        grouping.compute(num_keys, pairs);
        grouping
    }

    /// Removes all items. [`push`](Self::push) and [`finish_group`](Self::finish_group) then build the groups one by
    /// one.
    pub(crate) fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.items.clear();
    }

    /// Adds an item to the current group.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Returns the items of the current group.
    #[inline]
    pub(crate) fn current(&self) -> &[T] {
        &self.items[self.starts.last().map_or(0, |&start| start as usize)..]
    }

    /// Ends the current group and begins the next.
    #[inline]
    pub(crate) fn finish_group(&mut self) {
        self.starts.push(self.items.len() as u32);
    }

    /// Returns the items of a group.
    #[inline]
    pub(crate) fn of(&self, key: K) -> &[T] {
        if self.starts.is_empty() {
            return &[];
        }
        &self.items[self.starts[key.index()] as usize..self.starts[key.index() + 1] as usize]
    }
}

impl<K, T: EntityIndex> Grouping<K, T> {
    /// Keeps the first occurrence of each item in each group and removes the others. Items are ids below `num_items`.
    /// O(keys + items).
    pub(crate) fn remove_repetitions(&mut self, num_items: usize) {
        let mut seen_by = vec![u32::MAX; num_items];
        let (mut start, mut kept) = (0, 0);
        for group in 0..self.starts.len().saturating_sub(1) {
            let end = self.starts[group + 1] as usize;
            for at in start..end {
                let item = self.items[at];
                if std::mem::replace(&mut seen_by[item.index()], group as u32) != group as u32 {
                    self.items[kept] = item;
                    kept += 1;
                }
            }
            self.starts[group + 1] = kept as u32;
            start = end;
        }
        self.items.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::Grouping;
    use crate::function::VReg;

    /// Groups keep the order of their items. A key without items has an empty group.
    #[test]
    fn grouping_is_stable() {
        let mut grouping = Grouping::<VReg, char>::default();
        let pairs = [(VReg(2), 'a'), (VReg(0), 'b'), (VReg(2), 'c'), (VReg(3), 'd')];
        grouping.compute(5, pairs.iter().copied());
        assert_eq!(grouping.of(VReg(0)), ['b']);
        assert!(grouping.of(VReg(1)).is_empty());
        assert_eq!(grouping.of(VReg(2)), ['a', 'c']);
        assert_eq!(grouping.of(VReg(3)), ['d']);
        assert!(grouping.of(VReg(4)).is_empty());
    }

    /// After repetitions are removed, each group that contained an item contains it once, at its first position.
    #[test]
    fn each_item_once() {
        let pairs = [(0, 3), (2, 1), (0, 3), (0, 1), (2, 3), (2, 1)].map(|(key, item)| (VReg(key), VReg(item)));
        let mut grouping = Grouping::new(3, pairs.iter().copied());
        grouping.remove_repetitions(4);
        assert_eq!(grouping.of(VReg(0)), [VReg(3), VReg(1)]);
        assert_eq!(grouping.of(VReg(1)), []);
        assert_eq!(grouping.of(VReg(2)), [VReg(1), VReg(3)]);
    }

    /// A grouping that is computed again keeps none of its previous items.
    #[test]
    fn grouping_is_reusable() {
        let mut grouping = Grouping::<VReg, u8>::default();
        grouping.compute(2, [(VReg(1), 7)].into_iter());
        grouping.compute(2, std::iter::empty());
        assert!(grouping.of(VReg(1)).is_empty());
    }
}
