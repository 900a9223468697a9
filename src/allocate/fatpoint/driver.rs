//! Driver of one register class: trials without spilling, then spill guidance and retries.
//!
//! A trial without spilling can succeed only if no more units are live at once than the register limit allows. The
//! trials differ in the order of the nodes, and in whether copies are merged.
//!
//! If no trial succeeds, guidance chooses live ranges to spill. All nodes are then coloured again, with short live
//! ranges in place of the spilled ones. Nodes that find no place are spilled, too. Shape and order waste some units, so
//! that nodes are spilled by chance. A retry therefore aims at fewer units, so that guidance frees these units by cost.
//! No retry follows if only guidance has spilled nodes, because a lower target could only cost more.

use std::time::Instant;

use crate::allocate::allocation::{Allocation, AllocationStatistics};
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

/// All trials: whether copies are merged, and the order.
const TRIALS: [(bool, Order); 4] =
    [(true, Order::First), (true, Order::Retry), (false, Order::Retry), (false, Order::First)];

/// Allocates a problem whose live ranges are all in one file.
pub(super) fn allocate_file(
    problem: &Problem,
    file: File,
    knobs: &Knobs,
    statistics: &mut AllocationStatistics,
) -> Allocation {
    let mut driver = Driver { problem, file, knobs, statistics, record: Record::new(), merges: Merges::default() };
    driver.without_spilling();
    if !driver.record.score().is_some_and(|score| score.fits()) {
        driver.with_spilling();
    }
    let Driver { statistics, record, merges, .. } = driver;
    statistics.merged_copies += merges.merged;
    statistics.rejected_copies += merges.rejected;
    statistics.merged_cost += merges.cost;
    record.into_best().unwrap_or_else(|| Allocation::blank(problem))
}

/// Trials of one file.
struct Driver<'a> {
    problem: &'a Problem,
    file: File,
    knobs: &'a Knobs,
    statistics: &'a mut AllocationStatistics,
    record: Record<Allocation>,
    /// Merges of the last trial.
    merges: Merges,
}

/// Result of one attempt with spilling.
struct Attempt {
    score: Score,
    allocation: Allocation,
    /// Whether all spilled nodes were chosen by guidance.
    was_guided: bool,
}

impl<'a> Driver<'a> {
    /// Runs trials without spilling, until one needs no more registers than are live at once.
    fn without_spilling(&mut self) {
        let mut prepared = (true, self.prepare(self.problem, true));
        for &(merges, order) in TRIALS.iter().take(self.knobs.num_non_spill_trials as usize) {
            if merges != prepared.0 {
                prepared = (merges, self.prepare(self.problem, merges));
            }
            let context = &prepared.1;
            if context.register_limit.is_some_and(|register_limit| context.peak > register_limit) {
                return;
            }
            let start = Instant::now();
            let outcome = Trial::run(context, order);
            self.statistics.rounds += 1;
            self.statistics.evictions += outcome.moved;
            self.merges = context.merges;
            let score = score(context, &outcome, 0.0);
            // No trial can need fewer registers.
            let has_done = score.fits() && score.registers <= context.target;
            if score.fits() {
                let units = units(context, &outcome);
                self.record.add(score, Rounds::new(self.problem).allocation(&units, AllocationStatistics::default()));
            }
            self.statistics.lap("assign", start.elapsed());
            if has_done {
                return;
            }
        }
    }

    /// Runs attempts with spilling. Each aims at fewer units than the previous one.
    fn with_spilling(&mut self) {
        let register_limit = self.problem.files()[self.file].register_limit.unwrap_or(u32::MAX);
        let trials = self.knobs.spill_trials.unwrap_or(self.knobs.num_non_spill_trials);
        // The targets end at one unit.
        let targets = (1..=register_limit).rev().step_by(self.knobs.retry_step as usize);
        for target in targets.take(trials as usize) {
            let Attempt { score, allocation, was_guided } = self.spill_to(target);
            self.record.add(score, allocation);
            if was_guided {
                return;
            }
        }
    }

    /// Spills nodes until all others fit, with `target` units as the aim. Every round spills at least one more live
    /// range.
    fn spill_to(&mut self, target: u32) -> Attempt {
        let mut rounds = Rounds::new(self.problem);
        let (mut cost, mut was_guided) = (0.0, true);
        loop {
            let context = self.prepare(rounds.problem(), true);
            let start = Instant::now();
            let mut spilled = guide(&context, target);
            self.statistics.lap("guidance", start.elapsed());
            if spilled.is_empty() {
                let outcome = self.try_to_place(&context);
                if outcome.spilled.is_empty() {
                    self.merges = context.merges;
                    let score = score(&context, &outcome, cost);
                    let allocation = rounds.allocation(&units(&context, &outcome), AllocationStatistics::default());
                    return Attempt { score, allocation, was_guided };
                }
                was_guided = false;
                spilled = outcome.spilled;
            }
            cost += spilled.iter().map(|&node| f64::from(context.nodes.cost(node))).sum::<f64>();
            let members: Vec<LiveRange> =
                spilled.iter().flat_map(|node| context.nodes.members(node)).copied().collect();
            rounds.spill(&members);
        }
    }

    /// Runs a trial after guidance, and another one if the first exceeds the register limit.
    fn try_to_place(&mut self, context: &Context<'_>) -> Outcome {
        let start = Instant::now();
        let mut outcome = Trial::run(context, Order::Retry);
        if outcome.beyond > 0 {
            let other = Trial::run(context, Order::Fallback);
            outcome = if other.beyond < outcome.beyond { other } else { outcome };
        }
        self.statistics.lap("assign", start.elapsed());
        self.statistics.rounds += 1;
        self.statistics.evictions += outcome.moved;
        outcome
    }

    fn prepare<'p>(&mut self, problem: &'p Problem, merges: bool) -> Context<'p>
    where
        'a: 'p,
    {
        let start = Instant::now();
        let context = Context::new(problem, self.file, self.knobs, merges);
        self.statistics.lap("build", start.elapsed());
        context
    }
}

fn score(context: &Context<'_>, outcome: &Outcome, cost: f64) -> Score {
    let more: f64 = outcome.spilled.iter().map(|&node| f64::from(context.nodes.cost(node))).sum();
    // A spilled node counts even if its cost is 0.
    let more = if outcome.spilled.is_empty() { 0.0 } else { more.max(f64::MIN_POSITIVE) };
    let Outcome { beyond, registers, .. } = *outcome;
    Score { beyond, registers, pressure: context.peak, cost: cost + more }
}

/// Returns the place of every live range: the place of its node.
fn units(context: &Context<'_>, outcome: &Outcome) -> IndexVec<LiveRange, u32> {
    let unit = |range| outcome.units[context.nodes.of(range)].unwrap_or(0);
    context.problem.ranges().ids().map(unit).collect()
}
