//! Compares the lower bound on copies with the results of coalescers.

use arbitrary::{Result, Unstructured};

use super::coalesce::config;
use super::{Options, lowered_function, reached};
use crate::lab::coalescing_optimum::optimum;
use crate::target::Classification;

/// Checks that the coalescer, with any options, never leaves fewer copies than the lower bound, in sum and at each loop
/// depth. Checks that a bound that is computed in fewer steps is never higher.
pub fn check_optimum(u: &mut Unstructured<'_>) -> Result<()> {
    let config = config(u)?;
    let function = lowered_function(u, &Options::default())?;
    let classification = Classification::by_name(function.opcodes());
    let [found, rough] = [1000, 0].map(|steps| optimum(&function, &classification, &config, steps));
    reached("copies are necessary", found.necessary.count > 0);
    reached("the coalescer is beaten", found.best.count < found.left.count);
    reached("steps help", rough.necessary.count < found.necessary.count);
    assert!(found.best.count <= found.left.count && found.left.count <= found.copies.count + found.constants);
    for bounds in [&found, &rough] {
        assert!(bounds.necessary.count <= bounds.best.count, "{bounds:?}\n{function}");
        assert!(bounds.necessary.executed <= bounds.best.executed * (1.0 + 1e-9), "{bounds:?}\n{function}");
        for at in &bounds.by_depth {
            assert!(at.necessary <= at.left, "{bounds:?}\n{function}");
        }
        assert_eq!(bounds.by_depth.iter().map(|at| at.left).sum::<u64>(), bounds.left.count);
    }
    assert!(rough.necessary.count <= found.necessary.count, "{rough:?} {found:?}\n{function}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    #[test]
    fn no_coalescer_beats_the_bound() {
        let expected = [("copies are necessary", 10), ("the coalescer is beaten", 20)];
        explore(check_optimum, 1_000, &expected);
    }
}
