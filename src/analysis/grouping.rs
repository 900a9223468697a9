//! Items grouped by a dense key: compressed sparse rows, made by a counting sort.

use std::marker::PhantomData;

use crate::index::EntityIndex;

/// Items of type `T`, grouped by `K`; within a group in the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Grouping<K, T> {
    /// Group `k` is `items[starts[k]..starts[k + 1]]`; empty where there are no items at all.
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
    /// Groups the items under keys below `num_keys`. O(keys + items), stable.
    pub(super) fn compute(&mut self, num_keys: usize, pairs: impl Iterator<Item = (K, T)> + Clone) {
        self.starts.clear();
        self.items.clear();
        let Some((_, filler)) = pairs.clone().next() else { return };
        // Counts go two places up, so that after the prefix sums `starts[k + 1]` is the start of group `k`, and after
        // the distribution, which moves it on, its end.
        self.starts.resize(num_keys + 2, 0);
        for (key, _) in pairs.clone() {
            self.starts[key.index() + 2] += 1;
        }
        let mut total = 0;
        for count in &mut self.starts {
            total += *count;
            *count = total;
        }
        self.items.resize(total as usize, filler);
        for (key, item) in pairs {
            let place = &mut self.starts[key.index() + 1];
            self.items[*place as usize] = item;
            *place += 1;
        }
        self.starts.truncate(num_keys + 1);
    }

    /// The items of a group.
    #[inline]
    pub(super) fn of(&self, key: K) -> &[T] {
        if self.starts.is_empty() {
            return &[];
        }
        &self.items[self.starts[key.index()] as usize..self.starts[key.index() + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Grouping;
    use crate::function::VReg;

    /// Groups keep the order of their items, and a key without items has an empty group.
    #[test]
    fn grouping_is_stable() {
        let mut grouping = Grouping::<VReg, char>::default();
        let pairs = [(VReg(2), 'a'), (VReg(0), 'b'), (VReg(2), 'c'), (VReg(3), 'd')];
        grouping.compute(5, pairs.iter().copied());
        assert_eq!(grouping.of(VReg(0)), ['b']);
        assert!(grouping.of(VReg(1)).is_empty());
        assert_eq!(grouping.of(VReg(2)), ['a', 'c']);
        assert_eq!(grouping.of(VReg(3)), ['d']);
        assert_eq!(grouping.of(VReg(4)), []);
    }

    /// A grouping that is computed anew forgets what it held.
    #[test]
    fn grouping_is_reusable() {
        let mut grouping = Grouping::<VReg, u8>::default();
        grouping.compute(2, [(VReg(1), 7)].into_iter());
        grouping.compute(2, std::iter::empty());
        assert!(grouping.of(VReg(1)).is_empty());
    }
}
