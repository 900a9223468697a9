//! Which values are moved out of the way.
//!
//! The values that move the fewest words for each full instruction that they free: Belady's choice, weighed by what it
//! costs. A long range that a loop does not read is free of the loop for one store and one load outside of it. What a
//! choice frees counts for the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::eligible::{Candidate, eligible};
use super::full::FullPoints;
use super::places::{Around, Home, Places};
use super::slots::Slots;
use crate::analysis::{
    Cfg, Dominators, LiveRanges, Loops, Occurrence, Occurrences, Segment, UniformityInfo, block_frequencies,
};
use crate::config::{KeepInLoops, SpillTo};
use crate::function::{Block, Function, Role, VReg};
use crate::index::IndexVec;
use crate::spill::groups::{Group, freed, group};
use crate::spill::pressure::{Pressure, instructions};
use crate::target::Classification;

/// Traffic is around what it frees registers for where it runs at most so many times more rarely.
const AROUND: f64 = 4.0;

/// What values are chosen for.
#[derive(Clone, Debug)]
pub struct Aim {
    /// At most so many words are to be live at each instruction.
    pub words: u32,
    /// At most so many values are chosen.
    pub values: usize,
    /// Whether values may be stored and loaded in loops.
    pub in_loops: KeepInLoops,
    /// The values that may be chosen; `None`: all.
    pub among: Option<IndexVec<VReg, bool>>,
    /// Where they may go.
    pub to: SpillTo,
    /// Whether one load may serve what several were chosen for.
    pub hoists: bool,
    /// The most bytes of a store or load: 4, or 8 or 16 for several values at once.
    pub access_bytes: u32,
}

/// A value that is moved out of the way.
pub(super) struct Chosen {
    pub(super) reg: VReg,
    pub(super) definition: Occurrence,
    pub(super) groups: Vec<Group>,
    pub(super) home: Home,
}

impl Chosen {
    /// The groups of reads for which the value comes back.
    pub(super) fn reloads(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.has_definition)
    }
}

/// What is known of a function, and the pressure that what was chosen leaves.
pub(super) struct Facts<'a> {
    pub(super) function: &'a Function,
    pub(super) occurrences: Occurrences,
    pub(super) frequencies: IndexVec<Block, f64>,
    live: LiveRanges,
    values: Vec<Candidate>,
    places: Places<'a>,
    pub(super) pressure: Pressure,
}

impl<'a> Facts<'a> {
    /// Words that a whole warp shares count for uniform registers, and constants for none.
    pub(super) fn new((function, classification): (&'a Function, &'a Classification), to: SpillTo) -> Self {
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let frequencies = block_frequencies(function, &cfg, &dominators);
        let occurrences = Occurrences::new(function, &|_| true);
        let all: Vec<VReg> = function.regs().collect();
        let live = LiveRanges::new(function, &cfg, &dominators, &occurrences, &all);
        let is_kernel = function.kernel().is_some();
        let uniformity =
            UniformityInfo::new((function, classification), &cfg, &dominators, &occurrences, &live, is_kernel);
        let is_constant = |reg: VReg| {
            let definition = occurrences.only_definition(reg);
            definition.is_some_and(|definition| function.role(definition.inst) == Role::Constant)
        };
        let counts: IndexVec<VReg, bool> =
            function.regs().map(|reg| !uniformity.is_uniform(reg) && !is_constant(reg)).collect();
        let mut values = eligible(function, &occurrences, &dominators);
        values.retain(|value| counts[value.reg]);
        let pressure = Pressure::of(function, &live, |reg| counts[reg]);
        let places = Places::new((function, classification), Loops::new(&cfg, &dominators), to);
        Self { function, occurrences, frequencies, live, values, places, pressure }
    }

    pub(super) fn peak(&self) -> u32 {
        self.pressure.peak()
    }
}

/// What keeping a value would do.
struct Offer {
    /// The cost of its place for each full instruction that is freed of a word, both as often as they run.
    price: f64,
    home: Home,
    groups: Vec<Group>,
    freed: Vec<Range<u32>>,
}

/// A value in the queue, with the price at which it was last looked at: the cheapest first, of equals the first. A price
/// is not negative, and has the order of its bits.
type Queued = Reverse<(u64, usize)>;

fn queued(price: f64, number: usize) -> Queued {
    Reverse((price.to_bits(), number))
}

/// Chooses values, the cheapest first, until at most `aim.words` words are live everywhere, the memory is used up, or there
/// are enough. Returns how many words are then live at most, too.
///
/// What is chosen makes others dearer, seldom cheaper: a value is looked at again when it comes to the front of the
/// queue, and chosen if it is still there. O((instructions + looks · reads) · log instructions).
pub(super) fn choose(facts: &mut Facts<'_>, aim: &Aim, slots: &mut Slots<'_>) -> (Vec<Chosen>, u32) {
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut full = facts.full_points(aim.words);
    let is_among = |reg: VReg| aim.among.as_ref().is_none_or(|among| among[reg]);
    let mut queue: BinaryHeap<Queued> = (0..facts.values.len())
        .filter(|&number| is_among(facts.values[number].reg))
        .filter_map(|number| Some(queued(facts.offer(number, aim, &full, slots)?.price, number)))
        .collect();
    while facts.peak() > aim.words && chosen.len() < aim.values {
        let Some(Reverse((_, number))) = queue.pop() else { break };
        let Some(Offer { price, home, groups, freed }) = facts.offer(number, aim, &full, slots) else { continue };
        let again = queued(price, number);
        if queue.peek().is_some_and(|next| again < *next) {
            queue.push(again);
            continue;
        }
        let value = &facts.values[number];
        if let Some(slot) = home.slot {
            slots.put(value.reg, home.place, slot, &facts.live);
        }
        facts.places.settle(value, home);
        let size = facts.function.class(value.reg).words();
        for stretch in &freed {
            facts.pressure.take(stretch, size);
            full.take(stretch, size);
        }
        chosen.push(Chosen { reg: value.reg, definition: value.definition, groups, home });
    }
    (chosen, facts.peak())
}

impl Facts<'_> {
    /// The instructions that have more words live than there is room for.
    fn full_points(&self, words: u32) -> FullPoints {
        let mut frequencies = vec![0.0; self.function.num_insts()];
        for block in self.function.blocks() {
            self.function.block_insts(block).for_each(|inst| frequencies[inst.0 as usize] = self.frequencies[block]);
        }
        let live = self.pressure.all();
        FullPoints::new(frequencies.into_iter().enumerate().map(|(at, runs)| (live[at], runs)), words)
    }

    /// What moving a value would do now; `None` if it would free no full instruction, if there is no place for it, or if
    /// it would move where nothing may.
    fn offer(&self, number: usize, aim: &Aim, full: &FullPoints, slots: &Slots<'_>) -> Option<Offer> {
        let value = &self.values[number];
        let has_full = |of: &Segment| full.count(&instructions(of)) > 0;
        if !self.live.segments(value.reg).iter().any(has_full) {
            return None;
        }
        let groups = group(self.function, &value.definition, &value.reads, &self.pressure, aim.words + 1);
        let freed = freed(value.reg, value.definition.inst, &groups, &self.live);
        let count: u32 = freed.iter().map(|stretch| full.count(stretch)).sum();
        if count == 0 {
            return None;
        }
        let covered: f64 = freed.iter().map(|stretch| full.runs(stretch)).sum();
        let loads = groups.iter().filter(|group| !group.has_definition);
        let loads = loads.map(|group| self.frequencies[group.reads[0].block]);
        let often = loads.fold(self.frequencies[value.definition.block], f64::max);
        if often > most_often(aim.in_loops, covered / f64::from(count)) {
            return None;
        }
        let around = Around { frequencies: &self.frequencies, live: &self.live, slots };
        let (cost, home) = self.places.cheapest(value, &groups, &around)?;
        Some(Offer { price: cost / covered, home, groups, freed })
    }
}

/// How often a store or load may run, for full instructions that run so often on average. What runs more often than the
/// function does so in a loop.
fn most_often(in_loops: KeepInLoops, freed: f64) -> f64 {
    match in_loops {
        KeepInLoops::Off => 1.0,
        KeepInLoops::Around => f64::max(1.0, freed / AROUND),
        KeepInLoops::On => f64::INFINITY,
    }
}
