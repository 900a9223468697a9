//! Selects the values to spill.
//!
//! The cost of a value is the words that it moves, divided by the high-pressure points that it frees. Values with the
//! lowest cost are taken first, which is Belady's choice, weighted by cost. A long live range over a loop that does not
//! read it frees the loop for one store and one load outside of it. Each choice takes into account the points that
//! earlier choices have freed.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::eligible::Candidate;
use super::facts::Facts;
use super::goal::{Permissions, PtxasSpill, SpillGoal};
use super::high_pressure::HighPressurePoints;
use super::location_costs::{CostContext, LocationCosts};
use super::reload_groups::reload_groups;
use super::sink::{Sink, stored};
use super::slots::Slots;
use crate::analysis::pressure::{Pressure, instructions};
use crate::analysis::{Occurrence, Segment};
use crate::config::KeepInLoops;
use crate::function::{Block, VReg};
use crate::spill::groups::{Group, freed, group};
use crate::spill::plan::SpillLocation;
use crate::target::machine::SHARED_COST;

/// With `KeepInLoops::Around`, stores and loads must be at least this many times rarer than the high-pressure points
/// that they free.
const AROUND: f64 = 4.0;

/// A value that ptxas spills is chosen if it costs at most this many times as much as ptxas's spills of it. A single
/// value may cost more than ptxas's spills, because each choice makes room for the others.
const MAX_COST_RATIO: f64 = 2.0;

/// A value that is chosen for spilling.
pub(in crate::spill) struct SelectedValue {
    /// Its number among the values that can be spilled.
    pub(in crate::spill) number: usize,
    /// The block at whose end it is stored; `None` if it is stored after its definitions.
    pub(in crate::spill) sink: Option<Block>,
    pub(in crate::spill) groups: Vec<Group>,
    pub(in crate::spill) location: SpillLocation,
}

/// A selection of values, and its effects.
pub(in crate::spill) struct Selection {
    /// The selected values, in the order in which they were chosen.
    pub(in crate::spill) selected: Vec<SelectedValue>,
    /// The words that are live at each instruction with the selection.
    pub(in crate::spill) pressure: Pressure,
    /// Cost of the values' locations, in loads from shared memory, weighted by frequency.
    pub(in crate::spill) cost: f64,
}

/// A way of spilling a value, and its effects.
struct SpillOption {
    /// Cost of its location for each word freed at a high-pressure point, both weighted by frequency.
    price: f64,
    /// Cost of its location.
    cost: f64,
    location: SpillLocation,
    sink: Option<Block>,
    groups: Vec<Group>,
    freed: Vec<Range<u32>>,
}

/// A value in the queue, with its price at the last evaluation. The cheapest value comes first; of equally cheap
/// values, the first. A price is not negative, so its bits have the same order.
type Queued = Reverse<(u64, usize)>;

fn queued(price: f64, number: usize) -> Queued {
    Reverse((price.to_bits(), number))
}

/// Selects values, the cheapest first, until at most `goal.max_live_words` words are live everywhere, the memory is
/// used up, or `goal.max_values` values are selected.
///
/// A choice makes other values more expensive, and seldom cheaper. Therefore, a value is evaluated again when it comes
/// to the front of the queue, and is chosen if it is still the cheapest. O((instructions + evaluations · reads) · log
/// instructions).
pub(in crate::spill) fn select_values(
    facts: &Facts<'_>,
    goal: &SpillGoal,
    permissions: Permissions,
    slots: &mut Slots<'_>,
) -> Selection {
    let mut selector = Selector::new(facts, goal, permissions);
    selector.select_values(slots);
    let is_short_of_slots = selector.is_short() && slots.is_full();
    if (is_short_of_slots || slots.is_deep()) && slots.pack(&facts.live) {
        for value in selector.selected.iter_mut().filter(|value| value.location.slot.is_some()) {
            value.location.slot = slots.of(facts.values[value.number].reg);
        }
        selector.select_values(slots);
    }
    Selection { selected: selector.selected, pressure: selector.pressure, cost: selector.cost }
}

/// A selection under construction.
struct Selector<'c> {
    facts: &'c Facts<'c>,
    goal: &'c SpillGoal,
    permissions: Permissions,
    location_costs: LocationCosts<'c>,
    /// By candidate: its sinks, computed on demand.
    sinks: Vec<OnceCell<Vec<Sink>>>,
    /// By candidate: whether it is selected.
    is_selected: Vec<bool>,
    selected: Vec<SelectedValue>,
    pressure: Pressure,
    high_pressure: HighPressurePoints,
    cost: f64,
}

impl<'c> Selector<'c> {
    fn new(facts: &'c Facts<'c>, goal: &'c SpillGoal, permissions: Permissions) -> Self {
        Self {
            facts,
            goal,
            permissions,
            location_costs: LocationCosts::new((facts.function, facts.classification), &facts.loops, goal.spill_to),
            sinks: facts.values.iter().map(|_| OnceCell::new()).collect(),
            is_selected: vec![false; facts.values.len()],
            selected: Vec::new(),
            pressure: facts.pressure.clone(),
            high_pressure: facts.high_pressure_points(goal.max_live_words),
            cost: 0.0,
        }
    }

    /// Whether too many words are live and more values may be chosen.
    fn is_short(&self) -> bool {
        (self.goal.ptxas_spills.is_some() || self.pressure.peak() > self.goal.max_live_words)
            && self.selected.len() < self.goal.max_values
    }

    fn select_values(&mut self, slots: &mut Slots<'_>) {
        let mut queue: BinaryHeap<Queued> = (0..self.facts.values.len())
            .filter(|&number| !self.is_selected[number] && self.may_spill(number))
            .filter_map(|number| Some(queued(self.option(number, slots)?.price, number)))
            .collect();
        while self.is_short() {
            let Some(Reverse((_, number))) = queue.pop() else { break };
            let Some(option) = self.option(number, slots) else { continue };
            let again = queued(option.price, number);
            if queue.peek().is_some_and(|next| again < *next) {
                queue.push(again);
                continue;
            }
            self.select(number, option, slots);
        }
    }

    fn may_spill(&self, number: usize) -> bool {
        let value = &self.facts.values[number];
        if let Some(ptxas_spills) = &self.goal.ptxas_spills {
            return ptxas_spills[value.reg].is_some();
        }
        let is_among = self.goal.candidates.as_ref().is_none_or(|candidates| candidates[value.reg]);
        is_among
            && value.is_held
            && (self.goal.sinks || self.permissions.is_redefined || value.only_definition().is_some())
    }

    /// Returns ptxas's own spills of a register, if the goal lists them.
    fn ptxas_spill(&self, reg: VReg) -> Option<&PtxasSpill> {
        self.goal.ptxas_spills.as_ref().and_then(|ptxas_spills| ptxas_spills[reg].as_ref())
    }

    fn select(&mut self, number: usize, option: SpillOption, slots: &mut Slots<'_>) {
        let value = &self.facts.values[number];
        let SpillOption { cost, location, sink, groups, freed, .. } = option;
        if let Some(slot) = location.slot {
            slots.put(value.reg, location.space, slot, &self.facts.live);
        }
        self.location_costs.assign(value, location);
        let size = self.facts.function.class(value.reg).words();
        for stretch in &freed {
            self.pressure.take(stretch, size);
            self.high_pressure.take(stretch, size);
        }
        self.cost += cost;
        self.is_selected[number] = true;
        self.selected.push(SelectedValue { number, sink, groups, location });
    }

    /// Returns the cheapest way of spilling a value in the current state: stored after its definitions, or further
    /// down; the first on a tie. `None` if spilling would free no high-pressure point, if there is no location for the
    /// value, or if its stores or loads would be more frequent than the options allow.
    fn option(&self, number: usize, slots: &Slots<'_>) -> Option<SpillOption> {
        let Facts { function, live, occurrences, .. } = self.facts;
        let value = &self.facts.values[number];
        let has_high_pressure = |of: &Segment| self.high_pressure.count(&instructions(of)) > 0;
        if self.goal.ptxas_spills.is_none() && !live.segments(value.reg).iter().any(has_high_pressure) {
            return None;
        }
        let threshold = self.high_pressure_threshold(value.reg);
        let group = |accesses: &[Occurrence]| group(function, accesses, &self.pressure, threshold);
        let may_be_stored = self.permissions.is_redefined || value.only_definition().is_some();
        let at_definitions = may_be_stored.then(|| {
            let groups = self.ptxas_spill(value.reg).and_then(|spill| reload_groups(self.facts, value, &spill.loads));
            let groups = groups.unwrap_or_else(|| group(occurrences.of(value.reg)));
            let definitions = value.definitions.iter().map(|definition| definition.inst);
            let freed = freed(value.reg, definitions, &groups, live);
            self.priced(value, None, groups, freed, slots)
        });
        let sinks = self.facts.sinks();
        let places = if self.goal.sinks { &self.sinks[number].get_or_init(|| sinks.of(value))[..] } else { &[] };
        let further_down = places.iter().map(|&Sink { block, ref reads }| {
            let groups = group(reads);
            let freed = sinks.behind(block, freed(value.reg, std::iter::empty(), &groups, live));
            self.priced(value, Some(block), groups, freed, slots)
        });
        let options = at_definitions.into_iter().chain(further_down).flatten();
        let compared = |option: &SpillOption| if self.goal.ptxas_spills.is_some() { option.cost } else { option.price };
        options.min_by(|one, other| compared(one).total_cmp(&compared(other)))
    }

    /// Returns the number of live words from which on an instruction is a high-pressure point for a value. This is one
    /// more than the goal allows. If ptxas spills the value anyway, it may be less: seven eighths of the most live
    /// words in the value's own live range.
    fn high_pressure_threshold(&self, reg: VReg) -> u32 {
        let most = || self.facts.live.segments(reg).iter().map(|of| self.pressure.most_in(&instructions(of))).max();
        let wanted = self.goal.max_live_words + 1;
        if self.goal.ptxas_spills.is_some() { wanted.min(most().unwrap_or(wanted) * 7 / 8).max(1) } else { wanted }
    }

    /// Returns the effects of spilling a value that is stored at a sink, or else after its definitions.
    fn priced(
        &self,
        value: &Candidate,
        sink: Option<Block>,
        groups: Vec<Group>,
        freed: Vec<Range<u32>>,
        slots: &Slots<'_>,
    ) -> Option<SpillOption> {
        let Facts { frequencies, live, .. } = self.facts;
        let count: u32 = freed.iter().map(|stretch| self.high_pressure.count(stretch)).sum();
        if count == 0 && self.goal.ptxas_spills.is_none() {
            return None;
        }
        let covered: f64 = freed.iter().map(|stretch| self.high_pressure.runs(stretch)).sum();
        let accesses = || {
            let loads = groups.iter().filter(|group| !group.has_definition).map(|group| group.block);
            loads.chain(stored(value, sink)).map(|block| frequencies[block])
        };
        let often = accesses().fold(0.0, f64::max);
        if often > most_often(self.permissions.in_loops, covered / f64::from(count.max(1))) {
            return None;
        }
        let context = CostContext { frequencies, live, slots };
        let (cost, location) = self.location_costs.cheapest(value, sink, &groups, &context)?;
        let price = match self.ptxas_spill(value.reg) {
            None => cost / covered,
            Some(PtxasSpill { moved_words, .. }) => {
                let moved: f64 = accesses().sum();
                let words = f64::from(self.facts.function.class(value.reg).words().max(1));
                let [ptxas_cost, costs] = [moved_words / words, SHARED_COST * moved];
                if costs > MAX_COST_RATIO * ptxas_cost {
                    return None;
                }
                // The values that save most for each word of a slot are chosen first.
                let spared = ptxas_cost - costs;
                if spared < 0.0 { 1.0 - spared } else { 1.0 / (1.0 + spared) }
            }
        };
        Some(SpillOption { price, cost, location, sink, groups, freed })
    }
}

/// Returns the highest allowed frequency of a store or load that frees high-pressure points of the average frequency
/// `freed`. Code that is more frequent than the function is in a loop.
pub(in crate::spill) fn most_often(in_loops: KeepInLoops, freed: f64) -> f64 {
    match in_loops {
        KeepInLoops::Auto | KeepInLoops::Off => 1.0,
        KeepInLoops::Around => f64::max(1.0, freed / AROUND),
        KeepInLoops::On => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::super::slot_memory::SlotMemory;
    use super::*;
    use crate::config::SpillTo;
    use crate::spill::plan::SpillSpace;
    use crate::spill::tests::function;
    use crate::target::Classification;
    use crate::target::machine::Launch;

    /// A value in local memory keeps its slot when slots in shared memory are packed anew, though the slots get other
    /// numbers.
    #[test]
    fn slots_in_local_memory_stay() {
        let body = "bb0: frequency 1.0 depth 0\n  %0 = LD_i32 0 :: read\n  %1 = LD_i64 1 :: read\n  %2 = LD_i32 2 :: read\n\
            %3 = LD_i32 3 :: read\n  ST_i32 %3, %3 :: write\n  ST_i32 %3, %3 :: write\n  ST_i32 %0, 4 :: write\n\
            ST_i64 %1, 5 :: write\n  ST_i32 %2, 6 :: write\n  Return :: terminator\n";
        let kernel = function("kernel maxntid 128\n", "B32 B64 B32 B32", body);
        let classification = Classification::by_name(kernel.opcodes());
        let facts = Facts::new((&kernel, &classification));
        let ptxas_spill = |moved_words: f64| Some(PtxasSpill { moved_words, loads: Vec::new() });
        let ptxas_spills = Some([ptxas_spill(90.0), ptxas_spill(60.0), ptxas_spill(30.0), None].into_iter().collect());
        let goal = SpillGoal { ptxas_spills, ..SpillGoal::plain(1, SpillTo::SHARED | SpillTo::LOCAL) };
        let permissions = Permissions { is_redefined: false, in_loops: KeepInLoops::Off };
        let room = SlotMemory { threads: 128, bytes: 1024, alignment: 4, stock_launch: Launch::new(32) };
        let mut slots = Slots::new(&kernel, Some(&room), u32::MAX);
        let selected = select_values(&facts, &goal, permissions, &mut slots).selected;
        let places: Vec<_> =
            selected.iter().map(|value| (facts.values[value.number].reg.0, value.location.space)).collect();
        assert_eq!(places, [(0, SpillSpace::Shared), (1, SpillSpace::Local), (2, SpillSpace::Shared)]);
        assert!(selected.iter().all(|value| value.location.slot == slots.of(facts.values[value.number].reg)));
    }
}
