//! Applies edits to the view: the reference meaning of the edit language.
//!
//! [`EditList::apply`] is total: every id, place, class and order is checked, and the first edit that breaks a rule is
//! the error. It checks what an edit *is*; whether the edited function still means the same is
//! [`check`](crate::check)'s. O(size + edits · log edits).

mod editor;
mod ids;
mod insert;
mod layout;
mod rebuild;
mod shared_slots;
mod split;
mod split_branches;
#[cfg(test)]
mod tests;
mod turn;

use editor::Editor;

use super::{EditList, Function, Inst};
use crate::error::Error;
use crate::index::IndexVec;

/// Where an instruction of the edited function comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An instruction of the view.
    Kept(Inst),
    /// A clone of an instruction of the view.
    Clone(Inst),
    /// An inserted copy, constant, spill, reload or branch, with its number in the edits.
    Inserted(Inst),
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

impl From<ApplyError> for Error {
    /// Edits that do not fit the function that they were made for are a bug.
    fn from(error: ApplyError) -> Self {
        Self::internal(error, None)
    }
}

impl EditList {
    /// Applies the edits to a copy of the function; the function itself stays.
    ///
    /// The block of a [`SplitEdge`](super::Edit::SplitEdge) ends in a `GOTO`; where the edge's start falls through,
    /// it gets a `GOTO` too, since the new block is laid out last. Spills and reloads are the opcodes `SPILL` and
    /// `RELOAD`. All three are added to the opcode table where it lacks them.
    pub fn apply(&self, function: &Function) -> Result<Applied, ApplyError> {
        let mut editor = Editor::new(function, self.len());
        let mut phase = 0;
        for (index, edit) in self.edits().iter().enumerate() {
            if edit.phase() < phase {
                let reason = "edits are not sorted into phases: call EditList::finish once, when all are made".into();
                return Err(ApplyError { index, reason });
            }
            phase = edit.phase();
            editor.edit(index, edit).map_err(|reason| ApplyError { index, reason })?;
        }
        editor.check_merges()?;
        let splits = std::mem::take(&mut editor.splits);
        let branches = split_branches::apply(&splits, &mut editor)?;
        let order = editor.layout.order(&editor.work, splits.len(), &branches)?;
        Ok(rebuild::rebuild(editor, &splits, &order))
    }
}
