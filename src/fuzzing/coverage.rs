//! Coverage goals of oracles. A run that rarely reaches its assertions proves little, and a run whose pass changes
//! nothing proves nothing. Each test states the least percentage of its runs that must reach each goal.

#[cfg(test)]
use std::cell::RefCell;
#[cfg(test)]
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
use arbitrary::{Result, Unstructured};

#[cfg(test)]
thread_local! {
    /// The goals that the present run has reached.
    static REACHED: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// If `is_there`, records that the present run reached a goal.
pub(crate) fn reached(what: &'static str, is_there: bool) {
    #[cfg(test)]
    if is_there {
        REACHED.with_borrow_mut(|reached| _ = reached.insert(what));
    }
    #[cfg(not(test))]
    let _ = (what, is_there);
}

/// Most rounds of an oracle, each with the given time, if it has not reached all goals. On a busy machine, a round has
/// few runs; there are then additional rounds until the oracle has had a least number of runs.
#[cfg(test)]
const ROUNDS: u32 = 20;
#[cfg(test)]
const RUNS: u64 = 3_000;
/// The fewest bytes of a run in the first round, and in the last rounds. The number doubles with each round: arbtest
/// begins with small runs, and on a slow machine it never reaches large runs.
#[cfg(test)]
const BYTES: [u32; 2] = [32, 8_192];

/// Runs an oracle on random bytes for some time, and checks that it reached each of `expected` in at least the given
/// percentage of its runs. 0 means at least one run.
#[cfg(test)]
pub(crate) fn explore(
    mut oracle: impl FnMut(&mut Unstructured<'_>) -> Result<()>,
    budget_ms: u64,
    expected: &[(&'static str, u64)],
) {
    let mut runs = 0;
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut missing = String::new();
    let mut round = 0;
    while round < ROUNDS || runs < RUNS {
        round += 1;
        arbtest::arbtest(|u| {
            REACHED.with_borrow_mut(BTreeSet::clear);
            oracle(u)?;
            runs += 1;
            REACHED.with_borrow(|reached| reached.iter().for_each(|what| *counts.entry(what).or_default() += 1));
            Ok(())
        })
        .budget_ms(budget_ms)
        .size_min((BYTES[0] << (round - 1).min(8)).min(BYTES[1]));
        let count = |what: &str| counts.get(what).copied().unwrap_or_default();
        let is_missing = |&&(what, percent): &&(&str, u64)| count(what) == 0 || 100 * count(what) < percent * runs;
        let Some(&(what, percent)) = expected.iter().find(is_missing) else { return };
        missing = format!("{what}: {} of {runs} runs, expected {percent} %", count(what));
    }
    panic!("{missing}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an oracle that reaches a goal in every other run, beginning with the second. The goal is never reached
    /// in more than half of the runs.
    fn every_other() -> impl FnMut(&mut Unstructured<'_>) -> Result<()> {
        let mut is_reached = true;
        move |_| {
            is_reached = !is_reached;
            reached("it", is_reached);
            Ok(())
        }
    }

    /// An oracle that reaches a goal in half of its runs passes if a quarter is required.
    #[test]
    fn often_enough() {
        explore(every_other(), 20, &[("it", 25)]);
    }

    /// An oracle that never reaches a goal, or reaches it too rarely, is an error.
    #[test]
    fn too_seldom() {
        for (expected, start) in [(("it", 90), "it: "), (("something else", 0), "something else: 0 of ")] {
            let explored = std::panic::catch_unwind(|| explore(every_other(), 2, &[expected]));
            let message = *explored.expect_err("it does not come to that").downcast::<String>().expect("a message");
            assert!(message.starts_with(start), "{message}");
        }
    }
}
