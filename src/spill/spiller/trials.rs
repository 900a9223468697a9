//! Trials: if a selection does not reach the goal of live words, the next selection may use more means.
//!
//! ptxas is understood to work in the same way: each attempt relaxes restrictions of the previous attempt, and the best
//! result is used. A trial here never uses means that an option forbids. Trials differ in the options that are set to
//! `auto`, and in means that no option controls.

use super::facts::Facts;
use super::goal::{Permissions, SpillGoal};
use super::selection::{Selection, select_values};
use super::slot_memory::SlotMemory;
use super::slots::Slots;

/// A trial and its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Its means.
    pub permissions: Permissions,
    /// Its score.
    pub score: Score,
}

/// Score of a selection: smaller is better, by the fields in their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Most words that are live at one instruction; at least the goal.
    pub words: u32,
    /// Cost of the values' locations, in loads from shared memory, weighted by frequency.
    pub cost: f64,
    /// Number of values.
    pub values: usize,
}

impl Score {
    pub(in crate::spill) fn is_better_than(&self, other: &Self) -> bool {
        let by_cost = || self.cost.total_cmp(&other.cost).then(self.values.cmp(&other.values));
        self.words.cmp(&other.words).then_with(by_cost).is_lt()
    }
}

/// Returns the best of at most `goal.max_trials` selections, its slots, and all trials. No trial follows the first one
/// that reaches the goal. On a tie, the first selection is the best.
pub(in crate::spill) fn best<'f>(
    facts: &'f Facts<'_>,
    goal: &SpillGoal,
    memory: Option<&'f SlotMemory>,
) -> (Selection, Slots<'f>, Vec<Trial>) {
    let attempt = |permissions: Permissions| {
        let mut slots = Slots::new(facts.function, memory, goal.max_local_bytes);
        let selection = select_values(facts, goal, permissions, &mut slots);
        let score = Score {
            words: selection.pressure.peak().max(goal.max_live_words),
            cost: selection.cost,
            values: selection.selected.len(),
        };
        (selection, slots, Trial { permissions, score })
    };
    let permissions = goal.permissions();
    let (mut selection, mut slots, first) = attempt(permissions[0]);
    let (mut best, mut trials) = (first.score, vec![first]);
    for &permissions in permissions[1..].iter().take(goal.max_trials.saturating_sub(1) as usize) {
        if trials.last().is_some_and(|last| last.score.words <= goal.max_live_words) {
            break;
        }
        let next = attempt(permissions);
        trials.push(next.2);
        if next.2.score.is_better_than(&best) {
            best = next.2.score;
            (selection, slots) = (next.0, next.1);
        }
    }
    (selection, slots, trials)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A selection with fewer words is better; then, one with lower cost; then, one with fewer values. Equal scores are
    /// not better.
    #[test]
    fn order() {
        let score = |words, cost, values| Score { words, cost, values };
        let ordered = [score(8, 9.0, 9), score(9, 1.0, 9), score(9, 2.0, 1), score(9, 2.0, 2)];
        for (number, one) in ordered.iter().enumerate() {
            for (other_number, other) in ordered.iter().enumerate() {
                assert_eq!(one.is_better_than(other), number < other_number, "{one:?} {other:?}");
            }
        }
    }
}
