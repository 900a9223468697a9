//! Which values are moved out of the way.
//!
//! The values that move the fewest words for each full instruction that they free: Belady's choice, weighed by what it
//! costs. A long range that a loop does not read is free of the loop for one store and one load outside of it. What a
//! choice frees counts for the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::eligible::{Candidate, eligible};
use super::places::{Around, Home, Places};
use super::slots::Slots;
use crate::analysis::{Cfg, Dominators, LiveRanges, Loops, Occurrence, Occurrences, UniformityInfo, block_frequencies};
use crate::config::SpillTo;
use crate::function::{Block, Function, Role, VReg};
use crate::index::IndexVec;
use crate::spill::groups::{Group, freed, group};
use crate::spill::pressure::{Pressure, instructions};
use crate::target::Classification;

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
    function: &'a Function,
    pub(super) occurrences: Occurrences,
    frequencies: IndexVec<Block, f64>,
    live: LiveRanges,
    values: Vec<Candidate>,
    places: Places<'a>,
    pressure: Pressure,
    in_loops: bool,
}

impl<'a> Facts<'a> {
    /// Words that a whole warp shares count for uniform registers, and constants for none.
    pub(super) fn new(
        (function, classification): (&'a Function, &'a Classification),
        to: SpillTo,
        in_loops: bool,
    ) -> Self {
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
        Self { function, occurrences, frequencies, live, values, places, pressure, in_loops }
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

/// Chooses values, the cheapest first, until at most `words` words are live everywhere, the memory is used up or nothing
/// is left to choose. Returns how many words are then live at most, too.
///
/// What is chosen makes others dearer, seldom cheaper: a value is looked at again when it comes to the front of the
/// queue, and chosen if it is still there. O(values chosen · instructions + looks · reads · log instructions).
pub(super) fn choose(facts: &mut Facts<'_>, words: u32, slots: &mut Slots<'_>) -> (Vec<Chosen>, u32) {
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut full = FullPoints::new(facts, words);
    let mut queue: BinaryHeap<Queued> = (0..facts.values.len())
        .filter_map(|number| Some(queued(facts.offer(number, words, &full, slots)?.price, number)))
        .collect();
    while facts.peak() > words {
        let Some(Reverse((_, number))) = queue.pop() else { break };
        let Some(Offer { price, home, groups, freed }) = facts.offer(number, words, &full, slots) else { continue };
        let again = queued(price, number);
        if queue.peek().is_some_and(|next| again < *next) {
            queue.push(again);
            continue;
        }
        let value = &facts.values[number];
        if let Some(slot) = home.slot {
            slots.put(value.reg, home.place, slot);
        }
        facts.places.settle(value, home);
        let size = facts.function.class(value.reg).words();
        freed.iter().for_each(|stretch| facts.pressure.take(stretch, size));
        chosen.push(Chosen { reg: value.reg, definition: value.definition, groups, home });
        full = FullPoints::new(facts, words);
    }
    (chosen, facts.peak())
}

impl Facts<'_> {
    /// What moving a value would do now; `None` if it would free no full instruction, or if there is no place for it.
    fn offer(&self, number: usize, words: u32, full: &FullPoints, slots: &Slots<'_>) -> Option<Offer> {
        let value = &self.values[number];
        let whole: f64 = self.live.segments(value.reg).iter().map(|of| full.within(&instructions(of))).sum();
        if whole == 0.0 {
            return None;
        }
        let groups = group(self.function, &value.definition, &value.reads, &self.pressure, words + 1);
        let freed = freed(value.reg, value.definition.inst, &groups, &self.live);
        let covered: f64 = freed.iter().map(|stretch| full.within(stretch)).sum();
        if covered == 0.0 {
            return None;
        }
        let loads = groups.iter().filter(|group| !group.has_definition);
        let mut loads = loads.map(|group| self.frequencies[group.reads[0].block]);
        let store = self.frequencies[value.definition.block];
        // What runs more often than the function does so in a loop.
        if !self.in_loops && (store > 1.0 || loads.any(|frequency| frequency > 1.0)) {
            return None;
        }
        let around = Around { frequencies: &self.frequencies, live: &self.live, slots };
        let (cost, home) = self.places.cheapest(value, &groups, &around)?;
        Some(Offer { price: cost / covered, home, groups, freed })
    }
}

/// How often instructions of a stretch run that have more words live than there is room for: sums up to each instruction.
struct FullPoints(Vec<f64>);

impl FullPoints {
    fn new(facts: &Facts<'_>, words: u32) -> Self {
        let mut sums = vec![0.0; facts.function.num_insts() + 1];
        let live = facts.pressure.all();
        for block in facts.function.blocks() {
            for inst in facts.function.block_insts(block) {
                let at = inst.0 as usize;
                let is_full = live[at] > words;
                sums[at + 1] = sums[at] + if is_full { facts.frequencies[block] } else { 0.0 };
            }
        }
        Self(sums)
    }

    fn within(&self, stretch: &Range<u32>) -> f64 {
        self.0[stretch.end as usize] - self.0[stretch.start as usize]
    }
}
