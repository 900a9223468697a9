//! The choice of values to rematerialise.

use std::ops::Range;

use super::cost::pays;
use super::facts::{Facts, instructions};
use super::rematerialised::{RematPlan, Rematerialised};
use super::sources::{is_at_hand, sources, words_read};
use super::{INSTRUCTIONS_FOR_EACH, MOST_OF_A_VALUE, RematCriteria};
use crate::analysis::pressure::Pressure;
use crate::function::{Block, Function, Inst, Operand, RegClass, VReg};
use crate::spill::groups::{Group, freed, group};
use crate::spill::single_definition::{definition_and_reads, dominates};
use crate::target::RematCost;

/// The cost of a rematerialised value, its register, and the instructions that compute it.
type Candidate = (RematCost, VReg, Vec<Inst>);

/// A value that is worth rematerialising, and the effects on live ranges.
struct Considered {
    value: Rematerialised,
    /// The instructions at which its register is no longer live.
    freed: Vec<Range<u32>>,
    extended: Vec<Extended>,
}

/// A register that clones read, and the instructions at which it becomes live for them.
struct Extended {
    reg: VReg,
    words: u32,
    ranges: Vec<Range<u32>>,
}

/// Chooses values that are live over high-pressure points without a read there, the cheapest first. Each choice takes
/// into account the points that earlier choices have freed. A value is skipped if it needs too many clones, or more
/// cloned instructions than the function may still get. Returns the highest number of live words before the choice.
pub(super) fn choose(facts: &Facts<'_>, criteria: RematCriteria, plan: &mut RematPlan) -> u32 {
    let function = facts.function;
    let mut pressure = Pressure::new(function, &facts.live);
    let peak = pressure.peak();
    let threshold = (peak * criteria.eighths).div_ceil(8).max(criteria.least);
    if peak < threshold.max(criteria.needed) {
        return peak;
    }
    let is_wanted = |reg| !criteria.widened_alone || facts.is_widened(reg);
    let computed = |reg| facts.links(reg).or_else(|| is_wanted(reg).then(|| facts.alone(reg)).flatten());
    let mut candidates: Vec<Candidate> =
        function.regs().filter_map(|reg| computed(reg).map(|(cost, computed)| (cost, reg, computed))).collect();
    candidates.sort_unstable();
    let mut left = MOST_OF_A_VALUE.max(instructions(function) / INSTRUCTIONS_FOR_EACH);
    for candidate in candidates {
        let considered = facts.consider(candidate, &pressure, threshold, plan);
        let is_short = |Considered { value, .. }: &Considered| {
            value.clones().count() <= MOST_OF_A_VALUE && value.instructions() <= left
        };
        if let Some(Considered { value, freed, extended }) = considered.filter(is_short) {
            left -= value.instructions();
            let reg = value.reg;
            freed.iter().for_each(|stretch| pressure.take(stretch, function.class(reg).words()));
            for Extended { reg, words, ranges } in extended {
                ranges.iter().for_each(|range| pressure.put(range, words));
                plan.extensions.add(reg, ranges);
            }
            plan.add(function, value);
        }
    }
    peak
}

/// Whether the function can have a high-pressure point at all, because at most as many words are live as instructions
/// write. O(operands).
pub(super) fn may_be_full(function: &Function, criteria: RematCriteria) -> bool {
    let (mut words, mut predicates) = (0, 0);
    for reg in function.insts().flat_map(|inst| function.operands(inst)).filter_map(Operand::def) {
        words += function.class(reg).words();
        predicates += u32::from(function.class(reg) == RegClass::B1);
    }
    instructions(function) >= criteria.instructions && (words >= criteria.needed || predicates > criteria.predicates)
}

impl Facts<'_> {
    /// Returns the cost of the only definition of a register, and that instruction; `None` if the definition cannot be
    /// rematerialised anywhere.
    fn alone(&self, reg: VReg) -> Option<(RematCost, Vec<Inst>)> {
        let definition = self.definition_of_plain_reads(reg).filter(|_| self.function.class(reg).words() > 0)?;
        Some((self.costs.of(definition.inst)?, vec![definition.inst]))
    }

    /// Returns a value with its groups, and with the instructions at which they free its register; `None` if it is not
    /// worth rematerialising.
    fn consider(
        &self,
        (cost, reg, computed): Candidate,
        pressure: &Pressure,
        threshold: u32,
        plan: &RematPlan,
    ) -> Option<Considered> {
        let definition = *self.occurrences.only_definition(reg)?;
        if !plan.allow(self.function, reg, &computed) {
            return None;
        }
        let groups = group(self.function, self.occurrences.of(reg), pressure, threshold);
        let freed = freed(reg, std::iter::once(definition.inst), &groups, &self.live);
        let full = self.most_frequent(&freed, pressure, threshold)?;
        let mut clones = groups.iter().filter(|group| !group.has_definition);
        let is_worth = |group: &Group| {
            let block = group.block;
            let depth = self.loops.depth(block);
            let goes_deeper = depth > self.loops.depth(definition.block);
            pays(cost, depth) && (!goes_deeper || self.frequencies[block] <= full)
        };
        if !clones.all(is_worth) {
            return None;
        }
        let mut value = Rematerialised { reg, computed, groups, extended: 0 };
        let extended = self.extended(&value, &freed, plan)?;
        value.extended = extended.len();
        Some(Considered { value, freed, extended })
    }

    /// Returns the instructions at which the sources of a value's clones have to live longer. `None` if a source has
    /// another value there, or if the sources take at least as many additional words as the value. A source that
    /// already lives longer for another clone takes no additional word. Neither does a constant or a kernel parameter,
    /// which the hardware reads in place.
    ///
    /// A source with one definition that precedes all its reads has the same value at a clone as at the definition of
    /// the rematerialised value. Otherwise, a path from the entry to the clone would bypass that definition.
    fn extended(&self, value: &Rematerialised, freed: &[Range<u32>], plan: &RematPlan) -> Option<Vec<Extended>> {
        // In a loop, a source stays live after a clone, because the next iteration reads it.
        let live = value.groups.iter().flat_map(|group| &group.live);
        let stretches: Vec<Range<u32>> = freed.iter().chain(live).cloned().collect();
        let mut extended = Vec::new();
        let mut missing: Vec<VReg> = value
            .sources(self.function)
            .filter(|&(source, reader)| {
                value.clones().any(|group| !is_at_hand(&self.live, source, reader, group.place))
            })
            .map(|(source, _)| source)
            .collect();
        missing.sort_unstable();
        missing.dedup();
        for source in missing {
            let (definition, reads) = definition_and_reads(self.occurrences, source)?;
            if !reads.iter().all(|read| dominates(&self.dominators, &definition, read)) {
                return None;
            }
            let is_at_no_cost =
                sources(self.function, definition.inst).next().is_none() && self.costs.of(definition.inst).is_some();
            let ranges = plan.extensions.missing(&self.live, source, &stretches);
            if !is_at_no_cost && !ranges.is_empty() {
                let words = words_read(self.function, self.occurrences, source);
                extended.push(Extended { reg: source, words, ranges });
            }
        }
        let words: u32 = extended.iter().map(|extended| extended.words).sum();
        (words < self.function.class(value.reg).words()).then_some(extended)
    }

    /// Returns the highest frequency of the high-pressure points that are freed; `None` if no such point is freed.
    fn most_frequent(&self, freed: &[Range<u32>], pressure: &Pressure, threshold: u32) -> Option<f64> {
        let full = freed.iter().filter(|stretch| pressure.most_in(stretch) >= threshold);
        let blocks = full.flat_map(|stretch| self.blocks(stretch));
        let of_full = blocks.filter(|(_, part)| pressure.most_in(part) >= threshold);
        of_full.map(|(block, _)| self.frequencies[block]).max_by(f64::total_cmp)
    }

    /// Returns the blocks of a non-empty stretch, each with its part of the stretch.
    fn blocks(&self, stretch: &Range<u32>) -> impl Iterator<Item = (Block, Range<u32>)> {
        let (start, end) = (stretch.start, stretch.end);
        let range = |block| self.function.block_range(block);
        // The blocks of a stretch have successive numbers.
        let from = self.function.block_of(Inst(start)).0;
        let blocks = (from..self.function.num_blocks() as u32).map(Block);
        blocks.take_while(move |&block| range(block).start.0 < end).map(move |block| {
            let insts = range(block);
            (block, insts.start.0.max(start)..insts.end.0.min(end))
        })
    }
}
