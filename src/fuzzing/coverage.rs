//! What runs of an oracle come to. One that seldom gets as far as its assertions proves little, and one whose pass has
//! nothing to do proves nothing: each test says of how many of its runs it must be more.

#[cfg(test)]
use std::cell::RefCell;
#[cfg(test)]
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
use arbitrary::{Result, Unstructured};

#[cfg(test)]
thread_local! {
    /// What the present run has come to.
    static REACHED: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// The present run has come to something that not every run comes to, where `is_there` says so.
pub(crate) fn reached(what: &'static str, is_there: bool) {
    #[cfg(test)]
    if is_there {
        REACHED.with_borrow_mut(|reached| _ = reached.insert(what));
    }
    #[cfg(not(test))]
    let _ = (what, is_there);
}

/// How often the time is given again to an oracle that has not come to all that is expected: how many runs fit into a
/// time is the machine's business. A busy machine gives it more often, until there were so many runs, too.
#[cfg(test)]
const ROUNDS: u32 = 20;
#[cfg(test)]
const RUNS: u64 = 3_000;
/// The fewest bytes of a run in the first round, and in the last ones. Each round has larger runs than the one ahead of it:
/// arbtest itself begins with small ones, and on a slow machine it comes to no others.
#[cfg(test)]
const BYTES: [u32; 2] = [32, 8_192];

/// Runs an oracle on random bytes for some time, and checks that it came to each of `expected` in at least so many
/// percent of its runs, 0 being one run at least.
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

    /// An oracle that comes to something in every other run, beginning with the second: however few runs there are, never in more
    /// than half of them.
    fn every_other() -> impl FnMut(&mut Unstructured<'_>) -> Result<()> {
        let mut is_reached = true;
        move |_| {
            is_reached = !is_reached;
            reached("it", is_reached);
            Ok(())
        }
    }

    /// An oracle that comes to something half of the time passes where a quarter is asked for.
    #[test]
    fn often_enough() {
        explore(every_other(), 20, &[("it", 25)]);
    }

    /// One that never does is an error, and so is one that does too seldom.
    #[test]
    fn too_seldom() {
        for (expected, start) in [(("it", 90), "it: "), (("something else", 0), "something else: 0 of ")] {
            let explored = std::panic::catch_unwind(|| explore(every_other(), 2, &[expected]));
            let message = *explored.expect_err("it does not come to that").downcast::<String>().expect("a message");
            assert!(message.starts_with(start), "{message}");
        }
    }
}
