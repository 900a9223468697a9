//! Tests instruction orders with the checker, the interpreter, and a second run.

use arbitrary::{Result, Unstructured};

use super::trace::sound;
use super::{Options, lowered_function, reached};
use crate::function::{Edit, Effects, Inst};
use crate::schedule::{ORDERS, schedule};
use crate::target::Classification;

/// Checks that each order, perturbed or not, keeps a function valid and preserves its meaning, only permutes blocks,
/// and gives the same result a second time.
pub fn check_schedule(u: &mut Unstructured<'_>) -> Result<()> {
    let options = Options { undefined_paths: u.arbitrary()?, max_insts: 30, ..Options::default() };
    let function = lowered_function(u, &options)?;
    let order = *u.choose(&ORDERS)?;
    let seed = if u.arbitrary()? { u.arbitrary()? } else { 0 };
    let classification = Classification::by_name(function.opcodes());
    let scheduled = || schedule(&function, &classification, order, seed);
    let outcome = scheduled();
    reached("moved", outcome.moved > 0);
    let has_effect = |inst: &Inst| function.effects(*inst).intersects(Effects::MEMORY | Effects::CONVERGENT);
    let moves_effect = |edit: &Edit| match edit {
        Edit::Permute { order, .. } => !order.iter().filter(|inst| has_effect(inst)).is_sorted(),
        _ => false,
    };
    reached("moved an effect", outcome.edits.edits().iter().any(moves_effect));
    assert!(outcome.edits.edits().iter().all(|edit| matches!(edit, Edit::Permute { .. })));
    assert_eq!(outcome.edits.is_empty(), outcome.moved == 0);
    sound(&function, &outcome.edits);
    assert_eq!(scheduled().edits, outcome.edits, "the same function gets the same order");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    /// Every order preserves the meaning of every drawn function.
    #[test]
    fn orders_keep_the_meaning() {
        explore(check_schedule, 2_000, &[("moved", 25), ("moved an effect", 5)]);
    }
}
