//! Rematerialisation against the checker, the interpreter, and itself.

use arbitrary::{Result, Unstructured};

use super::spoiled_slots::check_spoiled_slot;
use super::trace::sound;
use super::{Options, lowered_function, reached};
use crate::check::slots;
use crate::config::BitSpill;
use crate::function::{Edit, Function, Inst};
use crate::spill::remat::{Wanted, rematerialise_above};
use crate::target::Classification;

/// Checks that computing values again keeps a function valid and its meaning, is the same the second time, and stays
/// within what a function may grow by.
pub fn check_remat(u: &mut Unstructured<'_>) -> Result<()> {
    let options = Options { undefined_paths: u.arbitrary()?, max_insts: 30, ..Options::default() };
    let function = lowered_function(u, &options)?;
    let (eighths, least) = (u.int_in_range(0..=8)?, u.int_in_range(1..=12)?);
    let (widened_alone, predicates) = (u.ratio(1, 4)?, u.int_in_range(0..=4)?);
    let bits = *u.choose(&[BitSpill::Off, BitSpill::Auto, BitSpill::On])?;
    let (needed, registers) = (u.int_in_range(0..=8)?, u.int_in_range(1..=12)?);
    let wanted = Wanted { instructions: 0, needed, eighths, least, widened_alone, predicates, bits, registers };
    let classification = Classification::by_name(function.opcodes());
    let rematerialised = || rematerialise_above(&function, &classification, wanted);
    let outcome = rematerialised();
    let applied = sound(&function, &outcome.edits);
    let count = |function: &Function| function.num_insts() as isize;
    assert_eq!(count(&applied.function) - count(&function), outcome.added);
    let (values, comparisons) = (16.max(count(&function) / 16), 16.max(count(&function) / 4));
    let is_access = |edit: &&Edit| matches!(edit, Edit::InsertSpill { .. } | Edit::InsertReload { .. });
    let accesses = outcome.edits.edits().iter().filter(is_access).count() as isize;
    assert!(outcome.added <= values + comparisons + accesses, "{} more", outcome.added);
    assert_eq!(rematerialised().edits, outcome.edits, "the same again");
    assert_eq!(slots::errors(&function, &outcome.edits), [], "{function}");
    check_spoiled_slot(u, &function, &outcome.edits)?;
    reached("computed again", outcome.values > 0);
    reached("sunk", outcome.values as isize > outcome.added);
    reached("kept longer", outcome.extended > 0);
    reached("kept as bits", outcome.bits > 0);
    let comparisons = |function: &Function| function.insts().filter(|&inst| is_comparison(function, inst)).count();
    reached("compared again", comparisons(&applied.function) > comparisons(&function));
    Ok(())
}

fn is_comparison(function: &Function, inst: Inst) -> bool {
    function.opcodes().name(function.opcode(inst)).starts_with("SETP")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    /// It keeps the meaning of every function that can be drawn, and has something to do in some of them.
    #[test]
    fn keeps_the_meaning() {
        explore(
            check_remat,
            2_000,
            &[("computed again", 40), ("sunk", 10), ("kept longer", 5), ("compared again", 1), ("kept as bits", 10)],
        );
    }
}
