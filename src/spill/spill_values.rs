//! Spills values, from the analyses to the edits.
//!
//! ptxas promotes spills to local memory back to registers unless it cannot see their addresses. It does not change
//! volatile stores to shared memory. Each thread has slots of its own, so threads do not wait for each other.

use super::edits::write;
use super::engine::EngineResult;
use super::neighbours::Neighbours;
use super::plan::from_engine::{self, Plan};
use super::plan::from_selection::planned;
use super::plan::{PlanError, PressureLimit, SpillSpace, SpilledValue, check_value};
use super::spiller::slot_memory::{SlotMemory, slot_memory};
use super::spiller::trials;
use super::spiller::{Bytes, Facts, Launch, Refusal, SpillGoal, Trial};
use crate::allocate::ProblemError;
use crate::analysis::pressure::Pressure;
use crate::config::SpillTo;
use crate::function::{EditList, Function, Inst, VReg};
use crate::index::EntityIndex;

/// A spilled value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpillSummary {
    /// Its register.
    pub reg: VReg,
    /// The first definition.
    pub definition: Inst,
    /// The memory or means by which it is spilled.
    pub space: SpillSpace,
    /// Number of stores to memory: one after each definition, or further down.
    pub stores: usize,
    /// Number of places at which it is reloaded or rematerialised.
    pub reloads: usize,
    /// Bytes of the value.
    pub bytes: u32,
}

/// Result of spilling.
#[derive(Debug)]
pub struct Outcome {
    /// The edits.
    pub edits: EditList,
    /// The spilled values, in the order in which they were chosen.
    pub spilled: Vec<SpillSummary>,
    /// The memory of the slots.
    pub bytes: Bytes,
    /// Bytes of L1 cache that an SM loses to the slots in shared memory.
    pub cache_given_up: u32,
    /// Cost of the spilled values' locations, in loads from shared memory, weighted by frequency.
    pub cost: f64,
    /// Most words that are live at one instruction, before and after spilling.
    pub peaks: [u32; 2],
    /// The first of the instructions with the most live words after spilling, if these exceed the goal.
    pub fullest: Option<Inst>,
    /// Most bytes of shared memory that slots may take, if more bytes are needed.
    pub too_few_bytes: Option<u32>,
    /// The trials, in order.
    pub trials: Vec<Trial>,
    /// Reason for which the function got no slots in shared memory, if other memories were also allowed.
    pub refusal: Option<Refusal>,
    /// Reason for which the allocator found no allocation, so that the cost model was used.
    pub unmet: Option<ProblemError>,
    /// Number of an allocator's spilled values that stay in registers because memory has no room for them.
    pub without_slot: usize,
    /// Number of parts that the allocator spilled, though their words fit into registers.
    pub unspilled_parts: usize,
}

/// Spills values to the memories `goal.spill_to` until at most `goal.max_live_words` words are live at each
/// instruction, or until no value or memory is left. A kernel with slots in shared memory gets a bound of its block
/// size if it has none. The function must have left SSA form.
///
/// # Errors
/// Too many words are live, only shared memory is allowed, and the function must not have slots there.
pub fn spill_values<'f>(
    facts: &'f Facts<'_>,
    goal: &SpillGoal,
    engine_result: &EngineResult<'f>,
    launch: &Launch<'_>,
) -> Result<Outcome, Refusal> {
    let function = facts.function;
    let before = facts.peak();
    let mut outcome = Outcome { peaks: [before; 2], ..Outcome::nothing(function) };
    if before <= goal.max_live_words && goal.ptxas_spills.is_none() {
        return Ok(outcome);
    }
    let memory = match slot_memory((function, facts.classification), launch) {
        _ if !goal.spill_to.contains(SpillTo::SHARED) => None,
        Ok(memory) => Some(memory),
        Err(refusal) if goal.spill_to == SpillTo::SHARED => return Err(refusal),
        Err(refusal) => {
            outcome.refusal = Some(refusal);
            None
        }
    };
    let mut plan = plan(facts, goal, engine_result, memory.as_ref(), &mut outcome);
    let reached = plan.pressure.peak();
    outcome.cost = plan.cost;
    outcome.peaks = [before, reached];
    outcome.fullest = (reached > goal.max_live_words).then(|| fullest(&plan.pressure));
    let is_short = reached > goal.max_live_words && plan.slots.is_full();
    outcome.too_few_bytes = memory.as_ref().filter(|_| is_short).map(|memory| memory.bytes);
    (outcome.without_slot, outcome.unspilled_parts) = (plan.without_slot, plan.unspilled_parts);
    debug_assert_eq!(proof(facts, &plan), Ok(()), "{function}");
    let neighbours = Neighbours {
        function,
        frequencies: &facts.frequencies,
        stores: plan.values.iter().map(|value| value.stores[0]).collect(),
        values: &plan.values,
        pressure: &mut plan.pressure,
        words: goal.max_live_words,
        bytes: goal.max_access_bytes,
    };
    let (rows, combined) = neighbours.find();
    outcome.bytes = write(facts, &plan.values, (&plan.slots, rows, &combined), memory.as_ref(), &mut outcome.edits);
    let given_up = |memory: &SlotMemory| launch.architecture.cache_given_up(&memory.stock_launch, outcome.bytes.shared);
    outcome.cache_given_up = memory.as_ref().map_or(0, given_up);
    let spilled = plan.values.iter().map(|value| SpillSummary {
        reg: value.reg,
        definition: value.definition,
        space: value.location.space,
        stores: value.stores.len(),
        reloads: value.num_reloads(),
        bytes: function.class(value.reg).spilled_bytes().unwrap_or(0),
    });
    outcome.spilled = spilled.collect();
    Ok(outcome)
}

impl Outcome {
    fn nothing(function: &Function) -> Self {
        Self {
            edits: EditList::new(function),
            spilled: Vec::new(),
            bytes: Bytes::default(),
            cache_given_up: 0,
            cost: 0.0,
            peaks: [0; 2],
            fullest: None,
            too_few_bytes: None,
            trials: Vec::new(),
            refusal: None,
            unmet: None,
            without_slot: 0,
            unspilled_parts: 0,
        }
    }
}

/// Returns the plan of an allocator, or of the cost model if there is no allocation. If the allocator's plan misses the
/// goal and trials are left, returns the better one of both plans.
fn plan<'p, 'f: 'p>(
    facts: &'f Facts<'_>,
    goal: &SpillGoal,
    engine_result: &EngineResult<'f>,
    memory: Option<&'p SlotMemory>,
    outcome: &mut Outcome,
) -> Plan<'p> {
    // No engine is needed if the goal lists ptxas's own spills.
    let spilled = if goal.ptxas_spills.is_some() { None } else { engine_result.spilled(facts, goal.max_live_words) };
    let spilled = match spilled {
        Some(Ok(spilled)) => spilled,
        other => {
            outcome.unmet = other.and_then(|engine_result| engine_result.as_ref().err().cloned());
            return by_price(facts, goal, memory, outcome);
        }
    };
    let plan = from_engine::plan(facts, goal, spilled, memory, engine_result.is_cleaned());
    let trial = plan.trial(goal);
    outcome.trials.push(trial);
    if trial.score.words <= goal.max_live_words || goal.max_trials <= 1 {
        return plan;
    }
    let listed = by_price(facts, &SpillGoal { max_trials: goal.max_trials - 1, ..goal.clone() }, memory, outcome);
    if listed.trial(goal).score.is_better_than(&trial.score) { listed } else { plan }
}

/// Returns the plan of the cost model.
fn by_price<'f>(
    facts: &'f Facts<'_>,
    goal: &SpillGoal,
    memory: Option<&'f SlotMemory>,
    outcome: &mut Outcome,
) -> Plan<'f> {
    let (selection, slots, trials) = trials::best(facts, goal, memory);
    outcome.trials.extend(trials);
    let (mut pressure, cost) = (selection.pressure, selection.cost);
    let mut words = PressureLimit { pressure: &mut pressure, words: goal.max_live_words };
    let values =
        selection.selected.into_iter().filter_map(|selected| planned(facts, selected, goal, &mut words)).collect();
    Plan { values, slots, pressure, cost, without_slot: 0, unspilled_parts: 0 }
}

/// Proves that each read of the plan finds its value.
fn proof(facts: &Facts<'_>, plan: &Plan<'_>) -> Result<(), PlanError> {
    let in_memory = plan.values.iter().filter(|value| value.location.slot.is_some());
    let check =
        |value: &SpilledValue| check_value((facts.function, &facts.cfg), facts.occurrences.of(value.reg), value);
    in_memory.map(check).find(Result::is_err).unwrap_or(Ok(()))
}

/// Returns the first instruction at which the most words are live.
fn fullest(pressure: &Pressure) -> Inst {
    let peak = pressure.peak();
    Inst::new(pressure.all().iter().position(|&words| words == peak).unwrap_or(0))
}
