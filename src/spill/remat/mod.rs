//! Rematerialisation: a value that is cheap to compute is computed again before its reads, instead of living in a
//! register until then.
//!
//! A value that is live over high-pressure points takes a register there, or a spill slot. Constants, addresses,
//! parameters and simple arithmetic need neither: a clone of the definition before each group of reads suffices
//! (Briggs, Cooper and Torczon, "Rematerialization", 1992). A definition without remaining reads is removed. If there
//! is only one group of reads, the definition has in effect moved down.
//!
//! Predicates have seven registers of their own, and comparisons are repeated if these registers run out. Predicates
//! that cannot be rematerialised become [`bits`].
//!
//! In the order of the files:
//! * [`facts`]: analyses of a function;
//! * [`cost`]: the cost of rematerialising a value, and the condition under which it pays;
//! * [`rematerialised`]: the chosen values, and the registers that can therefore no longer be chosen;
//! * [`choice`]: chooses values, the cheapest first;
//! * [`predicates`]: chooses comparisons;
//! * [`mod@links`]: the instructions that lead to a sum with a widened product, and are rematerialised with it;
//! * [`mod@sources`]: the registers that a definition reads, and where they still hold the same values;
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

/// Registers that a thread may use at no cost: with this many, every GPU has full occupancy.
const FREE: u32 = 32;

/// Functions with fewer instructions hold few words and need no analysis. No view of such a function is made if only
/// functions with many live words matter.
pub(crate) const LONG: usize = 100;

/// If the live words reach the number of registers, points with at least this many eighths of the registers are
/// high-pressure points, too, because ptxas reorders the instructions.
const FULL_EIGHTHS: u32 = 6;

/// Most clones of one value. If a value is read in more places that are far from each other, it is better to leave it
/// in a register or to spill it: a clone for each of hundreds of reads makes the code longer than a register is worth.
pub(crate) const MOST_OF_A_VALUE: usize = 16;

/// Over all values together, there is at most one clone for this many instructions, or [`MOST_OF_A_VALUE`] clones if
/// that is more.
const INSTRUCTIONS_FOR_EACH: usize = 16;

/// Comparisons are not rematerialised if at most this many predicates are live at once. With so few predicates, ptxas's
/// own schedule leaves few of them as bits, and rematerialised comparisons made more kernels longer than shorter.
const MANY: u32 = 13;

/// Predicates do not become bits by default if the live words exceed this many fifths of the registers. ptxas may then
/// give up most registers for occupancy, and the number that it keeps depends on all spills, so bits that save
/// registers can lower occupancy.
const GIVEN_UP_FIFTHS: u32 = 7;

/// Result of rematerialisation.
#[derive(Debug)]
pub struct Outcome {
    /// The edits.
    pub edits: EditList,
    /// Number of rematerialised values.
    pub values: usize,
    /// Number of registers that live longer so that wider values can be rematerialised from them.
    pub extended: usize,
    /// Number of predicates that became bits.
    pub bits: usize,
    /// Additional instructions: clones and accesses to bits, minus removed definitions.
    pub added: isize,
}

impl Outcome {
    fn nothing(function: &Function) -> Self {
        Self { edits: EditList::new(function), values: 0, extended: 0, bits: 0, added: 0 }
    }
}

/// Definition of high-pressure points, and the means to free them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RematCriteria {
    /// A function with fewer instructions has no high-pressure points.
    pub(crate) instructions: usize,
    /// A function has high-pressure points only if at least this many words are live somewhere.
    pub(crate) needed: u32,
    /// A high-pressure point has at least this many eighths of the highest number of live words.
    pub(crate) eighths: u32,
    /// A high-pressure point has at least this many live words.
    pub(crate) least: u32,
    /// Whether only values that were computed from narrower values are rematerialised.
    pub(crate) widened_alone: bool,
    /// Comparisons are rematerialised if more predicates than this are live somewhere.
    pub(crate) predicates: u32,
    /// Which predicates become bits, if they are not rematerialised.
    pub(crate) bits: BitSpill,
    /// Registers that a thread may have.
    pub(crate) registers: u32,
}

/// Rematerialises values at high pressure. `bits` selects the predicates that become bits. `registers` is the number of
/// registers that a thread may have. The function must have left SSA form. O(n log n) in the operands and the blocks
/// that registers are live into.
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

/// Rematerialises values that are live over high-pressure points, by the given criteria.
pub(crate) fn rematerialise_above(
    function: &Function,
    classification: &Classification,
    criteria: RematCriteria,
) -> Outcome {
    let mut outcome = Outcome::nothing(function);
    // With default options, most functions end here.
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
