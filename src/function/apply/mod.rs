//! Applies edits to the view. This is the reference semantics of the edit language.
//!
//! [`EditList::apply`] is total: it checks every id, position, class and order, and returns an error for the first
//! invalid edit. It checks only that each edit is well-formed. [`check`](crate::check) checks that the edited function
//! is equivalent. O(size + edits · log edits).

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

/// The origin of an instruction of the edited function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An instruction of the view.
    Kept(Inst),
    /// A clone of an instruction of the view.
    Clone(Inst),
    /// An inserted copy, constant, spill, reload or branch, with its id in the edits.
    Inserted(Inst),
}

/// The edited function and the origins of its instructions.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The function after the edits. Its instructions are renumbered in layout order.
    pub function: Function,
    /// The origin of each instruction.
    pub origin: IndexVec<Inst, Origin>,
}

/// The reason for which edits do not fit a function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("edit {index}: {reason}")]
pub struct ApplyError {
    /// The edit's index in the list.
    pub index: usize,
    /// The reason.
    pub reason: String,
}

impl From<ApplyError> for Error {
    /// Edits that do not fit the function for which they were made are a bug.
    fn from(error: ApplyError) -> Self {
        Self::internal(error, None)
    }
}

impl EditList {
    /// Applies the edits to a copy of the function.
    ///
    /// The block of a [`SplitEdge`](super::Edit::SplitEdge) ends in a `GOTO`. If the split edge falls through, its
    /// source also gets a `GOTO`, because the new block is laid out last. Spills and reloads have the opcodes `SPILL`
    /// and `RELOAD`. All three opcodes are added to the opcode table if they are missing.
    pub fn apply(&self, function: &Function) -> Result<Applied, ApplyError> {
        let mut editor = Editor::new(function, self.len());
        let mut phase = 0;
        for (index, edit) in self.edits().iter().enumerate() {
            if edit.phase() < phase {
                let reason =
                    "edits are not sorted into phases: call EditList::finish once, after all edits are added".into();
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
