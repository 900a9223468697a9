//! What every pass must keep, in the eyes of all that can tell.

use super::check_same_meaning;
use crate::check::check;
use crate::function::{EditList, Function};

/// The function after edits, which the checker and the interpreter find to mean the same, and which is valid.
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
