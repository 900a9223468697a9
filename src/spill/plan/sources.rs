//! The definition or reload that supplies the value to each read.
//!
//! The source is the nearest definition or reload on each path. If several sources meet, the same register has the
//! value after all of them. A register is live from the sources to the reads, and nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Register, Reload, is_tied};
use crate::analysis::{Cfg, Occurrence};
use crate::define_index;
use crate::disjoint_sets::DisjointSets;
use crate::function::{Block, Function};
use crate::index::EntityIndex;
use crate::spill::insertion_point::InsertionPoint;

define_index! {
    /// A place from which on a register holds the value: after a source, or at the start of a block.
    Holder, "holder"
}

/// A definition or a reload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    block: Block,
    /// Twice the number of the first instruction at which the value is available; for a reload, one more.
    key: u32,
    /// The number of the reload; `None` for a definition.
    reload: Option<u32>,
}

/// A place at which the value is needed in a register.
#[derive(Clone, Copy, Debug)]
pub(in crate::spill) struct Demand {
    block: Block,
    /// A source in the block precedes the demand if its key is at most this.
    last: u32,
    /// The number after the last instruction at whose reads the register is live because of the demand.
    end: u32,
}

impl Demand {
    /// Returns the demand of a read.
    pub(in crate::spill) fn read(read: &Occurrence) -> Self {
        Self { block: read.block, last: 2 * read.inst.0 + 1, end: read.inst.0 + 1 }
    }

    /// Returns the demand of a store. A store precedes the loads at the same place.
    pub(in crate::spill) fn store(at: &InsertionPoint) -> Self {
        Self { block: at.block, last: 2 * at.before, end: at.before }
    }

    /// Returns the demand at the end of a block.
    fn end_of(function: &Function, block: Block) -> Self {
        Self { block, last: u32::MAX, end: function.block_range(block).end.0 }
    }
}

/// The sources of a value, in the order of the code.
pub(in crate::spill) struct Sources<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    all: Vec<Source>,
}

impl<'a> Sources<'a> {
    /// Collects the places that write the register and the places that load it.
    pub(in crate::spill) fn new(
        (function, cfg): (&'a Function, &'a Cfg),
        writes: &[Occurrence],
        reloads: impl Iterator<Item = InsertionPoint>,
    ) -> Self {
        let write = |write: &Occurrence| Source { block: write.block, key: 2 * (write.inst.0 + 1), reload: None };
        let reload = |(number, at): (u32, InsertionPoint)| Source {
            block: at.block,
            key: 2 * at.before + 1,
            reload: Some(number),
        };
        let mut all: Vec<Source> = writes.iter().map(write).chain((0..).zip(reloads).map(reload)).collect();
        all.sort_unstable();
        Self { function, cfg, all }
    }

    /// Returns the last source before a demand in its block.
    fn ahead(&self, demand: Demand) -> Option<usize> {
        let behind = self.all.partition_point(|source| (source.block, source.key) <= (demand.block, demand.last));
        behind.checked_sub(1).filter(|&source| self.all[source].block == demand.block)
    }

    /// Follows demands back to their sources, block by block. O(demands · log, plus the blocks that the value is live
    /// into).
    fn trace(&self, demands: impl Iterator<Item = Demand>, mut found: impl FnMut(Demand, Option<usize>)) {
        let mut left: BTreeSet<Block> = BTreeSet::new();
        let mut todo: Vec<Demand> = demands.collect();
        while let Some(demand) = todo.pop() {
            let source = self.ahead(demand);
            found(demand, source);
            if source.is_none() {
                let preds = self.cfg.preds(demand.block).iter().filter(|&&pred| left.insert(pred));
                todo.extend(preds.map(|&pred| Demand::end_of(self.function, pred)));
            }
        }
    }

    /// Returns the instructions at whose reads a register has the value for one of the demands. The ranges are sorted
    /// and disjoint.
    pub(in crate::spill) fn residence(&self, demands: impl Iterator<Item = Demand>) -> Vec<Range<u32>> {
        let mut stretches: Vec<Range<u32>> = Vec::new();
        self.trace(demands, |demand, source| {
            let start = match source {
                Some(source) => self.all[source].key / 2,
                None => self.function.block_range(demand.block).start.0,
            };
            stretches.push(start..demand.end);
        });
        merged(stretches)
    }

    /// Returns the reloads that supply the value to at least one of the demands.
    pub(in crate::spill) fn serving(&self, demands: impl Iterator<Item = Demand>) -> BTreeSet<u32> {
        let mut reloads = BTreeSet::new();
        self.trace(demands, |_, source| reloads.extend(source.and_then(|source| self.all[source].reload)));
        reloads
    }

    /// Returns the register of each reload, and the reads in other registers than the value's own, in their order. The
    /// value's own register holds a value if a definition reaches the place, if the value is stored, or if a read is
    /// tied to a definition.
    pub(in crate::spill) fn registers(
        &self,
        reads: &[Occurrence],
        stores: &[InsertionPoint],
    ) -> (Vec<Register>, Vec<(Occurrence, u32)>) {
        let mut holders = Holders::new(self);
        let mut held_at: Vec<Holder> = reads.iter().map(|read| holders.at(self, Demand::read(read))).collect();
        let stored: Vec<Holder> = stores.iter().map(|store| holders.at(self, Demand::store(store))).collect();
        let mut sets = DisjointSets::<Holder>::new(holders.len());
        holders.meetings.iter().for_each(|&(one, other)| sets.unite(one, other));
        stored.into_iter().for_each(|holder| sets.unite(OWN, holder));
        let tied = reads.iter().zip(&held_at).filter(|(read, _)| is_tied(self.function, read));
        tied.for_each(|(_, &holder)| sets.unite(OWN, holder));
        held_at.iter_mut().for_each(|holder| *holder = sets.find(*holder));
        let mut numbers: BTreeMap<Holder, u32> = BTreeMap::new();
        let mut register = |holder: Holder| {
            let next = numbers.len() as u32;
            let mut number = || Register::New(*numbers.entry(holder).or_insert(next));
            if holder == OWN { Register::Own } else { number() }
        };
        let mut into = vec![Register::Own; self.all.iter().filter(|source| source.reload.is_some()).count()];
        for (number, source) in self.all.iter().enumerate() {
            if let Some(reload) = source.reload {
                into[reload as usize] = register(sets.find(Holder::new(number + 1)));
            }
        }
        let in_new = reads.iter().zip(held_at).filter_map(|(read, holder)| match register(holder) {
            Register::Own => None,
            Register::New(number) => Some((*read, number)),
        });
        (into, in_new.collect())
    }
}

/// The value's own register, which each definition writes.
const OWN: Holder = Holder(0);

/// The holders of a value, before holders that meet are united.
struct Holders {
    of_block: BTreeMap<Block, Holder>,
    meetings: Vec<(Holder, Holder)>,
    next: usize,
}

impl Holders {
    /// Creates a holder for the value's own register, and then one for each source.
    fn new(sources: &Sources<'_>) -> Self {
        let definitions = sources.all.iter().enumerate().filter(|(_, source)| source.reload.is_none());
        let meetings = definitions.map(|(number, _)| (OWN, Holder::new(number + 1))).collect();
        Self { of_block: BTreeMap::new(), meetings, next: sources.all.len() + 1 }
    }

    fn len(&self) -> usize {
        self.next
    }

    /// Returns the holder at a demand.
    fn at(&mut self, sources: &Sources<'_>, demand: Demand) -> Holder {
        let (first, is_new) = self.here(sources, demand);
        let mut todo: Vec<Block> = is_new.then_some(demand.block).into_iter().collect();
        while let Some(block) = todo.pop() {
            let holder = self.of_block[&block];
            // A value that is live into the function enters in its own register.
            if block.0 == 0 {
                self.meetings.push((OWN, holder));
            }
            for &pred in sources.cfg.preds(block) {
                let (other, is_new) = self.here(sources, Demand::end_of(sources.function, pred));
                self.meetings.push((holder, other));
                todo.extend(is_new.then_some(pred));
            }
        }
        first
    }

    /// Returns the holder at a place, and whether that place is the start of a block that was not visited before.
    fn here(&mut self, sources: &Sources<'_>, demand: Demand) -> (Holder, bool) {
        if let Some(source) = sources.ahead(demand) {
            return (Holder::new(source + 1), false);
        }
        let next = Holder::new(self.next);
        let holder = *self.of_block.entry(demand.block).or_insert(next);
        self.next += usize::from(holder == next);
        (holder, holder == next)
    }
}

/// Sorts stretches and merges stretches that touch.
pub(in crate::spill) fn merged(mut stretches: Vec<Range<u32>>) -> Vec<Range<u32>> {
    stretches.sort_unstable_by_key(|stretch| (stretch.start, stretch.end));
    let mut merged: Vec<Range<u32>> = Vec::with_capacity(stretches.len());
    for stretch in stretches.into_iter().filter(|stretch| !stretch.is_empty()) {
        match merged.last_mut() {
            Some(last) if stretch.start <= last.end => last.end = last.end.max(stretch.end),
            _ => merged.push(stretch),
        }
    }
    merged
}

/// Pairs reloads with their registers.
pub(in crate::spill) fn reloads(places: &[InsertionPoint], into: Vec<Register>) -> Vec<Reload> {
    places.iter().zip(into).map(|(&at, into)| Reload { at, into }).collect()
}
