//! Disjoint sets of ids: union by id, path halving (Tarjan and van Leeuwen 1984).

use crate::index::{EntityIndex, IndexVec};

/// A partition of ids into sets. Each set is named by its lowest member, so names do not depend on the order of unions.
#[derive(Clone, Debug)]
pub(crate) struct DisjointSets<I> {
    parents: IndexVec<I, I>,
}

impl<I: EntityIndex> DisjointSets<I> {
    /// Creates `len` sets of one member each.
    pub(crate) fn new(len: usize) -> Self {
        Self { parents: (0..len).map(I::new).collect() }
    }

    /// Returns the name of the set that holds `id`. O(log n) amortised.
    #[inline]
    pub(crate) fn find(&mut self, id: I) -> I {
        let mut root = id;
        while self.parents[root] != root {
            let grandparent = self.parents[self.parents[root]];
            self.parents[root] = grandparent;
            root = grandparent;
        }
        root
    }

    /// Merges the sets that hold `a` and `b`.
    pub(crate) fn unite(&mut self, a: I, b: I) {
        let (a, b) = (self.find(a), self.find(b));
        let (into, from) = if a < b { (a, b) } else { (b, a) };
        self.parents[from] = into;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::VReg;

    /// For any unions in any order, two ids share a set exactly if unions connect them, and the lowest id names the
    /// set.
    #[test]
    fn sets_are_what_unions_connect() {
        arbtest::arbtest(|u| {
            let pairs: Vec<(u8, u8)> = u.arbitrary()?;
            let mut sets = DisjointSets::<VReg>::new(256);
            let mut expected: Vec<u32> = (0..256).collect();
            for (a, b) in pairs {
                sets.unite(VReg(a.into()), VReg(b.into()));
                let (a, b) = (expected[usize::from(a)], expected[usize::from(b)]);
                expected.iter_mut().filter(|set| **set == a || **set == b).for_each(|set| *set = a.min(b));
            }
            for (id, &name) in expected.iter().enumerate() {
                assert_eq!(sets.find(VReg(id as u32)), VReg(name));
            }
            Ok(())
        });
    }
}
