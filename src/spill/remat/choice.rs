//! Which values are computed again.

use std::ops::Range;

use super::cost::{Costs, pays};
use super::sources::{has_sources, sources};
use super::{INSTRUCTIONS_FOR_EACH, MOST_OF_A_VALUE};
use crate::analysis::{Cfg, Dominators, LiveRanges, Loops, Occurrence, Occurrences, block_frequencies};
use crate::function::{Block, Function, Inst, Operand, VReg};
use crate::index::IndexVec;
use crate::spill::groups::{Group, freed, group};
use crate::spill::pressure::Pressure;
use crate::spill::single_definition::{definition_and_reads, dominates};
use crate::target::{Asynchrony, Classification, RematCost, asynchrony, is_fragment};

/// A value that is computed again.
pub(super) struct Chosen {
    pub(crate) reg: VReg,
    /// Its only definition.
    pub(crate) definition: Inst,
    pub(crate) groups: Vec<Group>,
}

impl Chosen {
    /// The groups that get a clone.
    pub(super) fn clones(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.has_definition)
    }
}

/// What is known of a function.
struct Facts<'a> {
    function: &'a Function,
    occurrences: &'a Occurrences,
    dominators: Dominators,
    loops: Loops,
    frequencies: IndexVec<Block, f64>,
    live: LiveRanges,
}

/// Which registers can be computed again no more, because what was chosen has to do with them.
struct Settled {
    /// They go: nobody else may read them.
    gone: IndexVec<VReg, bool>,
    /// Clones read them where they are live now.
    held: IndexVec<VReg, bool>,
}

/// Chooses values that are live, without being read, over points with at least `eighths` of the most words that are
/// live anywhere, and with at least `least`; the cheapest to compute first. What is freed counts for the next. A value
/// that needs too many clones, or more than are left of what the function may grow by, is passed over.
pub(super) fn choose(
    (function, classification): (&Function, &Classification),
    occurrences: &Occurrences,
    eighths: u32,
    least: u32,
) -> Vec<Chosen> {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let loops = Loops::new(&cfg, &dominators);
    let frequencies = block_frequencies(function, &cfg, &dominators);
    let all: Vec<VReg> = function.regs().collect();
    let live = LiveRanges::new(function, &cfg, &dominators, occurrences, &all);
    let mut pressure = Pressure::new(function, &live);
    let facts = Facts { function, occurrences, dominators, loops, frequencies, live };
    let threshold = (pressure.peak() * eighths).div_ceil(8).max(least);
    let mut chosen = Vec::new();
    if pressure.peak() < threshold {
        return chosen;
    }
    let costs = Costs::new(function, classification);
    let mut candidates: Vec<(RematCost, VReg)> =
        all.into_iter().filter_map(|reg| Some((facts.cost(reg, &costs)?, reg))).collect();
    candidates.sort_unstable();
    let none = || IndexVec::filled(false, function.num_regs());
    let mut settled = Settled { gone: none(), held: none() };
    let mut left = MOST_OF_A_VALUE.max(function.num_insts() / INSTRUCTIONS_FOR_EACH);
    for (cost, reg) in candidates {
        let considered = facts.consider(reg, cost, &pressure, threshold, &settled);
        let is_short = |(value, _): &(Chosen, _)| value.clones().count() <= left.min(MOST_OF_A_VALUE);
        if let Some((value, freed)) = considered.filter(is_short) {
            left -= value.clones().count();
            freed.iter().for_each(|stretch| pressure.take(stretch, function.class(reg).words()));
            settled.gone[reg] = true;
            sources(function, value.definition).for_each(|source| settled.held[source] = true);
            chosen.push(value);
        }
    }
    chosen
}

impl Facts<'_> {
    /// What it costs to compute a register's value again; `None` where that is not possible anywhere.
    fn cost(&self, reg: VReg, costs: &Costs<'_>) -> Option<RematCost> {
        let (definition, reads) = definition_and_reads(self.occurrences, reg)?;
        if self.function.class(reg).words() == 0 || reads.is_empty() {
            return None;
        }
        let is_after = |read: &Occurrence| dominates(&self.dominators, &definition, read);
        // A clone would stand ahead of its reader, and so behind the fence that orders what is done to fragments.
        let is_fragment = |read: &Occurrence| {
            asynchrony(self.function, read.inst) == Some(Asynchrony::Starts)
                && is_fragment(self.function, self.operand(read))
        };
        let is_plain = |read: &Occurrence| {
            read.is_use() && self.operand(read).tied.is_none() && is_after(read) && !is_fragment(read)
        };
        if reads.iter().all(is_plain) { costs.of(definition.inst) } else { None }
    }

    fn operand(&self, read: &Occurrence) -> &Operand {
        &self.function.operands(read.inst)[read.operand as usize]
    }

    /// A value with its groups, and what they free, where it is worth computing again.
    fn consider(
        &self,
        reg: VReg,
        cost: RematCost,
        pressure: &Pressure,
        threshold: u32,
        settled: &Settled,
    ) -> Option<(Chosen, Vec<Range<u32>>)> {
        let definition = *self.occurrences.only_definition(reg)?;
        if settled.held[reg] || sources(self.function, definition.inst).any(|source| settled.gone[source]) {
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
            pays(cost, depth)
                && (!goes_deeper || self.frequencies[block] <= full)
                && has_sources(self.function, &self.live, definition.inst, group.place)
        };
        let is_chosen = clones.all(is_worth);
        is_chosen.then_some((Chosen { reg, definition: definition.inst, groups }, freed))
    }

    /// How often the most frequent of the full points runs that are freed; `None` where there are none.
    fn most_frequent(&self, freed: &[Range<u32>], pressure: &Pressure, threshold: u32) -> Option<f64> {
        let full = freed.iter().filter(|stretch| pressure.most_in(stretch) >= threshold);
        let blocks = full.flat_map(|stretch| self.blocks(stretch));
        let of_full = blocks.filter(|(_, part)| pressure.most_in(part) >= threshold);
        of_full.map(|(block, _)| self.frequencies[block]).max_by(f64::total_cmp)
    }

    /// The blocks of a stretch, which is not empty, each with its part of it.
    fn blocks(&self, stretch: &Range<u32>) -> impl Iterator<Item = (Block, Range<u32>)> {
        let (start, end) = (stretch.start, stretch.end);
        let range = |block| self.function.block_range(block);
        // Blocks are laid out in their order.
        let from = self.function.block_of(Inst(start)).0;
        let blocks = (from..self.function.num_blocks() as u32).map(Block);
        blocks.take_while(move |&block| range(block).start.0 < end).map(move |block| {
            let insts = range(block);
            (block, insts.start.0.max(start)..insts.end.0.min(end))
        })
    }
}
