//! The bound on copies against what coalescers leave.

use arbitrary::{Result, Unstructured};

use super::coalesce::config;
use super::{Options, lowered_function};
use crate::coalesce::optimum;
use crate::target::Classification;

/// Checks that the coalescer, with any options, leaves no fewer copies than are necessary, and that more steps make the
/// bound no worse; so at each depth of loops.
pub fn check_optimum(u: &mut Unstructured<'_>) -> Result<()> {
    let config = config(u)?;
    let function = lowered_function(u, &Options::default())?;
    let classification = Classification::by_name(function.opcodes());
    let [found, rough] = [1000, 0].map(|steps| optimum(&function, &classification, &config, steps));
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

    #[test]
    fn no_coalescer_beats_the_bound() {
        arbtest::arbtest(check_optimum).budget_ms(1_000);
    }
}
