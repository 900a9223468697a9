//! Predicates of comparisons that are made again.
//!
//! A thread has seven predicates. ptxas keeps further ones as bits of a register: it takes two instructions to set a bit, and one
//! to test it. LLVM compares once and reads the predicate wherever control flow depends on it: a softmax whose 256 values have
//! bounds of their own keeps 256 predicates, and has 2,600 instructions for bits. Comparing again takes one instruction, and no
//! predicate in between. NVIDIA's compiler does so.
//!
//! In one block ptxas would find equal comparisons, and make one of them again. So there is one clone for each block.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::MOST_OF_A_VALUE;
use super::facts::{Facts, instructions};
use super::rematerialised::{RematPlan, Rematerialised};
use super::sources::{is_at_hand, sources, takes_low_half};
use crate::analysis::pressure::Pressure;
use crate::function::{Inst, RegClass, VReg};
use crate::spill::groups::{Group, freed, group};
use crate::target::machine::PREDICATES;

/// Clones of all comparisons are at most one for so many instructions, or [`MOST_OF_A_VALUE`] if that is more.
const INSTRUCTIONS_FOR_A_CLONE: usize = 4;

/// ptxas computes so many instructions again for the operands of a clone, all together.
const STEPS: u32 = 1;

/// Instructions that made operands of each other are followed so far, those at no cost included.
const LONGEST_CHAIN: u32 = 4;

/// Chooses predicates that are live, without being read, where more are live than there are, if somewhere more than `many` are. Those
/// with the fewest clones come first, and those that other comparisons read come last. What is freed counts for the next.
/// O(n log n) in operands and the blocks that registers are live into.
pub(super) fn choose(facts: &Facts<'_>, many: u32, plan: &mut RematPlan) {
    let function = facts.function;
    let is_predicate = |reg| function.class(reg) == RegClass::B1;
    let mut pressure = Pressure::weighted(function, &facts.live, |reg| u32::from(is_predicate(reg)));
    if pressure.peak() <= many {
        return;
    }
    let mut operands = Operands::new(facts);
    let mut values: Vec<(Rematerialised, Vec<Range<u32>>)> = function
        .regs()
        .filter(|&reg| is_predicate(reg))
        .filter_map(|reg| considered(facts, &mut operands, reg, &pressure))
        .collect();
    let is_compared =
        |reg| facts.occurrences.of(reg).iter().any(|one| one.is_use() && facts.costs.is_comparison(one.inst));
    values.sort_by_cached_key(|(value, _)| (is_compared(value.reg), value.clones().count(), value.reg));
    let mut left = MOST_OF_A_VALUE.max(instructions(function) / INSTRUCTIONS_FOR_A_CLONE);
    for (value, freed) in values {
        let is_full = freed.iter().any(|stretch| pressure.most_in(stretch) > PREDICATES.min(many));
        let clones = value.clones().count();
        if is_full && clones <= left && plan.allow(function, value.reg, &value.computed) {
            left -= clones;
            freed.iter().for_each(|stretch| pressure.take(stretch, 1));
            plan.add(function, value);
        }
    }
}

/// A predicate with a clone of its comparison for each block that reads it, and what that frees.
fn considered(
    facts: &Facts<'_>,
    operands: &mut Operands<'_>,
    reg: VReg,
    pressure: &Pressure,
) -> Option<(Rematerialised, Vec<Range<u32>>)> {
    let definition = *facts.occurrences.only_definition(reg).filter(|one| facts.costs.is_comparison(one.inst))?;
    let groups = group(facts.function, facts.occurrences.of(reg), pressure, u32::MAX);
    let value = Rematerialised { reg, computed: vec![definition.inst], groups, extended: 0 };
    if !(1..=MOST_OF_A_VALUE).contains(&value.clones().count()) {
        return None;
    }
    facts.definition_of_plain_reads(reg)?;
    let depth = facts.loops.depth(definition.block);
    // In a deeper loop, comparing takes as many instructions as testing a bit that was set ahead of the loop.
    let can_be = |group: &Group| {
        facts.loops.depth(group.block) <= depth
            && operands.steps(definition.inst, group, (STEPS, LONGEST_CHAIN)).is_some()
    };
    if !value.clones().all(can_be) {
        return None;
    }
    let freed = freed(reg, std::iter::once(definition.inst), &value.groups, &facts.live);
    Some((value, freed))
}

/// What comparisons read, and how it was made.
struct Operands<'a> {
    facts: &'a Facts<'a>,
    /// The cheap instruction that made the one value of a register, and what it costs ptxas; `None` where there is none.
    made: FxHashMap<VReg, Option<(Inst, u32)>>,
}

impl<'a> Operands<'a> {
    fn new(facts: &'a Facts<'a>) -> Self {
        Self { facts, made: FxHashMap::default() }
    }

    /// How many instructions ptxas has to compute again for the operands that an instruction reads to be there at a clone. `None`:
    /// more than `most`, or it cannot. What reads nothing, as a parameter or a thread's number, and the half of a register are there
    /// at no cost.
    fn steps(&mut self, reader: Inst, group: &Group, (most, chain): (u32, u32)) -> Option<u32> {
        let mut all = 0;
        for source in sources(self.facts.function, reader) {
            if is_at_hand(&self.facts.live, source, reader, group.place) {
                continue;
            }
            let (made, cost) = self.made(source)?;
            let chain = chain.checked_sub(1)?;
            all += cost;
            if all > most {
                return None;
            }
            all += self.steps(made, group, (most - all, chain))?;
        }
        Some(all)
    }

    fn made(&mut self, reg: VReg) -> Option<(Inst, u32)> {
        let facts = self.facts;
        *self.made.entry(reg).or_insert_with(|| {
            let made = facts.occurrences.only_definition(reg)?.inst;
            let is_half = takes_low_half(facts.function, made);
            if !is_half && facts.costs.of(made).is_none_or(|cost| cost.0 > 1) {
                return None;
            }
            facts.definition_of_plain_reads(reg)?;
            let reads = sources(facts.function, made).next().is_some();
            Some((made, u32::from(reads && !is_half)))
        })
    }
}
