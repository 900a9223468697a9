//! Which values are moved out of the way.
//!
//! The values that move the fewest words for each full instruction that they free: Belady's choice, weighed by what it
//! costs. A long range that a loop does not read is free of the loop for one store and one load outside of it. What a
//! choice frees counts for the next.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::aim::{Aim, Means, Paid};
use super::eligible::Candidate;
use super::facts::Facts;
use super::full::FullPoints;
use super::places::{Around, Places};
use super::served::served;
use super::sink::{Sink, stored};
use super::slots::Slots;
use crate::analysis::pressure::{Pressure, instructions};
use crate::analysis::{Occurrence, Segment};
use crate::config::KeepInLoops;
use crate::function::{Block, VReg};
use crate::spill::groups::{Group, freed, group};
use crate::spill::plan::Home;
use crate::target::machine::SHARED_COST;

/// Traffic is around what it frees registers for where it runs at most so many times more rarely.
const AROUND: f64 = 4.0;

/// A value that ptxas spills goes if that costs at most so many times what ptxas pays. All that goes makes room for the rest,
/// so that a single value may cost more.
const MOST_FOR_PAID: f64 = 2.0;

/// A value that is moved out of the way.
pub(in crate::spill) struct Chosen {
    /// Its number among those that can be moved.
    pub(in crate::spill) number: usize,
    /// The block at whose end it is stored, if not behind its definitions.
    pub(in crate::spill) sink: Option<Block>,
    pub(in crate::spill) groups: Vec<Group>,
    pub(in crate::spill) home: Home,
}

/// A choice of values, and what it leaves.
pub(in crate::spill) struct Choice {
    /// In the order in which they were chosen.
    pub(in crate::spill) chosen: Vec<Chosen>,
    /// The words that are then live at each instruction.
    pub(in crate::spill) pressure: Pressure,
    /// What the places of the values cost, in loads from shared memory, each as often as it runs.
    pub(in crate::spill) cost: f64,
}

/// What keeping a value would do.
struct Offer {
    /// The cost of its place for each full instruction that is freed of a word, both as often as they run.
    price: f64,
    /// That cost alone.
    cost: f64,
    home: Home,
    sink: Option<Block>,
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
/// are enough.
///
/// What is chosen makes others dearer, seldom cheaper: a value is looked at again when it comes to the front of the
/// queue, and chosen if it is still there. O((instructions + looks · reads) · log instructions).
pub(in crate::spill) fn choose(facts: &Facts<'_>, aim: &Aim, means: Means, slots: &mut Slots<'_>) -> Choice {
    let mut chooser = Chooser::new(facts, aim, means);
    chooser.choose(slots);
    let is_short_of_slots = chooser.is_short() && slots.is_full();
    if (is_short_of_slots || slots.is_deep()) && slots.pack(&facts.live) {
        for value in chooser.chosen.iter_mut().filter(|value| value.home.slot.is_some()) {
            value.home.slot = slots.of(facts.values[value.number].reg);
        }
        chooser.choose(slots);
    }
    Choice { chosen: chooser.chosen, pressure: chooser.pressure, cost: chooser.cost }
}

/// A choice in the making.
struct Chooser<'c> {
    facts: &'c Facts<'c>,
    aim: &'c Aim,
    means: Means,
    places: Places<'c>,
    /// By candidate: its sinks, once they are asked for.
    sinks: Vec<OnceCell<Vec<Sink>>>,
    /// By candidate: it is chosen.
    is_chosen: Vec<bool>,
    chosen: Vec<Chosen>,
    pressure: Pressure,
    full: FullPoints,
    cost: f64,
}

impl<'c> Chooser<'c> {
    fn new(facts: &'c Facts<'c>, aim: &'c Aim, means: Means) -> Self {
        Self {
            facts,
            aim,
            means,
            places: Places::new((facts.function, facts.classification), &facts.loops, aim.to),
            sinks: facts.values.iter().map(|_| OnceCell::new()).collect(),
            is_chosen: vec![false; facts.values.len()],
            chosen: Vec::new(),
            pressure: facts.pressure.clone(),
            full: facts.full_points(aim.words),
            cost: 0.0,
        }
    }

    /// Whether more is live than wanted, and more values may be chosen.
    fn is_short(&self) -> bool {
        (self.aim.paid.is_some() || self.pressure.peak() > self.aim.words) && self.chosen.len() < self.aim.values
    }

    fn choose(&mut self, slots: &mut Slots<'_>) {
        let mut queue: BinaryHeap<Queued> = (0..self.facts.values.len())
            .filter(|&number| !self.is_chosen[number] && self.may_go(number))
            .filter_map(|number| Some(queued(self.offer(number, slots)?.price, number)))
            .collect();
        while self.is_short() {
            let Some(Reverse((_, number))) = queue.pop() else { break };
            let Some(offer) = self.offer(number, slots) else { continue };
            let again = queued(offer.price, number);
            if queue.peek().is_some_and(|next| again < *next) {
                queue.push(again);
                continue;
            }
            self.take(number, offer, slots);
        }
    }

    fn may_go(&self, number: usize) -> bool {
        let value = &self.facts.values[number];
        if let Some(paid) = &self.aim.paid {
            return paid[value.reg].is_some();
        }
        let is_among = self.aim.among.as_ref().is_none_or(|among| among[value.reg]);
        is_among && value.is_held && (self.aim.sinks || self.means.is_redefined || value.only_definition().is_some())
    }

    /// What ptxas pays for its own spills of a register, if that is the reason to choose it.
    fn paid(&self, reg: VReg) -> Option<&Paid> {
        self.aim.paid.as_ref().and_then(|paid| paid[reg].as_ref())
    }

    fn take(&mut self, number: usize, offer: Offer, slots: &mut Slots<'_>) {
        let value = &self.facts.values[number];
        let Offer { cost, home, sink, groups, freed, .. } = offer;
        if let Some(slot) = home.slot {
            slots.put(value.reg, home.place, slot, &self.facts.live);
        }
        self.places.settle(value, home);
        let size = self.facts.function.class(value.reg).words();
        for stretch in &freed {
            self.pressure.take(stretch, size);
            self.full.take(stretch, size);
        }
        self.cost += cost;
        self.is_chosen[number] = true;
        self.chosen.push(Chosen { number, sink, groups, home });
    }

    /// The cheapest way of moving a value now: stored behind its definitions or further down; of equals the first. `None` if
    /// it would free no full instruction, if there is no place for it, or if it would move where nothing may.
    fn offer(&self, number: usize, slots: &Slots<'_>) -> Option<Offer> {
        let Facts { function, live, occurrences, .. } = self.facts;
        let value = &self.facts.values[number];
        let has_full = |of: &Segment| self.full.count(&instructions(of)) > 0;
        if self.aim.paid.is_none() && !live.segments(value.reg).iter().any(has_full) {
            return None;
        }
        let full = self.full_from(value.reg);
        let group = |accesses: &[Occurrence]| group(function, accesses, &self.pressure, full);
        let may_be_stored = self.means.is_redefined || value.only_definition().is_some();
        let at_definitions = may_be_stored.then(|| {
            let served = self.paid(value.reg).and_then(|paid| served(self.facts, value, &paid.loads));
            let groups = served.unwrap_or_else(|| group(occurrences.of(value.reg)));
            let definitions = value.definitions.iter().map(|definition| definition.inst);
            let freed = freed(value.reg, definitions, &groups, live);
            self.priced(value, None, groups, freed, slots)
        });
        let sinks = self.facts.sinks();
        let places = if self.aim.sinks { &self.sinks[number].get_or_init(|| sinks.of(value))[..] } else { &[] };
        let further_down = places.iter().map(|&Sink { block, ref reads }| {
            let groups = group(reads);
            let freed = sinks.behind(block, freed(value.reg, std::iter::empty(), &groups, live));
            self.priced(value, Some(block), groups, freed, slots)
        });
        let offers = at_definitions.into_iter().chain(further_down).flatten();
        let compared = |offer: &Offer| if self.aim.paid.is_some() { offer.cost } else { offer.price };
        offers.min_by(|one, other| compared(one).total_cmp(&compared(other)))
    }

    /// With how many words an instruction is full for a value: more than wanted, or if the value is wanted away anyway, most of
    /// what is live anywhere in its own range.
    fn full_from(&self, reg: VReg) -> u32 {
        let most = || self.facts.live.segments(reg).iter().map(|of| self.pressure.most_in(&instructions(of))).max();
        let wanted = self.aim.words + 1;
        if self.aim.paid.is_some() { wanted.min(most().unwrap_or(wanted) * 7 / 8).max(1) } else { wanted }
    }

    /// What moving a value would do that is stored at a sink, or else behind its definitions.
    fn priced(
        &self,
        value: &Candidate,
        sink: Option<Block>,
        groups: Vec<Group>,
        freed: Vec<Range<u32>>,
        slots: &Slots<'_>,
    ) -> Option<Offer> {
        let Facts { frequencies, live, .. } = self.facts;
        let count: u32 = freed.iter().map(|stretch| self.full.count(stretch)).sum();
        if count == 0 && self.aim.paid.is_none() {
            return None;
        }
        let covered: f64 = freed.iter().map(|stretch| self.full.runs(stretch)).sum();
        let accesses = || {
            let loads = groups.iter().filter(|group| !group.has_definition).map(|group| group.block);
            loads.chain(stored(value, sink)).map(|block| frequencies[block])
        };
        let often = accesses().fold(0.0, f64::max);
        if often > most_often(self.means.in_loops, covered / f64::from(count.max(1))) {
            return None;
        }
        let around = Around { frequencies, live, slots };
        let (cost, home) = self.places.cheapest(value, sink, &groups, &around)?;
        let price = match self.paid(value.reg) {
            None => cost / covered,
            Some(Paid { moves, .. }) => {
                let moved: f64 = accesses().sum();
                let words = f64::from(self.facts.function.class(value.reg).words().max(1));
                let [paid, costs] = [moves / words, SHARED_COST * moved];
                if costs > MOST_FOR_PAID * paid {
                    return None;
                }
                // What spares most for each word of a slot gets room first.
                let spared = paid - costs;
                if spared < 0.0 { 1.0 - spared } else { 1.0 / (1.0 + spared) }
            }
        };
        Some(Offer { price, cost, home, sink, groups, freed })
    }
}

/// How often a store or load may run, for full instructions that run so often on average. What runs more often than the
/// function does so in a loop.
pub(in crate::spill) fn most_often(in_loops: KeepInLoops, freed: f64) -> f64 {
    match in_loops {
        KeepInLoops::Auto | KeepInLoops::Off => 1.0,
        KeepInLoops::Around => f64::max(1.0, freed / AROUND),
        KeepInLoops::On => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::super::room::Room;
    use super::*;
    use crate::config::SpillTo;
    use crate::spill::plan::Place;
    use crate::spill::tests::function;
    use crate::target::Classification;
    use crate::target::machine::Launch;

    /// A value in local memory has its slot still when slots in shared memory are shared anew, though the numbers of slots change.
    #[test]
    fn slots_in_local_memory_stay() {
        let body = "bb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n  %1 = LD_i64 1 :: read\n  %2 = LD_i32 2 :: read\n\
            %3 = LD_i32 3 :: read\n  ST_i32 %3, %3 :: write\n  ST_i32 %3, %3 :: write\n  ST_i32 %0, 4 :: write\n\
            ST_i64 %1, 5 :: write\n  ST_i32 %2, 6 :: write\n  Return :: terminator\n";
        let kernel = function("kernel maxntid 128\n", "B32 B64 B32 B32", body);
        let classification = Classification::by_name(kernel.opcodes());
        let facts = Facts::new((&kernel, &classification));
        let paid = |moves: f64| Some(Paid { moves, loads: Vec::new() });
        let paid = Some([paid(90.0), paid(60.0), paid(30.0), None].into_iter().collect());
        let aim = Aim { paid, ..Aim::plain(1, SpillTo::SHARED | SpillTo::LOCAL) };
        let means = Means { is_redefined: false, in_loops: KeepInLoops::Off };
        let room = Room { threads: 128, bytes: 1024, alignment: 4, as_it_is: Launch::new(32) };
        let mut slots = Slots::new(&kernel, Some(&room), u32::MAX);
        let chosen = choose(&facts, &aim, means, &mut slots).chosen;
        let places: Vec<_> = chosen.iter().map(|value| (facts.values[value.number].reg.0, value.home.place)).collect();
        assert_eq!(places, [(0, Place::Shared), (1, Place::Local), (2, Place::Shared)]);
        assert!(chosen.iter().all(|value| value.home.slot == slots.of(facts.values[value.number].reg)));
    }
}
