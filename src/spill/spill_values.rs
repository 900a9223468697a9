//! Values moved out of the way, from the facts to the edits.
//!
//! ptxas promotes spills to local memory back to registers unless it cannot see their address; what is stored by volatile stores
//! in shared memory it leaves alone. Each thread has slots of its own, so no thread waits for another.

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

/// A value that was moved out of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpillSummary {
    /// Its register.
    pub reg: VReg,
    /// Its first definition.
    pub definition: Inst,
    /// Where it is meanwhile.
    pub space: SpillSpace,
    /// In how many places it is stored, if it goes to memory: behind each definition, or further down.
    pub stores: usize,
    /// In how many places it comes back.
    pub reloads: usize,
    /// Its bytes.
    pub bytes: u32,
}

/// What was done.
#[derive(Debug)]
pub struct Outcome {
    /// The changes.
    pub edits: EditList,
    /// The values that were moved out of the way, in the order in which they were chosen.
    pub spilled: Vec<SpillSummary>,
    /// The memory that they take.
    pub bytes: Bytes,
    /// The bytes of L1 cache that an SM gives up for the slots in shared memory.
    pub cache_given_up: u32,
    /// What the places of the values cost, in loads from shared memory, each as often as it runs.
    pub cost: f64,
    /// The most words that are live at one instruction, before and after.
    pub peaks: [u32; 2],
    /// The first of the instructions at which the most words are live afterwards, if these are more than wanted.
    pub fullest: Option<Inst>,
    /// The bytes of shared memory that slots may take, if more are wanted.
    pub too_few_bytes: Option<u32>,
    /// The choices that were tried, in order.
    pub trials: Vec<Trial>,
    /// Why the function got no slots in shared memory, though other places than that were allowed, too.
    pub refusal: Option<Refusal>,
    /// Why the allocator found no allocation, so that the price list chose.
    pub unmet: Option<ProblemError>,
    /// How many values of an allocator's stay in registers because memory has no room for them.
    pub without_slot: usize,
    /// How many parts an allocator had no colour for, though their words fit.
    pub unspilled_parts: usize,
}

/// Moves values to some of the places `goal.spill_to` until at most `goal.max_live_words` words are live at each instruction, as far as there
/// are values and memory for it. A kernel that does not say how large its blocks are says so with slots in shared memory. The
/// function must have left SSA form.
///
/// # Errors
/// Says why a function with more live words must have no slots in shared memory, if no other place is allowed.
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

/// The plan of an allocator, or else of the price list; the better of both where the allocator's is not enough and there are trials.
fn plan<'p, 'f: 'p>(
    facts: &'f Facts<'_>,
    goal: &SpillGoal,
    engine_result: &EngineResult<'f>,
    memory: Option<&'p SlotMemory>,
    outcome: &mut Outcome,
) -> Plan<'p> {
    // Where it is said which values go, nobody is asked.
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

/// The plan of the price list.
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

/// Whether each read of the plan finds its value.
fn proof(facts: &Facts<'_>, plan: &Plan<'_>) -> Result<(), PlanError> {
    let in_memory = plan.values.iter().filter(|value| value.location.slot.is_some());
    let check =
        |value: &SpilledValue| check_value((facts.function, &facts.cfg), facts.occurrences.of(value.reg), value);
    in_memory.map(check).find(Result::is_err).unwrap_or(Ok(()))
}

/// The instruction at which the most words are live: the first of several.
fn fullest(pressure: &Pressure) -> Inst {
    let peak = pressure.peak();
    Inst::new(pressure.all().iter().position(|&words| words == peak).unwrap_or(0))
}
