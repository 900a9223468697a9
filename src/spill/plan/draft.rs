//! Drafts of spilled values: the places at which a value is stored and loaded, before its loads get registers.

use std::collections::BTreeSet;
use std::ops::Range;

use super::contents::{Contents, is_dead};
use super::sources::{self, Demand, Sources};
use super::{SpillLocation, SpilledValue};
use crate::analysis::{Cfg, Occurrence};
use crate::function::{Block, Function, Inst};
use crate::index::IndexVec;
use crate::spill::groups::Group;
use crate::spill::insertion_point::InsertionPoint;
use crate::spill::spiller::{Candidate, Facts};

/// A store costs half of a load, because no instruction waits for a store.
pub(in crate::spill) const STORE: f64 = 0.5;

/// A value with the places of its stores and loads.
#[derive(Clone)]
pub(in crate::spill) struct Draft<'f> {
    pub(in crate::spill) value: &'f Candidate,
    /// The writes of the register: definitions, and instructions that make it undefined.
    writes: Vec<Occurrence>,
    reads: Vec<Occurrence>,
    pub(in crate::spill) stores: Vec<InsertionPoint>,
    pub(in crate::spill) reloads: Vec<InsertionPoint>,
}

impl<'f> Draft<'f> {
    /// Creates the draft of a value without loads that is stored after each of its definitions.
    pub(in crate::spill) fn new(facts: &'f Facts<'_>, value: &'f Candidate) -> Self {
        let (writes, others): (Vec<Occurrence>, Vec<Occurrence>) =
            facts.occurrences.of(value.reg).iter().copied().partition(Occurrence::is_def);
        let reads = others.into_iter().filter(Occurrence::is_use).collect();
        let stores = value.definitions.iter().map(|of| InsertionPoint::after(facts.function, of)).collect();
        Self { value, writes, reads, stores, reloads: Vec::new() }
    }

    fn sources<'a>(&self, facts: &'a Facts<'_>) -> Sources<'a> {
        Sources::new((facts.function, &facts.cfg), &self.writes, self.reloads.iter().copied())
    }

    fn contents<'a>(&self, facts: &'a Facts<'_>) -> Contents<'a> {
        Contents::new((facts.function, &facts.cfg), &self.writes, &self.stores)
    }

    /// Returns the instructions at whose reads a register has the value.
    pub(in crate::spill) fn residence(&self, facts: &Facts<'_>) -> Vec<Range<u32>> {
        let reads = self.reads.iter().map(Demand::read);
        let residence = self.sources(facts).residence(reads.chain(self.stores.iter().map(Demand::store)));
        // The register is never free at a definition, even if the definition writes the register before it reads its
        // operands.
        let definitions = self.writes.iter().map(|write| write.inst.0..write.inst.0 + 1);
        let live = facts.live.segments(self.value.reg);
        let is_live = |at: &Range<u32>| {
            let next = live.partition_point(|segment| segment.end.0.div_ceil(2) <= at.start);
            live.get(next).is_some_and(|segment| segment.start.0.div_ceil(2) <= at.start)
        };
        sources::merged(residence.into_iter().chain(definitions.filter(is_live)).collect())
    }

    /// Whether each load serves a read. A load that only a store follows is unnecessary: the slot already has the
    /// value.
    pub(in crate::spill) fn serves_reads(&self, facts: &Facts<'_>) -> bool {
        self.serving(facts).len() == self.reloads.len()
    }

    /// Returns the numbers of the loads that serve reads.
    fn serving(&self, facts: &Facts<'_>) -> BTreeSet<u32> {
        self.sources(facts).serving(self.reads.iter().map(Demand::read))
    }

    /// Removes the loads that do not serve any read. The value must be stored after its definitions.
    pub(in crate::spill) fn drop_unread(&mut self, facts: &Facts<'_>) {
        let serving = self.serving(facts);
        let mut number = 0..;
        self.reloads.retain(|_| number.next().is_some_and(|number| serving.contains(&number)));
    }

    /// Whether the slot has the value at each load.
    pub(in crate::spill) fn is_right(&self, facts: &Facts<'_>) -> bool {
        let contents = self.contents(facts);
        self.reloads.iter().all(|&at| contents.is_current(at))
    }

    /// Removes loads that no store reaches, because the value is undefined at them. Also removes unnecessary stores.
    pub(in crate::spill) fn tidy(&mut self, facts: &Facts<'_>) {
        let contents = self.contents(facts);
        self.reloads.retain(|&at| contents.stored_for(at).next().is_some());
        loop {
            let contents = self.contents(facts);
            let dead = is_dead(&contents, self.stores.len(), self.reloads.iter().copied());
            let gone = (0..self.stores.len())
                .rev()
                .find(|&store| dead[store] || contents.is_needless(store, self.stores[store]));
            let Some(gone) = gone else { return };
            self.stores.remove(gone);
        }
    }

    /// Returns the cost of the stores and loads, in loads of one word, weighted by frequency.
    pub(in crate::spill) fn traffic(&self, facts: &Facts<'_>) -> f64 {
        let runs = |at: &InsertionPoint| facts.frequencies[at.block];
        let words = f64::from(facts.function.class(self.value.reg).words().max(1));
        words * (self.reloads.iter().map(runs).sum::<f64>() + STORE * self.stores.iter().map(runs).sum::<f64>())
    }

    /// Returns the highest frequency of a store or load.
    pub(in crate::spill) fn most_often(&self, frequencies: &IndexVec<Block, f64>) -> f64 {
        self.stores.iter().chain(&self.reloads).map(|at| frequencies[at.block]).fold(0.0, f64::max)
    }

    /// Returns the reads in groups, for each of which a clone of the only definition can replace the load; `None` if
    /// several loads reach the same read.
    pub(in crate::spill) fn groups(&self, facts: &Facts<'_>) -> Option<Vec<Group>> {
        let sources = self.sources(facts);
        let (into, in_new) = sources.registers(&self.reads, &[]);
        let is_own = |read: &&Occurrence| !in_new.iter().any(|new| new.0 == **read);
        let reads: Vec<Occurrence> = self.reads.iter().filter(is_own).copied().collect();
        let mut groups: Vec<Group> = Vec::new();
        // Reads that the definition itself reaches keep its register.
        if !reads.is_empty() {
            let definition = &self.value.definitions[0];
            let live = sources.residence(reads.iter().map(Demand::read));
            let (block, place) = (definition.block, definition.inst);
            groups.push(Group { reads, block, place, has_definition: true, live });
        }
        for (number, &at) in self.reloads.iter().enumerate() {
            let super::Register::New(own) = into[number] else { return None };
            if into.iter().filter(|&&other| other == into[number]).count() > 1 {
                return None;
            }
            let reads: Vec<Occurrence> = in_new.iter().filter(|read| read.1 == own).map(|read| read.0).collect();
            let live = sources.residence(reads.iter().map(Demand::read));
            groups.push(Group { reads, block: at.block, place: Inst(at.before), has_definition: false, live });
        }
        Some(groups)
    }

    /// Converts the draft to a value of the plan. `groups` are the reads before which the value is rematerialised.
    pub(in crate::spill) fn finish(
        self,
        facts: &Facts<'_>,
        location: SpillLocation,
        groups: Vec<Group>,
    ) -> SpilledValue {
        let (into, reads) = self.sources(facts).registers(&self.reads, &self.stores);
        let definition = &self.value.definitions[0];
        let is_stored_once = self.value.is_single && self.stores == [InsertionPoint::after(facts.function, definition)];
        let begin = definition.inst.0 + 1;
        let residence = self.residence(facts);
        let until = residence.iter().find(|stretch| stretch.contains(&begin)).map_or(begin, |stretch| stretch.end);
        let until = until.min(facts.function.block_range(definition.block).end.0);
        let reloads = sources::reloads(&self.reloads, into);
        let (stores, reloads, reads) = match location.slot {
            Some(_) => (self.stores, reloads, reads),
            None => (self.stores, Vec::new(), Vec::new()),
        };
        SpilledValue {
            reg: self.value.reg,
            definition: definition.inst,
            location,
            stores,
            reloads,
            reads,
            groups,
            is_stored_once,
            until,
        }
    }
}

/// Returns a place for code that executes when control flow goes from one block to another. The place is at the start
/// of the second block if that block has no other predecessor and the first has several successors; otherwise, at the
/// end of the first block.
pub(in crate::spill) fn on_edge((function, cfg): (&Function, &Cfg), from: Block, to: Block) -> InsertionPoint {
    let is_alone = cfg.preds(to).len() == 1 && function.succs(from).len() > 1;
    if is_alone {
        InsertionPoint { block: to, before: function.block_range(to).start.0 }
    } else {
        InsertionPoint::end(function, from)
    }
}
