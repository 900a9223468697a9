//! Tests the coalescer with the checker and the interpreter.

use arbitrary::{Result, Unstructured};

use super::{Options, edited, lowered_function, reached};
use crate::coalesce::{MoveKind, census, coalesce};
use crate::config::{Config, Priority};
use crate::function::Function;
use crate::target::Classification;

/// Checks that coalescing, with any options, keeps a function valid and never leaves more moves than before. The
/// checker and the interpreter must confirm that its meaning is preserved.
pub fn check_coalesce(u: &mut Unstructured<'_>) -> Result<()> {
    let config = config(u)?;
    let function = lowered_function(u, &Options::default())?;
    let classification = Classification::by_name(function.opcodes());
    let outcome = coalesce(&function, &classification, &config);
    let report = &outcome.report;
    reached("merged", report.merges > 0);
    reached("kept apart", !report.refused.is_empty());
    reached("made a constant", !report.rematerialised.is_empty());
    let edited = edited(&function, &outcome.edits);
    let (before, after) = (moves(&function, &classification), moves(&edited, &classification));
    assert!(after <= before, "{before} moves became {after}\n{function}\n{edited}");
    let again = coalesce(&function, &classification, &config);
    assert_eq!(again.edits, outcome.edits, "the same function gives the same edits");
    Ok(())
}

/// Counts copies and constants together: a copy may become a constant, but no other instruction may become a copy or a
/// constant.
fn moves(function: &Function, classification: &Classification) -> u64 {
    let tallies = census(function, classification);
    let count = |kind| tallies.get(&kind).map_or(0, |tally| tally.count);
    count(MoveKind::Copy) + count(MoveKind::CopyOfConstant) + count(MoveKind::Immediate) + count(MoveKind::Symbol)
}

pub(super) fn config(u: &mut Unstructured<'_>) -> Result<Config> {
    let default = Config::default();
    if u.ratio(1, 2)? {
        return Ok(default);
    }
    Ok(Config {
        join_splitedges: u.arbitrary()?,
        join_globalcopies: u.ratio(7, 8)?,
        terminal_rule: u.arbitrary()?,
        remat_constants: u.arbitrary()?,
        wide_pairs: u.arbitrary()?,
        priority: if u.arbitrary()? { Priority::Register } else { Priority::Frequency },
        copy_limit: u.int_in_range(0..=3)?,
        coalesce_limit: u.int_in_range(0..=3)?,
        late_remat_update_threshold: u.int_in_range(0..=3)?,
        large_interval_size_threshold: u.int_in_range(0..=3)?,
        large_interval_freq_threshold: u.int_in_range(0..=3)?,
        ..default
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    #[test]
    fn coalescing_keeps_the_meaning() {
        explore(check_coalesce, 1_000, &[("merged", 25), ("kept apart", 20), ("made a constant", 20)]);
    }
}
