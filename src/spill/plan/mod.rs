//! The spill plan: where each spilled value is stored, held and reloaded.
//!
//! Each engine's result becomes a plan: the cost model's ([`spiller`](super::spiller)) and an allocator's
//! ([`from_allocation`]). In the order of the files:
//! * [`sources`]: the definition or reload that supplies each read, and hence the live ranges of registers;
//! * [`contents`]: whether a slot has the value at a load, and which stores are unnecessary;
//! * [`from_allocation`]: the plan of an allocation, part by part; [`unspill`]: the parts that fit into registers after
//!   all;
//! * [`lazy`]: removes unnecessary reloads and moves others to rarer code;
//! * [`check`]: the proof that each read finds its value.
//!
//! A reload does not define a new value: it only frees the register before it. Therefore, a plan is correct if the slot
//! has the value at each reload. A reload may move to any place at which the register limit allows it.

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

/// Memory or means by which a value is spilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpillSpace {
    /// A slot of each thread in an array in shared memory.
    Shared,
    /// A slot in local memory.
    Local,
    /// No memory: the definition is repeated before the reads.
    Rematerialised,
}

/// Location of a spilled value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::spill) struct SpillLocation {
    pub(in crate::spill) space: SpillSpace,
    /// The slot; `None` if the value is rematerialised.
    pub(in crate::spill) slot: Option<usize>,
}

/// A register into which a value is reloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::spill) enum Register {
    /// The register that the definitions write.
    Own,
    /// A new register, by its number among the value's new registers.
    New(u32),
}

/// A place at which a value is reloaded from its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::spill) struct Reload {
    pub(in crate::spill) at: InsertionPoint,
    pub(in crate::spill) into: Register,
}

/// A value without a register over a part of its live range.
pub(in crate::spill) struct SpilledValue {
    pub(in crate::spill) reg: VReg,
    /// The first definition. A rematerialised value has only this definition.
    pub(in crate::spill) definition: Inst,
    pub(in crate::spill) location: SpillLocation,
    /// The places of the stores. There is at least one, unless the value is rematerialised.
    pub(in crate::spill) stores: Vec<InsertionPoint>,
    /// The reloads, in the order of the code, or of the reads for which they were chosen.
    pub(in crate::spill) reloads: Vec<Reload>,
    /// The reads in other registers than the value's own, each with the number of its register.
    pub(in crate::spill) reads: Vec<(Occurrence, u32)>,
    /// The reads before which the value is rematerialised.
    pub(in crate::spill) groups: Vec<Group>,
    /// Whether the only store precedes all reloads, so that it may move down in its block.
    pub(in crate::spill) is_stored_once: bool,
    /// In the block of the only store: the end of the instructions after it at whose reads the register is live.
    pub(in crate::spill) until: u32,
}

impl SpilledValue {
    /// Returns the number of places at which the value is reloaded or rematerialised.
    pub(in crate::spill) fn num_reloads(&self) -> usize {
        match self.location.space {
            SpillSpace::Rematerialised => self.groups.iter().filter(|group| !group.has_definition).count(),
            SpillSpace::Shared | SpillSpace::Local => self.reloads.len(),
        }
    }
}

/// The words that are live at each instruction, and the limit.
pub(in crate::spill) struct PressureLimit<'p> {
    pub(in crate::spill) pressure: &'p mut Pressure,
    pub(in crate::spill) words: u32,
}

impl PressureLimit<'_> {
    /// Replaces the instructions at which registers of `words` words are live, if the limit allows that. Returns
    /// whether they were replaced.
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

/// Returns the parts of `stretches` that are not in `others`. Both are sorted and disjoint.
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

/// Whether a read is tied to a definition, so that it needs the register of that definition.
pub(in crate::spill) fn is_tied(function: &Function, read: &Occurrence) -> bool {
    function.operands(read.inst)[read.operand as usize].tied.is_some()
}
