//! Trials: where a choice of values does not reach the words wanted, the next one has more means.
//!
//! ptxas is read to do so: its attempts relax what the one before kept to, and the best result is kept. A trial here never
//! does what an option forbids. What an option leaves open (`auto`), and what no option says, is what trials differ in.

use super::facts::Facts;
use super::goal::{Permissions, SpillGoal};
use super::selection::{Selection, select_values};
use super::slot_memory::SlotMemory;
use super::slots::Slots;

/// A trial and what it reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// What it could do.
    pub permissions: Permissions,
    /// How good it is.
    pub score: Score,
}

/// How good a choice is: the less, the better, in this order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The most words that are live at one instruction; never fewer than are wanted.
    pub words: u32,
    /// What the places of the values cost, in loads from shared memory, each as often as it runs.
    pub cost: f64,
    /// The values.
    pub values: usize,
}

impl Score {
    pub(in crate::spill) fn is_better_than(&self, other: &Self) -> bool {
        let by_cost = || self.cost.total_cmp(&other.cost).then(self.values.cmp(&other.values));
        self.words.cmp(&other.words).then_with(by_cost).is_lt()
    }
}

/// The best of at most `goal.max_trials` choices, its slots, and all trials. The last trial is the first that reaches the words
/// wanted. Of equals the first is the best.
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

    /// Fewer words win, then less cost, then fewer values; equals are not better.
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
