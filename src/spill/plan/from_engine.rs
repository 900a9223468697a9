//! The plan of an allocator's result. Parts that fit into registers after all are not spilled, and loads are placed
//! lazily. Slots are assigned first to the values that free the most words for each word moved.

use super::from_allocation::{Parts, draft};
use super::lazy::place_lazily;
use super::unspill::{SpilledParts, unspill};
use super::{PressureLimit, SpillLocation, SpillSpace, SpilledValue, without};
use crate::analysis::pressure::{Pressure, instructions};
use crate::config::{KeepInLoops, Redefined};
use crate::spill::groups::Group;
use crate::spill::plan::draft::Draft;
use crate::spill::spiller::location_costs::{CostContext, LocationCosts};
use crate::spill::spiller::selection::most_often;
use crate::spill::spiller::slot_memory;
use crate::spill::spiller::slots::Slots;
use crate::spill::spiller::{Candidate, Facts, Permissions, Score, SpillGoal, Trial};

/// A plan, and its effects.
pub(in crate::spill) struct Plan<'f> {
    pub(in crate::spill) values: Vec<SpilledValue>,
    pub(in crate::spill) slots: Slots<'f>,
    /// The words that are live at each instruction with the plan.
    pub(in crate::spill) pressure: Pressure,
    /// Cost of the stores and loads, in loads of a word from shared memory, weighted by frequency.
    pub(in crate::spill) cost: f64,
    /// Number of values that stay in registers because memory has no room for them.
    pub(in crate::spill) without_slot: usize,
    /// Number of parts that returned to registers: the allocator spilled them, though their words fit.
    pub(in crate::spill) unspilled_parts: usize,
}

/// Plans the values that an allocator spills. If `is_cleaned`, loads are placed lazily.
pub(in crate::spill) fn plan<'f>(
    facts: &'f Facts<'_>,
    goal: &SpillGoal,
    spilled: &[(&'f Candidate, Parts)],
    memory: Option<&'f slot_memory::SlotMemory>,
    is_cleaned: bool,
) -> Plan<'f> {
    let full = &facts.pressure;
    let mut pressure = full.clone();
    let mut all: Vec<SpilledParts<'f>> = Vec::new();
    for &(value, ref parts) in spilled {
        let draft = draft(facts, value, parts, (full, goal.max_live_words));
        if !draft.reloads.is_empty() && is_allowed(facts, goal, &draft) {
            free(facts, &draft, &mut pressure);
            all.push(SpilledParts { value, parts: parts.clone(), draft });
        }
    }
    let mut pressure_limit = PressureLimit { pressure: &mut pressure, words: goal.max_live_words };
    let unspilled_parts = unspill(facts, &mut all, full, &mut pressure_limit);
    for SpilledParts { draft, .. } in &mut all {
        if goal.hoists && is_cleaned {
            place_lazily(facts, draft, &mut pressure_limit);
        }
        // Without the unnecessary stores, a register is live in fewer places, and not in any new place.
        let before = draft.residence(facts);
        draft.tidy(facts);
        let words = facts.function.class(draft.value.reg).words();
        without(&before, &draft.residence(facts))
            .iter()
            .for_each(|stretch| pressure_limit.pressure.take(stretch, words));
    }
    all.retain(|of| !of.draft.reloads.is_empty());
    let mut plan = Plan {
        values: Vec::new(),
        slots: Slots::new(facts.function, memory, goal.max_local_bytes),
        pressure,
        cost: 0.0,
        without_slot: 0,
        unspilled_parts,
    };
    plan.assign_locations(facts, goal, all);
    plan
}

/// Whether the options allow a draft.
fn is_allowed(facts: &Facts<'_>, goal: &SpillGoal, draft: &Draft<'_>) -> bool {
    let often = match goal.in_loops {
        KeepInLoops::Auto | KeepInLoops::On => f64::INFINITY,
        limit => most_often(limit, 1.0),
    };
    let may_be_redefined = goal.redefined != Redefined::Off || draft.value.only_definition().is_some();
    may_be_redefined && draft.most_often(&facts.frequencies) <= often
}

/// Returns the stretches of a value's live range in which no register has the value.
fn freed(facts: &Facts<'_>, draft: &Draft<'_>) -> Vec<std::ops::Range<u32>> {
    let live: Vec<_> = facts.live.segments(draft.value.reg).iter().map(instructions).collect();
    without(&live, &draft.residence(facts))
}

fn free(facts: &Facts<'_>, draft: &Draft<'_>, pressure: &mut Pressure) {
    let words = facts.function.class(draft.value.reg).words();
    freed(facts, draft).iter().for_each(|stretch| pressure.take(stretch, words));
}

impl<'f> Plan<'f> {
    /// Returns the plan's result as that of a trial with all means that the options allow.
    pub(in crate::spill) fn trial(&self, goal: &SpillGoal) -> Trial {
        let in_loops = if goal.in_loops == KeepInLoops::Auto { KeepInLoops::On } else { goal.in_loops };
        let is_redefined = goal.redefined != Redefined::Off;
        let permissions = Permissions { is_redefined, in_loops };
        let words = self.pressure.peak().max(goal.max_live_words);
        Trial { permissions, score: Score { words, cost: self.cost, values: self.values.len() } }
    }

    /// Assigns locations, first to the values that free the most words at high-pressure points for each word moved. If
    /// there is no room for a value, slots are packed anew, once for the plan. If there is still no room, the value
    /// stays in its register.
    fn assign_locations(&mut self, facts: &'f Facts<'_>, goal: &SpillGoal, spilled: Vec<SpilledParts<'f>>) {
        let mut costs = LocationCosts::new((facts.function, facts.classification), &facts.loops, goal.spill_to);
        let full = facts.high_pressure_points(goal.max_live_words);
        let ratio = |draft: &Draft<'_>| {
            let words = f64::from(facts.function.class(draft.value.reg).words());
            let runs: f64 = freed(facts, draft).iter().map(|stretch| full.runs(stretch)).sum();
            words * runs / draft.traffic(facts).max(f64::MIN_POSITIVE)
        };
        let mut order: Vec<(f64, SpilledParts<'f>)> = spilled.into_iter().map(|of| (ratio(&of.draft), of)).collect();
        order.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.value.reg.cmp(&other.1.value.reg)));
        let mut locations: Vec<(Draft<'f>, SpillLocation, Vec<Group>)> = Vec::new();
        let mut has_packed = false;
        for (_, SpilledParts { draft, .. }) in order {
            let reg = draft.value.reg;
            let mut location = None;
            if locations.len() < goal.max_values {
                location = self.location(facts, &costs, &draft);
                if (self.slots.is_full() || self.slots.is_deep()) && !has_packed {
                    has_packed = true;
                    if self.slots.pack(&facts.live) {
                        for (draft, location, _) in
                            locations.iter_mut().filter(|(_, location, _)| location.slot.is_some())
                        {
                            location.slot = self.slots.of(draft.value.reg);
                        }
                        location = self.location(facts, &costs, &draft);
                    }
                }
            }
            let Some((cost, location, groups)) = location else {
                let words = facts.function.class(reg).words();
                freed(facts, &draft).iter().for_each(|stretch| self.pressure.put(stretch, words));
                self.without_slot += 1;
                continue;
            };
            if let Some(slot) = location.slot {
                self.slots.put(reg, location.space, slot, &facts.live);
            }
            costs.assign(draft.value, location);
            self.cost += cost;
            locations.push((draft, location, groups));
        }
        self.values =
            locations.into_iter().map(|(draft, location, groups)| draft.finish(facts, location, groups)).collect();
    }

    /// Returns the cheapest location with room, and its cost.
    fn location(
        &self,
        facts: &Facts<'_>,
        costs: &LocationCosts<'_>,
        draft: &Draft<'_>,
    ) -> Option<(f64, SpillLocation, Vec<Group>)> {
        let context = CostContext { frequencies: &facts.frequencies, live: &facts.live, slots: &self.slots };
        // A load of several words counts as one load, as in all costs of locations.
        let traffic = draft.traffic(facts) / f64::from(facts.function.class(draft.value.reg).words().max(1));
        let groups = draft.groups(facts);
        let (cost, location) = costs.cheapest_for_traffic(draft.value, traffic, groups.as_deref(), &context)?;
        let groups = groups.filter(|_| location.space == SpillSpace::Rematerialised).unwrap_or_default();
        Some((cost, location, groups))
    }
}
