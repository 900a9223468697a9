//! The driver of one class of registers: trials without spilling, then spill guidance and retries.
//!
//! A trial without spilling can only do where no more is live at once than there are registers. The trials differ in
//! the order in which nodes are coloured, and in whether copies are merged. Where none does, guidance chooses what to
//! spill, everything is coloured anew with short live ranges in its stead, and what then finds no place is spilled too.
//! A retry aims at one register less, so that what shape and order waste is spilled by cost instead of by chance; there
//! is none where guidance alone was enough, because aiming lower could only cost more.

use std::time::Instant;

use crate::allocate::allocation::{Allocation, Effort};
use crate::allocate::problem::{File, LiveRange, Problem};
use crate::allocate::rounds::Rounds;
use crate::index::IndexVec;

use super::coalesce::Merges;
use super::context::Context;
use super::guidance::guide;
use super::knobs::Knobs;
use super::lists::Order;
use super::record::{Record, Score};
use super::trial::{Outcome, Trial};

/// The trials that there are: whether copies are merged, and the order.
const TRIALS: [(bool, Order); 4] =
    [(true, Order::First), (true, Order::Retry), (false, Order::Retry), (false, Order::First)];

/// Allocates a problem all of whose live ranges are in one file.
pub(super) fn allocate_file(problem: &Problem, file: File, knobs: &Knobs, effort: &mut Effort) -> Allocation {
    let mut record = Record::new();
    // Each trial says what it has merged: the last one counts, and the files together.
    let merged = std::mem::take(&mut effort.merged_copies);
    let (rejected, cost) = (std::mem::take(&mut effort.rejected_copies), std::mem::take(&mut effort.merged_cost));
    without_spilling(problem, file, knobs, effort, &mut record);
    if !record.score().is_some_and(|score| score.fits()) {
        with_spilling(problem, file, knobs, effort, &mut record);
    }
    effort.merged_copies += merged;
    effort.rejected_copies += rejected;
    effort.merged_cost += cost;
    record.into_best().unwrap_or_else(|| Allocation::blank(problem))
}

/// Trials without spilling, until one does with no more registers than are live at once.
fn without_spilling(
    problem: &Problem,
    file: File,
    knobs: &Knobs,
    effort: &mut Effort,
    record: &mut Record<Allocation>,
) {
    let start = Instant::now();
    let mut prepared = (true, Context::new(problem, file, knobs, true));
    effort.lap("build", start.elapsed());
    for &(merges, order) in TRIALS.iter().take(knobs.num_non_spill_trials as usize) {
        if merges != prepared.0 {
            let start = Instant::now();
            prepared = (merges, Context::new(problem, file, knobs, merges));
            effort.lap("build", start.elapsed());
        }
        let context = &prepared.1;
        if context.budget.is_some_and(|budget| context.peak > budget) {
            return;
        }
        let start = Instant::now();
        let outcome = Trial::run(context, order);
        effort.rounds += 1;
        enter_merges(effort, context);
        effort.evictions += outcome.moved;
        let score = score(context, &outcome, 0.0);
        // None can do with fewer.
        let has_done = score.fits() && score.registers <= context.target;
        if score.fits() {
            let units = units(context, &outcome);
            record.add(score, Rounds::new(problem).allocation(&units, Effort::default()));
        }
        effort.lap("assign", start.elapsed());
        if has_done {
            return;
        }
    }
}

/// Attempts with spilling, each aiming at a register less than the one before.
fn with_spilling(problem: &Problem, file: File, knobs: &Knobs, effort: &mut Effort, record: &mut Record<Allocation>) {
    let budget = problem.files()[file].budget.unwrap_or(u32::MAX);
    for attempt in 0..knobs.num_non_spill_trials.min(budget) {
        let Attempt { score, allocation, was_guided } = spill_to(problem, file, knobs, budget - attempt, effort);
        record.add(score, allocation);
        if was_guided {
            return;
        }
    }
}

/// What an attempt with spilling came to.
struct Attempt {
    score: Score,
    allocation: Allocation,
    /// Guidance chose all that is spilled.
    was_guided: bool,
}

/// Spills until everything fits, aiming at `target` units. Every round spills at least one live range more.
fn spill_to(problem: &Problem, file: File, knobs: &Knobs, target: u32, effort: &mut Effort) -> Attempt {
    let mut rounds = Rounds::new(problem);
    let (mut cost, mut was_guided) = (0.0, true);
    loop {
        let start = Instant::now();
        let context = Context::new(rounds.problem(), file, knobs, true);
        effort.lap("build", start.elapsed());
        let start = Instant::now();
        let mut spilled = guide(&context, target);
        effort.lap("guidance", start.elapsed());
        if spilled.is_empty() {
            let start = Instant::now();
            let mut outcome = Trial::run(&context, Order::Retry);
            if outcome.beyond > 0 {
                let other = Trial::run(&context, Order::Fallback);
                outcome = if other.beyond < outcome.beyond { other } else { outcome };
            }
            effort.lap("assign", start.elapsed());
            effort.rounds += 1;
            effort.evictions += outcome.moved;
            if outcome.spilled.is_empty() {
                enter_merges(effort, &context);
                let score = score(&context, &outcome, cost);
                let allocation = rounds.allocation(&units(&context, &outcome), Effort::default());
                return Attempt { score, allocation, was_guided };
            }
            was_guided = false;
            spilled = outcome.spilled;
        }
        cost += spilled.iter().map(|&node| f64::from(context.nodes.cost(node))).sum::<f64>();
        let members: Vec<LiveRange> = spilled.iter().flat_map(|node| context.nodes.members(node)).copied().collect();
        rounds.spill(&members);
    }
}

fn enter_merges(effort: &mut Effort, context: &Context<'_>) {
    let Merges { merged, rejected, cost } = context.merges;
    (effort.merged_copies, effort.rejected_copies, effort.merged_cost) = (merged, rejected, cost);
}

fn score(context: &Context<'_>, outcome: &Outcome, cost: f64) -> Score {
    let more: f64 = outcome.spilled.iter().map(|&node| f64::from(context.nodes.cost(node))).sum();
    // What is spilled for nothing is spilled.
    let more = if outcome.spilled.is_empty() { 0.0 } else { more.max(f64::MIN_POSITIVE) };
    let Outcome { beyond, registers, .. } = *outcome;
    Score { beyond, registers, pressure: context.peak, cost: cost + more }
}

/// The place of every live range: that of its node.
fn units(context: &Context<'_>, outcome: &Outcome) -> IndexVec<LiveRange, u32> {
    let unit = |range| outcome.units[context.nodes.of(range)].unwrap_or(0);
    context.problem.ranges().ids().map(unit).collect()
}
