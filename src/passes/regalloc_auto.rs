//! `regalloc=auto`: a kernel that is expected to spill gets the plan with the least traffic, if that traffic is clearly
//! less than ptxas's own. The kernel gets the hardware's register limit if ptxas would give up most registers for
//! occupancy that is not requested.
//!
//! Each engine makes a plan. ptxas spills the words that do not fit with a plan. Their cost is estimated as their share
//! of all words that do not fit in registers, multiplied by the greedy allocator's cost of spilling all of these words
//! to local memory.

use crate::config::{Chooser, SpillTo};
use crate::error::Error;
use crate::forecast::{Case, Forecast, forecast};
use crate::function::{Edit, EditList, Function};
use crate::spill::spiller::{Facts, Launch, Refusal, SpillGoal};
use crate::spill::{Engine, EngineResult, Outcome, spill_values};
use crate::target::machine::Architecture;

use super::RunContext;

/// The engines in the order of the attempts; the first wins a tie.
const ENGINES: [Chooser; 3] = [Chooser::Greedy, Chooser::Fatpoint, Chooser::Price];

/// A plan must spill at least one in this many of the words that do not fit. With smaller plans, ptxas spills as much
/// as before, or more. This was measured on kernels that spill: with a plan for one sixth of the words, one kernel
/// spilled an eighth more.
const LEAST_PART: u32 = 4;

/// A plan must leave less traffic than this share of the traffic without a plan.
const LESS: f64 = 0.9;

/// A plan may move at most this many times the bytes that ptxas is expected to spill, both counted statically. The
/// reason is that the forecast of spills is correct within a factor of three.
const MOST_MOVED: u64 = 3;

/// Returns the forecast of a function alone; `None` if the function is not expected to spill.
pub(super) fn spilling(
    function: &Function,
    context: &RunContext,
    architecture: &'static Architecture,
) -> Result<Option<Forecast>, Error> {
    let case = Case { architecture, max_registers: None };
    let forecasts = forecast([(function, &*context.classification)], &case)?;
    Ok(forecasts.into_iter().next().filter(|forecast| forecast.spill_bytes() > 0))
}

/// The attempts, and the best plan.
#[derive(Debug)]
pub(super) struct BestPlan {
    /// The best plan that is good enough; if there is none, the plan with the least traffic.
    pub(super) outcome: Outcome,
    /// Whether it is good enough.
    pub(super) is_enough: bool,
    /// The results of all attempts, as text.
    pub(super) told: String,
}

/// Returns the plan with the least traffic for a kernel that is expected to spill.
///
/// # Errors
/// The reason for which the kernel must have no slots.
pub(super) fn best(
    facts: &Facts<'_>,
    goal: &SpillGoal,
    engine: &Engine,
    launch: &Launch<'_>,
    forecast: &Forecast,
) -> Result<BestPlan, Refusal> {
    let answer = |chooser: Chooser| EngineResult::of(Engine { chooser, preset: engine.preset.clone() });
    // The allocator's result does not depend on the memories that slots may lie in.
    let by_greedy = answer(Chooser::Greedy);
    let local = SpillGoal { spill_to: SpillTo::LOCAL, ..goal.clone() };
    let without = spill_values(facts, &local, &by_greedy, launch)?.cost;
    let attempt = |chooser: Chooser| {
        let outcome = match chooser {
            Chooser::Greedy => spill_values(facts, goal, &by_greedy, launch)?,
            other => spill_values(facts, goal, &answer(other), launch)?,
        };
        let [before, after] = outcome.peaks.map(|peak| f64::from(peak.saturating_sub(goal.max_live_words)));
        let left = outcome.cost + without * after / before.max(1.0);
        let told = format!("{}: {left:.1} of {without:.1} loads, {after} of {before} words left\n", chooser.word());
        let is_enough =
            left < LESS * without && is_much(&outcome, goal.max_live_words) && is_in_proportion(&outcome, forecast);
        Ok((left, BestPlan { outcome, is_enough, told }))
    };
    let (first, others) = match engine.chooser {
        Chooser::Price => (ENGINES[0], &ENGINES[1..]),
        chooser => (chooser, &[][..]),
    };
    let (mut least, mut best) = attempt(first)?;
    for &chooser in others {
        let (left, next) = attempt(chooser)?;
        let told = best.told.clone() + &next.told;
        if (next.is_enough, -left) > (best.is_enough, -least) {
            (least, best) = (left, next);
        }
        best.told = told;
    }
    Ok(best)
}

/// Adds a register limit to edits.
pub(super) fn limited(mut edits: EditList, limit: u32) -> EditList {
    edits.push(Edit::SetAttribute { key: "nvvm.maxnreg".into(), value: limit.to_string() });
    edits.finish();
    edits
}

/// Whether a plan spills enough of the words that do not fit.
fn is_much(outcome: &Outcome, words: u32) -> bool {
    let [before, after] = outcome.peaks;
    LEAST_PART * (before - after) >= before.saturating_sub(words)
}

/// Whether a plan moves at most [this many](MOST_MOVED) times the bytes that ptxas is expected to spill.
fn is_in_proportion(outcome: &Outcome, forecast: &Forecast) -> bool {
    let moved = outcome
        .spilled
        .iter()
        .map(|spilled| u64::from(spilled.bytes) * (spilled.stores + spilled.reloads) as u64)
        .sum::<u64>();
    moved <= MOST_MOVED * u64::from(forecast.spill_bytes())
}
