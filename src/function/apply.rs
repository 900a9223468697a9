//! Applies edits to the view: the reference meaning of the edit language.

use super::{EditList, Function, Inst};
use crate::index::IndexVec;

/// Where an instruction of the edited function comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An instruction of the view.
    Kept(Inst),
    /// A clone of an instruction of the view.
    Clone(Inst),
    /// An inserted copy, constant, spill, reload or branch.
    Inserted,
}

/// The edited function and where its instructions come from.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The function after the edits, its instructions numbered anew in layout order.
    pub function: Function,
    /// For each instruction of it, its origin.
    pub origin: IndexVec<Inst, Origin>,
}

/// Why edits do not fit a function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("edit {index}: {reason}")]
pub struct ApplyError {
    /// The edit's number in the list.
    pub index: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl EditList {
    /// Applies the edits to a copy of the function; the function itself stays.
    pub fn apply(&self, function: &Function) -> Result<Applied, ApplyError> {
        let _ = function;
        Err(ApplyError { index: 0, reason: "not built yet".into() })
    }
}
