//! Rematerialisation of comparisons.
//!
//! A thread has seven predicates. ptxas stores additional predicates as bits of a register: setting a bit takes two
//! instructions, and testing it takes one. LLVM compares once, and reads the predicate wherever control flow depends on
//! it. For example, a softmax whose 256 values have individual bounds has 256 predicates, and takes 2,600 instructions
//! for bits. Repeating a comparison takes one instruction and occupies no predicate in between. NVIDIA's compiler
//! repeats comparisons in this way.
//!
//! Within one block, ptxas would merge equal comparisons again, so there is one clone for each block.

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

/// Over all comparisons together, there is at most one clone for this many instructions, or [`MOST_OF_A_VALUE`] clones
/// if that is more.
const INSTRUCTIONS_FOR_A_CLONE: usize = 4;

/// Most instructions that ptxas repeats for all operands of a clone.
const STEPS: u32 = 1;

/// Greatest length of a chain of operands' definitions that is followed, including definitions without cost.
const LONGEST_CHAIN: u32 = 4;

/// Chooses predicates that are live without a read at points with more live predicates than a thread has. Does nothing
/// unless more than `many` predicates are live somewhere. Predicates with the fewest clones come first, and predicates
/// that other comparisons read come last. Each choice takes into account the points that earlier choices have freed.
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

/// Returns a predicate with a clone of its comparison for each block that reads it, and the instructions at which that
/// frees the predicate.
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
    // In a deeper loop, a comparison takes as many instructions as testing a bit that was set before the loop.
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

/// Operands of comparisons, and the instructions that compute them.
struct Operands<'a> {
    facts: &'a Facts<'a>,
    /// The cheap instruction that computes the only value of a register, and its cost for ptxas; `None` if there is no
    /// such instruction.
    made: FxHashMap<VReg, Option<(Inst, u32)>>,
}

impl<'a> Operands<'a> {
    fn new(facts: &'a Facts<'a>) -> Self {
        Self { facts, made: FxHashMap::default() }
    }

    /// Returns the number of instructions that ptxas has to repeat so that the operands of an instruction are available
    /// at a clone. `None` if the number exceeds `most`, or if repeating them is impossible. Instructions without
    /// operands, like reads of a parameter or a thread's number, cost nothing. Neither does taking the half of a
    /// register.
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
