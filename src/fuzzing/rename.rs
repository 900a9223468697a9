//! Tests renaming with the checker, the interpreter, and the largest number of live registers at one point.

use arbitrary::{Result, Unstructured};

use super::{Options, edited, lowered_function, reached};
use crate::rename::rename;

/// Checks that renaming keeps a function valid and preserves its meaning, and never leaves more registers than before.
pub fn check_rename(u: &mut Unstructured<'_>) -> Result<()> {
    let options = Options { undefined_paths: u.arbitrary()?, ..Options::default() };
    let function = lowered_function(u, &options)?;
    let all = u.arbitrary()?;
    let outcome = rename(&function, all);
    edited(&function, &outcome.edits);
    reached("shared", outcome.after < outcome.before);
    reached("unasked", !all && outcome.after < outcome.before);
    assert!(outcome.after <= outcome.before, "{function}");
    assert_eq!(rename(&function, all).edits, outcome.edits, "the same function gives the same names");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::explore;

    #[test]
    fn renaming_keeps_the_meaning() {
        explore(check_rename, 1_000, &[("shared", 40), ("unasked", 20)]);
    }
}
