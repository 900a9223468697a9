//! Rematerialisation: a value that is cheap to compute is computed again where it is read, instead of being kept.
//!
//! What is kept over points where much is live takes a register there, or a spill slot. Constants, addresses,
//! parameters and simple arithmetic need none: a clone of the definition in front of each group of reads does (Briggs,
//! Cooper and Torczon, "Rematerialization", 1992). A definition that then serves nobody goes, so that one group of
//! reads means that it has sunk.
//!
//! In the order of the files:
//! * [`cost`]: what computing a value again costs, and where that pays;
//! * [`choice`]: which values, the cheapest first;
//! * [`mod@sources`]: what a definition reads, and where that is still at hand;
//! * [`clones`]: the edits.

mod choice;
mod clones;
mod cost;
mod sources;
#[cfg(test)]
mod tests;

use crate::analysis::Occurrences;
use crate::config;
use crate::function::{EditList, Function};
use crate::target::Classification;
use choice::choose;
pub(crate) use clones::compute_again;
pub(crate) use cost::{Costs, in_loads};
pub(crate) use sources::{has_sources, sources};

/// Words that a thread may keep at no cost: with so many registers, every processor holds all its warps.
const FREE: u32 = 32;

/// The most clones of one value. What is read in more places that are far from each other is better kept, or spilled: a
/// clone for each of hundreds of reads makes code longer than any register is worth.
pub(crate) const MOST_OF_A_VALUE: usize = 16;

/// Clones of all values together are at most one for so many instructions, or [`MOST_OF_A_VALUE`] if that is more.
const INSTRUCTIONS_FOR_EACH: usize = 16;

/// What rematerialisation did.
#[derive(Debug)]
pub struct Outcome {
    /// The changes.
    pub edits: EditList,
    /// How many values are computed again.
    pub values: usize,
    /// How many instructions there are more: clones less definitions that went.
    pub added: isize,
}

/// Computes values again where much is live. The function must have left SSA form. O(n log n) in the operands and the
/// blocks that registers are live into.
pub fn rematerialise(function: &Function, classification: &Classification, wanted: config::Remat) -> Outcome {
    match wanted {
        config::Remat::Off => Outcome { edits: EditList::new(function), values: 0, added: 0 },
        config::Remat::Peaks => rematerialise_above(function, classification, 7, FREE),
        config::Remat::High => rematerialise_above(function, classification, 4, FREE),
    }
}

/// Frees points where at least `eighths` of the most that is live anywhere is, and at least `least` words.
pub(crate) fn rematerialise_above(
    function: &Function,
    classification: &Classification,
    eighths: u32,
    least: u32,
) -> Outcome {
    let occurrences = Occurrences::new(function, &|_| true);
    let chosen = choose((function, classification), &occurrences, eighths, least);
    let mut outcome = Outcome { edits: EditList::new(function), values: chosen.len(), added: 0 };
    for value in &chosen {
        let register = (value.reg, value.definition);
        outcome.added += compute_again(function, &occurrences, register, &value.groups, &mut outcome.edits);
    }
    outcome.edits.finish();
    outcome
}
