//! Whether a slot has its value where that is loaded, and which stores are for nothing.
//!
//! A store makes the slot have the value, and a definition makes it old. Where a value is undefined, whatever the slot has is as
//! good. A store is dead if no path leads from it to a load without another store or definition, and needless if the slot has
//! the value on all paths.

use std::collections::BTreeSet;

use crate::analysis::{Cfg, Occurrence};
use crate::function::{Block, Function, Role};
use crate::spill::insertion_point::InsertionPoint;

/// What changes whether a slot has its value. Of one place the definition comes first, then the store.
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
    /// By block and the instruction in front of which it has happened.
    changes: Vec<(Block, u32, Change)>,
}

impl<'a> Contents<'a> {
    /// Of the places that write the register, and of those that store it.
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

    /// The last changes on the paths to a place; those at the place itself count if they are not those of `skips`. O(blocks
    /// without a change on the way).
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

    /// Whether the slot has the value at a place, on all paths there.
    pub(in crate::spill) fn is_current(&self, at: InsertionPoint) -> bool {
        self.last(at, None).all(|change| change != Change::Written)
    }

    /// Whether the slot has the value where a store stands, without that store.
    pub(in crate::spill) fn is_needless(&self, store: usize, at: InsertionPoint) -> bool {
        let mut last = self.last(at, Some(store)).peekable();
        last.peek().is_some() && last.all(|change| change != Change::Written)
    }

    /// The stores that a load at a place may get the value from.
    pub(in crate::spill) fn stored_for(&self, at: InsertionPoint) -> impl Iterator<Item = usize> {
        self.last(at, None).filter_map(|change| match change {
            Change::Stored(store) => Some(store),
            _ => None,
        })
    }
}

/// By store: whether no load gets the value from it.
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
