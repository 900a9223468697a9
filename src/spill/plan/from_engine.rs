//! The plan of an allocator: parts that have room in registers come back, loads are placed lazily, and the values with the most words
//! freed for each word moved get slots first.

use super::from_allocation::{Parts, draft};
use super::lazy::place_lazily;
use super::stays::{Spilled, come_back};
use super::{Home, Place, Room, Value, without};
use crate::analysis::pressure::{Pressure, instructions};
use crate::config::{KeepInLoops, Redefined};
use crate::spill::groups::Group;
use crate::spill::plan::draft::Draft;
use crate::spill::spiller::choice::most_often;
use crate::spill::spiller::places::{Around, Places};
use crate::spill::spiller::room;
use crate::spill::spiller::slots::Slots;
use crate::spill::spiller::{Aim, Candidate, Facts, Means, Score, Trial};

/// A plan, and what it leaves.
pub(in crate::spill) struct Plan<'f> {
    pub(in crate::spill) values: Vec<Value>,
    pub(in crate::spill) slots: Slots<'f>,
    /// The words that are then live at each instruction.
    pub(in crate::spill) pressure: Pressure,
    /// What the stores and loads cost, in loads of a word from shared memory, each as often as it runs.
    pub(in crate::spill) cost: f64,
    /// How many values stay in registers because memory has no room for them.
    pub(in crate::spill) cut: usize,
    /// How many parts had room in registers: the allocator did not colour them, though the words fit.
    pub(in crate::spill) came_back: usize,
}

/// The plan of what an allocator keeps in memory; cleaned up, loads are placed lazily, too.
pub(in crate::spill) fn plan<'f>(
    facts: &'f Facts<'_>,
    aim: &Aim,
    spilled: &[(&'f Candidate, Parts)],
    memory: Option<&'f room::Room>,
    is_cleaned: bool,
) -> Plan<'f> {
    let full = &facts.pressure;
    let mut pressure = full.clone();
    let mut all: Vec<Spilled<'f>> = Vec::new();
    for &(value, ref parts) in spilled {
        let draft = draft(facts, value, parts, (full, aim.words));
        if !draft.reloads.is_empty() && is_allowed(facts, aim, &draft) {
            free(facts, &draft, &mut pressure);
            all.push(Spilled { value, parts: parts.clone(), draft });
        }
    }
    let mut room = Room { pressure: &mut pressure, words: aim.words };
    let came_back = come_back(facts, &mut all, full, &mut room);
    for Spilled { draft, .. } in &mut all {
        if aim.hoists && is_cleaned {
            place_lazily(facts, draft, &mut room);
        }
        // Without stores that nobody needs, a register is live in fewer places, and in no other.
        let before = draft.residence(facts);
        draft.tidy(facts);
        let words = facts.function.class(draft.value.reg).words();
        without(&before, &draft.residence(facts)).iter().for_each(|stretch| room.pressure.take(stretch, words));
    }
    all.retain(|of| !of.draft.reloads.is_empty());
    let mut plan = Plan {
        values: Vec::new(),
        slots: Slots::new(facts.function, memory, aim.most_local),
        pressure,
        cost: 0.0,
        cut: 0,
        came_back,
    };
    plan.give_homes(facts, aim, all);
    plan
}

/// Whether options allow that a value moves so.
fn is_allowed(facts: &Facts<'_>, aim: &Aim, draft: &Draft<'_>) -> bool {
    let often = match aim.in_loops {
        KeepInLoops::Auto | KeepInLoops::On => f64::INFINITY,
        limit => most_often(limit, 1.0),
    };
    let may_be_redefined = aim.redefined != Redefined::Off || draft.value.only_definition().is_some();
    may_be_redefined && draft.most_often(&facts.frequencies) <= often
}

/// The stretches of a value's life in which no register has it.
fn freed(facts: &Facts<'_>, draft: &Draft<'_>) -> Vec<std::ops::Range<u32>> {
    let live: Vec<_> = facts.live.segments(draft.value.reg).iter().map(instructions).collect();
    without(&live, &draft.residence(facts))
}

fn free(facts: &Facts<'_>, draft: &Draft<'_>, pressure: &mut Pressure) {
    let words = facts.function.class(draft.value.reg).words();
    freed(facts, draft).iter().for_each(|stretch| pressure.take(stretch, words));
}

impl<'f> Plan<'f> {
    /// What it reaches, by all means that options allow.
    pub(in crate::spill) fn trial(&self, aim: &Aim) -> Trial {
        let in_loops = if aim.in_loops == KeepInLoops::Auto { KeepInLoops::On } else { aim.in_loops };
        let is_redefined = aim.redefined != Redefined::Off;
        let means = Means { is_redefined, in_loops };
        let words = self.pressure.peak().max(aim.words);
        Trial { means, score: Score { words, cost: self.cost, values: self.values.len() } }
    }

    /// Gives values their homes, those first that free the most words at full instructions for each word that they move. What finds
    /// no room stays in its register, once slots were shared anew.
    fn give_homes(&mut self, facts: &'f Facts<'_>, aim: &Aim, spilled: Vec<Spilled<'f>>) {
        let mut places = Places::new((facts.function, facts.classification), &facts.loops, aim.to);
        let full = facts.full_points(aim.words);
        let ratio = |draft: &Draft<'_>| {
            let words = f64::from(facts.function.class(draft.value.reg).words());
            let runs: f64 = freed(facts, draft).iter().map(|stretch| full.runs(stretch)).sum();
            words * runs / draft.traffic(facts).max(f64::MIN_POSITIVE)
        };
        let mut order: Vec<(f64, Spilled<'f>)> = spilled.into_iter().map(|of| (ratio(&of.draft), of)).collect();
        order.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.value.reg.cmp(&other.1.value.reg)));
        let mut homes: Vec<(Draft<'f>, Home, Vec<Group>)> = Vec::new();
        let mut has_packed = false;
        for (_, Spilled { draft, .. }) in order {
            let reg = draft.value.reg;
            let mut home = None;
            if homes.len() < aim.values {
                home = self.home(facts, &places, &draft);
                if (self.slots.is_full() || self.slots.is_deep()) && !has_packed {
                    has_packed = true;
                    if self.slots.pack(&facts.live) {
                        for (draft, home, _) in homes.iter_mut().filter(|(_, home, _)| home.slot.is_some()) {
                            home.slot = self.slots.of(draft.value.reg);
                        }
                        home = self.home(facts, &places, &draft);
                    }
                }
            }
            let Some((cost, home, groups)) = home else {
                let words = facts.function.class(reg).words();
                freed(facts, &draft).iter().for_each(|stretch| self.pressure.put(stretch, words));
                self.cut += 1;
                continue;
            };
            if let Some(slot) = home.slot {
                self.slots.put(reg, home.place, slot, &facts.live);
            }
            places.settle(draft.value, home);
            self.cost += cost;
            homes.push((draft, home, groups));
        }
        self.values = homes.into_iter().map(|(draft, home, groups)| draft.finish(facts, home, groups)).collect();
    }

    /// The cheapest home that has room, and what it costs.
    fn home(&self, facts: &Facts<'_>, places: &Places<'_>, draft: &Draft<'_>) -> Option<(f64, Home, Vec<Group>)> {
        let around = Around { frequencies: &facts.frequencies, live: &facts.live, slots: &self.slots };
        // A load of several words counts once, as everywhere among prices.
        let traffic = draft.traffic(facts) / f64::from(facts.function.class(draft.value.reg).words().max(1));
        let groups = draft.groups(facts);
        let (cost, home) = places.cheapest_of(draft.value, traffic, groups.as_deref(), &around)?;
        let groups = groups.filter(|_| home.place == Place::Recomputed).unwrap_or_default();
        Some((cost, home, groups))
    }
}
