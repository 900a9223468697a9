//! The plan for values that have no register over parts of their lives: where each is meanwhile, where it is stored, and where it
//! comes back.
//!
//! Each engine's answer becomes a plan: that of the price list ([`spiller`](super::spiller)), and that of an allocator
//! ([`from_allocation`]). In the order of the files:
//! * [`sources`]: the definition or reload that each read gets the value from, and so how long registers are live;
//! * [`contents`]: whether a slot has the value where it is loaded, and which stores are for nothing;
//! * [`from_allocation`]: the plan that an allocation is, part by part; [`unspill`]: what has room in registers after all;
//! * [`lazy`]: reloads that are needless, or rarer elsewhere;
//! * [`check`]: the proof that each read finds its value.
//!
//! A reload makes no value: it only lets the register be free ahead of it. So a plan is right if the slot has the value at each
//! reload, and a reload may go wherever the register has room instead.

mod check;
mod contents;
pub(in crate::spill) mod draft;
pub(in crate::spill) mod from_allocation;
pub(in crate::spill) mod from_engine;
pub(in crate::spill) mod from_selection;
pub(in crate::spill) mod lazy;
mod sources;
#[cfg(test)]
mod tests;
pub(in crate::spill) mod unspill;

use std::ops::Range;

pub(in crate::spill) use check::{PlanError, check_value};

use super::groups::Group;
use super::insertion_point::InsertionPoint;
use crate::analysis::Occurrence;
use crate::analysis::pressure::Pressure;
use crate::function::{Function, Inst, VReg};

/// Where a value goes that is moved out of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpillSpace {
    /// A slot of each thread in an array in shared memory.
    Shared,
    /// A slot in local memory.
    Local,
    /// Nowhere: its definition is done again in front of its reads.
    Rematerialised,
}

/// Where a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::spill) struct SpillLocation {
    pub(in crate::spill) space: SpillSpace,
    /// Its slot; of a value that is computed again, none.
    pub(in crate::spill) slot: Option<usize>,
}

/// A register that a value comes back in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::spill) enum Register {
    /// That of its definitions.
    Own,
    /// A new one, by its number among those of the value.
    New(u32),
}

/// A place where a value comes back from its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::spill) struct Reload {
    pub(in crate::spill) at: InsertionPoint,
    pub(in crate::spill) into: Register,
}

/// A value that has no register over a part of its life.
pub(in crate::spill) struct SpilledValue {
    pub(in crate::spill) reg: VReg,
    /// Its first definition; its only one if it is computed again.
    pub(in crate::spill) definition: Inst,
    pub(in crate::spill) location: SpillLocation,
    /// Where it is stored, at one place at least, if it is not computed again.
    pub(in crate::spill) stores: Vec<InsertionPoint>,
    /// In the order of the code, or of the reads that they were chosen for.
    pub(in crate::spill) reloads: Vec<Reload>,
    /// The reads in other registers than its own.
    pub(in crate::spill) reads: Vec<(Occurrence, u32)>,
    /// The reads ahead of which it is computed again.
    pub(in crate::spill) groups: Vec<Group>,
    /// Whether its only store is ahead of all reloads, so that it may move down in its block.
    pub(in crate::spill) is_stored_once: bool,
    /// The end of the instructions behind the only store, in its block, at whose reads its register is live.
    pub(in crate::spill) until: u32,
}

impl SpilledValue {
    /// How many places it comes back in.
    pub(in crate::spill) fn num_reloads(&self) -> usize {
        match self.location.space {
            SpillSpace::Rematerialised => self.groups.iter().filter(|group| !group.has_definition).count(),
            SpillSpace::Shared | SpillSpace::Local => self.reloads.len(),
        }
    }
}

/// Words that are live at each instruction, and how many may be.
pub(in crate::spill) struct PressureLimit<'p> {
    pub(in crate::spill) pressure: &'p mut Pressure,
    pub(in crate::spill) words: u32,
}

impl PressureLimit<'_> {
    /// Lets registers of so many words be live in other stretches than before, if there is room. Says whether there is.
    pub(in crate::spill) fn exchange(&mut self, before: &[Range<u32>], after: &[Range<u32>], words: u32) -> bool {
        let added = without(after, before);
        if added.iter().any(|stretch| self.pressure.most_in(stretch) + words > self.words) {
            return false;
        }
        added.iter().for_each(|stretch| self.pressure.put(stretch, words));
        without(before, after).iter().for_each(|stretch| self.pressure.take(stretch, words));
        true
    }
}

/// The parts of sorted and disjoint stretches that are in none of others.
pub(in crate::spill) fn without(stretches: &[Range<u32>], others: &[Range<u32>]) -> Vec<Range<u32>> {
    let mut parts = Vec::new();
    let mut first = 0;
    for stretch in stretches {
        let mut start = stretch.start;
        first += others[first..].iter().take_while(|other| other.end <= stretch.start).count();
        for other in others[first..].iter().take_while(|other| other.start < stretch.end) {
            if start < other.start {
                parts.push(start..other.start);
            }
            start = start.max(other.end);
        }
        if start < stretch.end {
            parts.push(start..stretch.end);
        }
    }
    parts
}

/// Whether a read is tied to a definition: it is read in the register of that definition.
pub(in crate::spill) fn is_tied(function: &Function, read: &Occurrence) -> bool {
    function.operands(read.inst)[read.operand as usize].tied.is_some()
}
