//! Predicates of comparisons that are made again.
//!
//! A thread has seven predicates. ptxas keeps further ones as bits of a register: it takes two instructions to set a bit, and one
//! to test it. LLVM compares once and reads the predicate wherever control flow depends on it: a softmax whose 256 values have
//! bounds of their own keeps 256 predicates, and has 2,600 instructions for bits. Comparing again takes one instruction, and no
//! predicate in between. NVIDIA's compiler does so.
//!
//! In one block ptxas would find equal comparisons, and make one of them again. So there is one clone for each block.

use std::ops::Range;

use super::MOST_OF_A_VALUE;
use super::chosen::{Choices, Chosen};
use super::facts::{Facts, instructions};
use super::sources::{is_at_hand, sources, takes_low_half};
use crate::function::{Inst, RegClass, VReg};
use crate::spill::groups::{Group, freed, group};
use crate::spill::pressure::Pressure;

/// Predicates of a thread, without the one that is always true.
const REGISTERS: u32 = 7;

/// Clones of all comparisons are at most one for so many instructions, or [`MOST_OF_A_VALUE`] if that is more.
const INSTRUCTIONS_FOR_EACH: usize = 4;

/// So many instructions may stand between an operand and what is live.
const STEPS: u32 = 4;

/// Chooses predicates that are live, without being read, where more are live than there are, if somewhere more than `many` are; those
/// with the fewest clones first. What is freed counts for the next. O(n log n) in operands and blocks.
pub(super) fn choose(facts: &Facts<'_>, many: u32, choices: &mut Choices) {
    let function = facts.function;
    let is_predicate = |reg| function.class(reg) == RegClass::B1;
    let mut pressure = Pressure::weighted(function, &facts.live, |reg| u32::from(is_predicate(reg)));
    if pressure.peak() <= many {
        return;
    }
    let mut values: Vec<(Chosen, Vec<Range<u32>>)> = function
        .regs()
        .filter(|&reg| is_predicate(reg))
        .filter_map(|reg| considered(facts, reg, &pressure))
        .filter(|(value, _)| value.clones().count() <= MOST_OF_A_VALUE)
        .collect();
    values.sort_by_key(|(value, _)| (value.clones().count(), value.reg));
    let mut left = MOST_OF_A_VALUE.max(instructions(function) / INSTRUCTIONS_FOR_EACH);
    for (value, freed) in values {
        let is_full = freed.iter().any(|stretch| pressure.most_in(stretch) > REGISTERS.min(many));
        let clones = value.clones().count();
        if is_full && clones <= left && choices.allow(function, value.reg, value.definition) {
            left -= clones;
            freed.iter().for_each(|stretch| pressure.take(stretch, 1));
            choices.add(function, value);
        }
    }
}

/// A predicate with a clone of its comparison for each block that reads it, and what that frees.
fn considered(facts: &Facts<'_>, reg: VReg, pressure: &Pressure) -> Option<(Chosen, Vec<Range<u32>>)> {
    let definition = facts.definition_of_plain_reads(reg).filter(|one| facts.costs.is_comparison(one.inst))?;
    let groups = group(facts.function, facts.occurrences.of(reg), pressure, u32::MAX);
    let depth = facts.loops.depth(definition.block);
    let can_be = |group: &Group| {
        let steps = if facts.loops.depth(group.block) > depth { 0 } else { STEPS };
        sources(facts.function, definition.inst)
            .all(|source| is_there_again(facts, source, definition.inst, group, steps))
    };
    if !groups.iter().filter(|group| !group.has_definition).all(can_be) {
        return None;
    }
    let freed = freed(reg, std::iter::once(definition.inst), &groups, &facts.live);
    Some((Chosen { reg, definition: definition.inst, groups, extended: 0 }, freed))
}

/// Whether an operand of a comparison is live at a clone, or ptxas can compute it again there from what is, or from nothing, as a
/// thread's number: it does that by itself. In a deeper loop that would be instructions more than a test of a bit.
fn is_there_again(facts: &Facts<'_>, source: VReg, reader: Inst, group: &Group, steps: u32) -> bool {
    if is_at_hand(&facts.live, source, reader, group.place) {
        return true;
    }
    let Some(made) = facts.definition_of_plain_reads(source).filter(|_| steps > 0) else { return false };
    let is_cheap =
        takes_low_half(facts.function, made.inst) || facts.costs.of(made.inst).is_some_and(|cost| cost.0 <= 1);
    is_cheap
        && sources(facts.function, made.inst).all(|source| is_there_again(facts, source, made.inst, group, steps - 1))
}
