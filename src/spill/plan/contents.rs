//! Whether a slot has its value at a load, and which stores are unnecessary.
//!
//! A store makes the slot current, and a definition makes it stale. Where a value is undefined, any contents of the
//! slot are correct. A store is dead if each path from it to a load has another store or a definition. It is needless
//! if, on all paths, the slot already has the value.

use std::collections::BTreeSet;

use crate::analysis::{Cfg, Occurrence};
use crate::function::{Block, Function, Role};
use crate::spill::insertion_point::InsertionPoint;

/// A change to whether a slot has its value. At the same place, a definition comes before a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Written,
    Undefined,
    Stored(usize),
}

/// The contents of one value's slot.
pub(in crate::spill) struct Contents<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    /// The changes, each with its block and the first instruction that follows the change.
    changes: Vec<(Block, u32, Change)>,
}

impl<'a> Contents<'a> {
    /// Collects the places that write the register and the places that store it.
    pub(in crate::spill) fn new(
        (function, cfg): (&'a Function, &'a Cfg),
        writes: &[Occurrence],
        stores: &[InsertionPoint],
    ) -> Self {
        let write = |write: &Occurrence| {
            let is_undefined = function.role(write.inst) == Role::Undef;
            (write.block, write.inst.0 + 1, if is_undefined { Change::Undefined } else { Change::Written })
        };
        let store = |(number, at): (usize, &InsertionPoint)| (at.block, at.before, Change::Stored(number));
        let mut changes: Vec<_> = writes.iter().map(write).chain(stores.iter().enumerate().map(store)).collect();
        changes.sort_unstable();
        Self { function, cfg, changes }
    }

    /// Returns the last change on each path to a place. Changes at the place itself count, except the store `skips`.
    /// O(blocks without a change on the way).
    fn last(&self, at: InsertionPoint, skips: Option<usize>) -> impl Iterator<Item = Change> {
        let mut found = Vec::new();
        let mut seen: BTreeSet<Block> = BTreeSet::new();
        let mut todo = vec![(at.block, at.before)];
        while let Some((block, before)) = todo.pop() {
            let behind = self.changes.partition_point(|&(of, from, _)| (of, from) <= (block, before));
            let here = self.changes[..behind].iter().rev().take_while(|change| change.0 == block);
            let mut here = here.filter(|change| skips.is_none_or(|skipped| change.2 != Change::Stored(skipped)));
            match here.next() {
                Some(&(.., change)) => found.push(change),
                None => {
                    let preds = self.cfg.preds(block).iter().filter(|&&pred| seen.insert(pred));
                    todo.extend(preds.map(|&pred| (pred, self.function.block_range(pred).end.0)));
                }
            }
        }
        found.into_iter()
    }

    /// Whether the slot has the value at a place, on all paths to it.
    pub(in crate::spill) fn is_current(&self, at: InsertionPoint) -> bool {
        self.last(at, None).all(|change| change != Change::Written)
    }

    /// Whether the slot would have the value at the place of a store even without that store.
    pub(in crate::spill) fn is_needless(&self, store: usize, at: InsertionPoint) -> bool {
        let mut last = self.last(at, Some(store)).peekable();
        last.peek().is_some() && last.all(|change| change != Change::Written)
    }

    /// Returns the stores that may supply the value to a load at a place.
    pub(in crate::spill) fn stored_for(&self, at: InsertionPoint) -> impl Iterator<Item = usize> {
        self.last(at, None).filter_map(|change| match change {
            Change::Stored(store) => Some(store),
            _ => None,
        })
    }
}

/// Returns, for each store, whether no load gets the value from it.
pub(in crate::spill) fn is_dead(
    contents: &Contents<'_>,
    stores: usize,
    loads: impl Iterator<Item = InsertionPoint>,
) -> Vec<bool> {
    let mut is_dead = vec![true; stores];
    for load in loads {
        contents.stored_for(load).for_each(|store| is_dead[store] = false);
    }
    is_dead
}
