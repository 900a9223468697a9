//! The checks that the edits of every pass must pass.

use super::check_same_meaning;
use crate::check::check;
use crate::function::{EditList, Function};

/// Applies edits and returns the function. The checker and the interpreter must confirm that its meaning is preserved,
/// and it must be valid.
pub(crate) fn edited(function: &Function, edits: &EditList) -> Function {
    if let Err(errors) = check(function, edits) {
        panic!("{errors:#?}\n{edits:#?}\n{function}");
    }
    let edited = edits.apply(function).expect("the edits fit").function;
    if let Err(error) = edited.validate() {
        panic!("{error}\n{function}\n{edited}");
    }
    if let Err(mismatch) = check_same_meaning(function, &edited) {
        panic!("{mismatch:?}\n{function}\n{edited}");
    }
    edited
}
