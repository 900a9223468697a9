//! Which values are computed again.

use std::ops::Range;

use super::cost::{Costs, pays};
use super::sources::{Extensions, is_at_hand, sources, words_read};
use super::{INSTRUCTIONS_FOR_EACH, MOST_OF_A_VALUE, Wanted};
use crate::analysis::{Cfg, Dominators, LiveRanges, Loops, Occurrence, Occurrences, block_frequencies};
use crate::function::{Block, Function, Inst, Operand, Role, VReg};
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
    /// How many registers its clones read where these were not live.
    pub(super) extended: usize,
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

/// A value that is worth computing again, and what that changes.
struct Considered {
    value: Chosen,
    /// Where its register is not live any more.
    freed: Vec<Range<u32>>,
    extended: Vec<Extended>,
}

/// A register that clones read, where it is not live otherwise.
struct Extended {
    reg: VReg,
    words: u32,
    ranges: Vec<Range<u32>>,
}

/// Which registers can be computed again no more, because what was chosen has to do with them.
struct Settled {
    /// They go: nobody else may read them.
    gone: IndexVec<VReg, bool>,
    /// Clones read them where they are live now.
    held: IndexVec<VReg, bool>,
    /// Clones read them where they were not live.
    extensions: Extensions,
}

/// Chooses values that are live, without being read, over full points; the cheapest to compute first. What is freed counts
/// for the next. A value that needs too many clones, or more than are left of what the function may grow by, is passed over.
pub(super) fn choose(
    (function, classification): (&Function, &Classification),
    occurrences: &Occurrences,
    wanted: Wanted,
) -> Vec<Chosen> {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let loops = Loops::new(&cfg, &dominators);
    let frequencies = block_frequencies(function, &cfg, &dominators);
    let all: Vec<VReg> = function.regs().collect();
    let live = LiveRanges::new(function, &cfg, &dominators, occurrences, &all);
    let mut pressure = Pressure::new(function, &live);
    let facts = Facts { function, occurrences, dominators, loops, frequencies, live };
    let threshold = (pressure.peak() * wanted.eighths).div_ceil(8).max(wanted.least);
    let mut chosen = Vec::new();
    if pressure.peak() < threshold.max(wanted.needed) {
        return chosen;
    }
    let costs = Costs::new(function, classification);
    let mut candidates: Vec<(RematCost, VReg)> = all
        .into_iter()
        .filter(|&reg| !wanted.widened_alone || facts.is_widened(reg))
        .filter_map(|reg| Some((facts.cost(reg, &costs)?, reg)))
        .collect();
    candidates.sort_unstable();
    let none = || IndexVec::filled(false, function.num_regs());
    let mut settled = Settled { gone: none(), held: none(), extensions: Extensions::default() };
    let mut left = MOST_OF_A_VALUE.max(instructions(function) / INSTRUCTIONS_FOR_EACH);
    for (cost, reg) in candidates {
        let considered = facts.consider(reg, (cost, &costs), &pressure, threshold, &settled);
        let is_short = |considered: &Considered| considered.value.clones().count() <= left.min(MOST_OF_A_VALUE);
        if let Some(Considered { value, freed, extended }) = considered.filter(is_short) {
            left -= value.clones().count();
            freed.iter().for_each(|stretch| pressure.take(stretch, function.class(reg).words()));
            settled.gone[reg] = true;
            sources(function, value.definition).for_each(|source| settled.held[source] = true);
            for Extended { reg, words, ranges } in extended {
                ranges.iter().for_each(|range| pressure.put(range, words));
                settled.extensions.add(reg, ranges);
            }
            chosen.push(value);
        }
    }
    chosen
}

/// How many instructions a function has; what a variable is makes none.
fn instructions(function: &Function) -> usize {
    function.insts().filter(|&inst| function.role(inst) != Role::Debug).count()
}

/// Whether a point can be full at all: no more words are live than instructions write. O(operands).
pub(super) fn may_be_full(function: &Function, wanted: Wanted) -> bool {
    let defs = function.insts().flat_map(|inst| function.operands(inst)).filter_map(Operand::def);
    instructions(function) >= wanted.instructions
        && defs.map(|reg| function.class(reg).words()).sum::<u32>() >= wanted.needed
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

    /// Whether a register holds what was computed from a narrower one.
    fn is_widened(&self, reg: VReg) -> bool {
        let words = self.function.class(reg).words();
        let is_narrower = |source| (1..words).contains(&words_read(self.function, self.occurrences, source));
        let definition = self.occurrences.only_definition(reg);
        definition.is_some_and(|definition| sources(self.function, definition.inst).any(is_narrower))
    }

    fn operand(&self, read: &Occurrence) -> &Operand {
        &self.function.operands(read.inst)[read.operand as usize]
    }

    /// A value with its groups, and what they free, where it is worth computing again.
    fn consider(
        &self,
        reg: VReg,
        (cost, costs): (RematCost, &Costs<'_>),
        pressure: &Pressure,
        threshold: u32,
        settled: &Settled,
    ) -> Option<Considered> {
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
            pays(cost, depth) && (!goes_deeper || self.frequencies[block] <= full)
        };
        if !clones.all(is_worth) {
            return None;
        }
        let mut value = Chosen { reg, definition: definition.inst, groups, extended: 0 };
        let extended = self.extended(&value, &freed, costs, settled)?;
        value.extended = extended.len();
        Some(Considered { value, freed, extended })
    }

    /// Where registers that the clones of a value read have to be kept for them. `None` if their values are gone there, or if
    /// they take as many words as the value does. A constant and a parameter of the kernel take none: the hardware reads
    /// them where they are.
    ///
    /// A register with one definition, ahead of all its reads, holds at a clone what it held at the definition of the
    /// value: a path that went around the latter to the clone would lead from the entry around it, too.
    fn extended(
        &self,
        value: &Chosen,
        freed: &[Range<u32>],
        costs: &Costs<'_>,
        settled: &Settled,
    ) -> Option<Vec<Extended>> {
        let near = value.groups.iter().filter(|group| group.has_definition).flat_map(|group| &group.kept);
        let stretches: Vec<Range<u32>> = freed.iter().chain(near).cloned().collect();
        let mut extended = Vec::new();
        let mut missing: Vec<VReg> = sources(self.function, value.definition)
            .filter(|&source| {
                value.clones().any(|group| !is_at_hand(&self.live, source, value.definition, group.place))
            })
            .collect();
        missing.sort_unstable();
        missing.dedup();
        for source in missing {
            let (definition, reads) = definition_and_reads(self.occurrences, source)?;
            if !reads.iter().all(|read| dominates(&self.dominators, &definition, read)) {
                return None;
            }
            let is_at_no_cost =
                sources(self.function, definition.inst).next().is_none() && costs.of(definition.inst).is_some();
            if !is_at_no_cost {
                let words = words_read(self.function, self.occurrences, source);
                let ranges = settled.extensions.missing(&self.live, source, &stretches);
                extended.push(Extended { reg: source, words, ranges });
            }
        }
        let words: u32 = extended.iter().map(|extended| extended.words).sum();
        (words < self.function.class(value.reg).words()).then_some(extended)
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
