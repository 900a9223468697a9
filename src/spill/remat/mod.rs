//! Rematerialisation: a value that is cheap to compute is computed again where it is read, instead of being kept.
//!
//! What is kept over points where much is live takes a register there, or a spill slot. Constants, addresses,
//! parameters and simple arithmetic need none: a clone of the definition in front of each group of reads does (Briggs,
//! Cooper and Torczon, "Rematerialization", 1992). A definition that then serves nobody goes, so that one group of
//! reads means that it has sunk.
//!
//! Predicates have registers of their own, seven of them, and comparisons are made again for want of these. What cannot be compared
//! again is kept as [`bits`].
//!
//! In the order of the files:
//! * [`facts`]: what is known of a function;
//! * [`cost`]: what computing a value again costs, and where that pays;
//! * [`rematerialised`]: what was chosen, and what can be chosen no more because of it;
//! * [`choice`]: which values, the cheapest first;
//! * [`predicates`]: which comparisons are made again;
//! * [`mod@links`]: what leads to a sum of a widened product, and is computed again with it;
//! * [`mod@sources`]: what a definition reads, and where that is still at hand;
//! * [`clones`]: the edits.

mod choice;
mod clones;
mod cost;
mod facts;
mod links;
mod predicates;
mod rematerialised;
mod sources;
#[cfg(test)]
mod tests;

use crate::analysis::Occurrences;
use crate::config;
use crate::config::BitSpill;
use crate::function::{EditList, Function, VReg};
use crate::spill::bits;
use crate::spill::bits::Policy;
use crate::target::Classification;
use choice::may_be_full;
pub(crate) use clones::insert_clones;
pub(crate) use cost::{Costs, in_loads};
use facts::Facts;
use rematerialised::RematPlan;
pub(crate) use sources::{has_sources, sources};

/// Words that a thread may keep at no cost: with so many registers, every processor holds all its warps.
const FREE: u32 = 32;

/// What is shorter holds little, and need not be looked at: where only functions with many live words matter, no view of it is
/// made.
pub(crate) const LONG: usize = 100;

/// Where more words are live than there are registers, points with so many eighths of these are full, too: ptxas has an order of
/// its own.
const FULL_EIGHTHS: u32 = 6;

/// The most clones of one value. What is read in more places that are far from each other is better kept, or spilled: a
/// clone for each of hundreds of reads makes code longer than any register is worth.
pub(crate) const MOST_OF_A_VALUE: usize = 16;

/// Clones of all values together are at most one for so many instructions, or [`MOST_OF_A_VALUE`] if that is more.
const INSTRUCTIONS_FOR_EACH: usize = 16;

/// Where no more predicates are live at once, the order that ptxas makes keeps few of them as bits, and comparing again made more
/// kernels longer than shorter.
const MANY: u32 = 13;

/// Where more words are live than so many fifths of the registers, ptxas may give most registers up for the sake of warps, and how
/// many it keeps then depends on all that is spilled. What is spared by bits there can cost warps.
const GIVEN_UP_FIFTHS: u32 = 7;

/// What rematerialisation did.
#[derive(Debug)]
pub struct Outcome {
    /// The changes.
    pub edits: EditList,
    /// How many values are computed again.
    pub values: usize,
    /// How many registers live longer, so that wider ones can be computed from them again.
    pub extended: usize,
    /// How many predicates are kept as bits.
    pub bits: usize,
    /// How many instructions there are more: clones less definitions that went, and accesses to bits.
    pub added: isize,
}

impl Outcome {
    fn nothing(function: &Function) -> Self {
        Self { edits: EditList::new(function), values: 0, extended: 0, bits: 0, added: 0 }
    }
}

/// Which points are full, and what frees them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RematCriteria {
    /// None is full in a function with fewer instructions.
    pub(crate) instructions: usize,
    /// None is full unless so many words are live somewhere.
    pub(crate) needed: u32,
    /// Of the words that are live where most is, so many eighths are live there.
    pub(crate) eighths: u32,
    /// And at least so many.
    pub(crate) least: u32,
    /// Values alone that were computed from narrower ones.
    pub(crate) widened_alone: bool,
    /// Comparisons are made again where more predicates are live somewhere.
    pub(crate) predicates: u32,
    /// Which others are kept as bits there.
    pub(crate) bits: BitSpill,
    /// How many registers a thread may have.
    pub(crate) registers: u32,
}

/// Computes values again where much is live. `bits`: which predicates are kept as bits; `registers`: how many a thread may
/// have. The function must have left SSA form.
/// O(n log n) in the operands and the blocks that registers are live into.
pub fn rematerialise(
    function: &Function,
    classification: &Classification,
    criteria: config::Remat,
    bits: BitSpill,
    registers: u32,
) -> Outcome {
    let above = |eighths| RematCriteria {
        instructions: 0,
        needed: 0,
        eighths,
        least: FREE,
        widened_alone: false,
        predicates: MANY,
        bits,
        registers,
    };
    let criteria = match criteria {
        config::Remat::Off => return Outcome::nothing(function),
        config::Remat::Widened => {
            let least = registers * FULL_EIGHTHS / 8;
            RematCriteria {
                instructions: LONG,
                needed: registers,
                eighths: 0,
                least,
                widened_alone: true,
                predicates: MANY,
                bits,
                registers,
            }
        }
        config::Remat::Peaks => above(7),
        config::Remat::High => above(4),
    };
    rematerialise_above(function, classification, criteria)
}

/// Frees full points.
pub(crate) fn rematerialise_above(
    function: &Function,
    classification: &Classification,
    criteria: RematCriteria,
) -> Outcome {
    let mut outcome = Outcome::nothing(function);
    // By default most functions end here.
    if !may_be_full(function, criteria) {
        return outcome;
    }
    let occurrences = Occurrences::new(function, &|_| true);
    let facts = Facts::new(function, classification, &occurrences);
    let mut plan = RematPlan::none(function);
    let most_live = choice::choose(&facts, criteria, &mut plan);
    predicates::choose(&facts, criteria.predicates, &mut plan);
    let are_bits_wanted = match criteria.bits {
        BitSpill::Off => false,
        BitSpill::Auto => 5 * most_live <= GIVEN_UP_FIFTHS * criteria.registers,
        BitSpill::On => true,
    };
    if are_bits_wanted {
        let is_wanted = |reg: VReg| {
            let definitions = || occurrences.of(reg).iter().filter(|access| access.is_def()).count();
            plan.is_free(reg) && (criteria.bits == BitSpill::On || definitions() > 1)
        };
        let Facts { cfg, occurrences, frequencies, live, .. } = &facts;
        let facts = bits::Facts { function, cfg, occurrences, frequencies, live };
        let policy = if criteria.bits == BitSpill::On { Policy::Any } else { Policy::Shorter };
        let spilled = bits::spill_predicates(&facts, (criteria.predicates, policy), is_wanted, &mut outcome.edits);
        outcome.bits = spilled.predicates;
        outcome.added += spilled.accesses as isize;
    }
    let rematerialised = plan.values;
    outcome.values = rematerialised.len();
    outcome.extended = rematerialised.iter().map(|value| value.extended).sum();
    for value in &rematerialised {
        outcome.added += insert_clones(function, &occurrences, &value.computed, &value.groups, &mut outcome.edits);
    }
    outcome.edits.finish();
    debug_assert_eq!(crate::check::slots::errors(function, &outcome.edits), [], "{function}");
    outcome
}
