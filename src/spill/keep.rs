//! Values moved out of the way, from the facts to the edits.
//!
//! ptxas promotes spills to local memory back to registers unless it cannot see their address; what is stored by volatile stores
//! in shared memory it leaves alone. Each thread has slots of its own, so no thread waits for another.

use super::edits::write;
use super::engine::Answer;
use super::neighbours::Neighbours;
use super::plan::from_choice::planned;
use super::plan::from_engine::{self, Plan};
use super::plan::{Place, PlanError, Room, Value, check_value};
use super::spiller::room::{Room as MemoryRoom, room};
use super::spiller::trials;
use super::spiller::{Aim, Bytes, Facts, Launch, Refusal, Trial};
use crate::allocate::ProblemError;
use crate::analysis::pressure::Pressure;
use crate::config::SpillTo;
use crate::function::{EditList, Function, Inst, VReg};
use crate::index::EntityIndex;

/// A value that was moved out of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its register.
    pub reg: VReg,
    /// Its first definition.
    pub definition: Inst,
    /// Where it is meanwhile.
    pub place: Place,
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
    pub kept: Vec<Kept>,
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
    pub cut: usize,
    /// How many parts an allocator had no colour for, though their words fit.
    pub came_back: usize,
}

/// Moves values to some of the places `aim.to` until at most `aim.words` words are live at each instruction, as far as there
/// are values and memory for it. A kernel that does not say how large its blocks are says so with slots in shared memory. The
/// function must have left SSA form.
///
/// # Errors
/// Says why a function with more live words must have no slots in shared memory, if no other place is allowed.
pub fn keep_values<'f>(
    facts: &'f Facts<'_>,
    aim: &Aim,
    answer: &Answer<'f>,
    launch: &Launch<'_>,
) -> Result<Outcome, Refusal> {
    let function = facts.function;
    let before = facts.peak();
    let mut outcome = Outcome { peaks: [before; 2], ..Outcome::nothing(function) };
    if before <= aim.words && aim.paid.is_none() {
        return Ok(outcome);
    }
    let room = match room((function, facts.classification), launch) {
        _ if !aim.to.contains(SpillTo::SHARED) => None,
        Ok(room) => Some(room),
        Err(refusal) if aim.to == SpillTo::SHARED => return Err(refusal),
        Err(refusal) => {
            outcome.refusal = Some(refusal);
            None
        }
    };
    let mut plan = plan(facts, aim, answer, room.as_ref(), &mut outcome);
    let reached = plan.pressure.peak();
    outcome.cost = plan.cost;
    outcome.peaks = [before, reached];
    outcome.fullest = (reached > aim.words).then(|| fullest(&plan.pressure));
    let is_short = reached > aim.words && plan.slots.is_full();
    outcome.too_few_bytes = room.as_ref().filter(|_| is_short).map(|room| room.bytes);
    (outcome.cut, outcome.came_back) = (plan.cut, plan.came_back);
    debug_assert_eq!(proof(facts, &plan), Ok(()), "{function}");
    let neighbours = Neighbours {
        function,
        frequencies: &facts.frequencies,
        stores: plan.values.iter().map(|value| value.stores[0]).collect(),
        values: &plan.values,
        pressure: &mut plan.pressure,
        words: aim.words,
        bytes: aim.access_bytes,
    };
    let (rows, joints) = neighbours.find();
    outcome.bytes = write(facts, &plan.values, (&plan.slots, rows, &joints), room.as_ref(), &mut outcome.edits);
    let given_up = |room: &MemoryRoom| launch.architecture.cache_given_up(&room.as_it_is, outcome.bytes.shared);
    outcome.cache_given_up = room.as_ref().map_or(0, given_up);
    let kept = plan.values.iter().map(|value| Kept {
        reg: value.reg,
        definition: value.definition,
        place: value.home.place,
        stores: value.stores.len(),
        reloads: value.num_reloads(),
        bytes: function.class(value.reg).spilled_bytes().unwrap_or(0),
    });
    outcome.kept = kept.collect();
    Ok(outcome)
}

impl Outcome {
    fn nothing(function: &Function) -> Self {
        Self {
            edits: EditList::new(function),
            kept: Vec::new(),
            bytes: Bytes::default(),
            cache_given_up: 0,
            cost: 0.0,
            peaks: [0; 2],
            fullest: None,
            too_few_bytes: None,
            trials: Vec::new(),
            refusal: None,
            unmet: None,
            cut: 0,
            came_back: 0,
        }
    }
}

/// The plan of an allocator, or else of the price list; the better of both where the allocator's is not enough and there are trials.
fn plan<'p, 'f: 'p>(
    facts: &'f Facts<'_>,
    aim: &Aim,
    answer: &Answer<'f>,
    room: Option<&'p MemoryRoom>,
    outcome: &mut Outcome,
) -> Plan<'p> {
    // Where it is said which values go, nobody is asked.
    let spilled = if aim.paid.is_some() { None } else { answer.spilled(facts, aim.words) };
    let spilled = match spilled {
        Some(Ok(spilled)) => spilled,
        other => {
            outcome.unmet = other.and_then(|answer| answer.as_ref().err().cloned());
            return by_price(facts, aim, room, outcome);
        }
    };
    let plan = from_engine::plan(facts, aim, spilled, room, answer.is_cleaned());
    let trial = plan.trial(aim);
    outcome.trials.push(trial);
    if trial.score.words <= aim.words || aim.trials <= 1 {
        return plan;
    }
    let listed = by_price(facts, &Aim { trials: aim.trials - 1, ..aim.clone() }, room, outcome);
    if listed.trial(aim).score.is_better_than(&trial.score) { listed } else { plan }
}

/// The plan of the price list.
fn by_price<'f>(facts: &'f Facts<'_>, aim: &Aim, room: Option<&'f MemoryRoom>, outcome: &mut Outcome) -> Plan<'f> {
    let (choice, slots, trials) = trials::best(facts, aim, room);
    outcome.trials.extend(trials);
    let (mut pressure, cost) = (choice.pressure, choice.cost);
    let mut words = Room { pressure: &mut pressure, words: aim.words };
    let values = choice.chosen.into_iter().filter_map(|chosen| planned(facts, chosen, aim, &mut words)).collect();
    Plan { values, slots, pressure, cost, cut: 0, came_back: 0 }
}

/// Whether each read of the plan finds its value.
fn proof(facts: &Facts<'_>, plan: &Plan<'_>) -> Result<(), PlanError> {
    let in_memory = plan.values.iter().filter(|value| value.home.slot.is_some());
    let check = |value: &Value| check_value((facts.function, &facts.cfg), facts.occurrences.of(value.reg), value);
    in_memory.map(check).find(Result::is_err).unwrap_or(Ok(()))
}

/// The instruction at which the most words are live: the first of several.
fn fullest(pressure: &Pressure) -> Inst {
    let peak = pressure.peak();
    Inst::new(pressure.all().iter().position(|&words| words == peak).unwrap_or(0))
}
