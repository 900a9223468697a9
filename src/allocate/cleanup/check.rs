//! Proves edits of an allocation's code from the problem alone: it knows nothing of how they were found.
//!
//! The code is run in thought, on all paths at once: at each point, whose value is in which place. A read must find its
//! value where the edits say that it looks, and a reload in its slot.

use super::CleanupEdit;
use super::available::available;
use super::overlay::Overlay;
use super::place_contents::PlaceContents;
use super::steps::{Step, Steps};
use crate::allocate::allocation::Allocation;
use crate::allocate::problem::{LiveRange, Problem};
use crate::function::Inst;
use crate::index::EntityIndex;

/// What is wrong with the edits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CleanupError {
    /// The problem does not tell how control flows.
    #[error("the problem has no blocks: nobody can tell what is where")]
    NoFlow,
    /// An edit of what may not be edited, or is not there.
    #[error("{edit:?} is of nothing that may be left out or read elsewhere")]
    Edit {
        /// The edit.
        edit: CleanupEdit,
    },
    /// A read, or a reload, that does not find its value.
    #[error("{range}: its value is not where instruction {} looks for it", .inst.0)]
    Lost {
        /// The live range.
        range: LiveRange,
        /// The instruction.
        inst: Inst,
    },
}

/// Checks that all that is still read is where it is read. O(steps · what is held at once), a few times in loops.
pub fn check_cleanup(problem: &Problem, allocation: &Allocation, edits: &[CleanupEdit]) -> Result<(), CleanupError> {
    if problem.flow().blocks().is_empty() {
        return if edits.is_empty() { Ok(()) } else { Err(CleanupError::NoFlow) };
    }
    let steps = Steps::new(problem, allocation);
    for &edit in edits {
        if !may_be(&steps, edit) {
            return Err(CleanupError::Edit { edit });
        }
    }
    let overlay = Overlay::new(problem, edits);
    let run = |contents: &mut PlaceContents, inst: Inst| {
        for &step in steps.of(inst) {
            contents.run(&steps, step, &overlay);
        }
    };
    let entries = available(&steps, run);
    let mut contents = PlaceContents::new(&steps);
    for (block, data) in problem.flow().blocks().iter_enumerated() {
        let Some(entry) = &entries[block] else { continue };
        contents.load(entry);
        for inst in data.insts() {
            for &step in steps.of(inst) {
                if let Some(range) = lost(&steps, &contents, step, &overlay).filter(|_| !overlay.is_removed(inst)) {
                    return Err(CleanupError::Lost { range, inst });
                }
                contents.run(&steps, step, &overlay);
            }
        }
    }
    Ok(())
}

/// Whose value a step does not find.
fn lost(steps: &Steps<'_>, contents: &PlaceContents, step: Step, overlay: &Overlay) -> Option<LiveRange> {
    let (range, place) = match step {
        Step::Reload { range, access } if overlay.read(access).is_none() => (range, steps.home(range)),
        Step::Read { range, access } | Step::ReadInPlace { range, access } => {
            (range, steps.read_place(range, access, overlay))
        }
        _ => return None,
    };
    contents.copies(range, place).is_none().then_some(range)
}

/// Whether an edit is of something that may be edited so.
fn may_be(steps: &Steps<'_>, edit: CleanupEdit) -> bool {
    let problem = steps.problem;
    match edit {
        CleanupEdit::Remove { inst } => inst.index() < problem.flow().num_insts() && steps.is_removable(inst),
        CleanupEdit::Unstored { access } => problem.accessed(access).is_some_and(|range| {
            steps.access(range, access).writes() && steps.is_spilled(range) && !steps.is_kept(range)
        }),
        CleanupEdit::Read { access, unit } => problem.accessed(access).is_some_and(|range| {
            let (data, is_spilled) = (steps.access(range, access), steps.is_spilled(range));
            let own = steps.units(range, access);
            let is_own = is_spilled && own == steps.places.unit(problem.file(range), unit);
            let is_free = problem.ranges()[range].fixed.is_none() && !steps.is_in_row(range, access);
            let is_held = steps.places.has_unit(problem.file(range), unit + steps.width(range) - 1);
            data.reads()
                && is_free
                && is_held
                && (is_own || !data.writes())
                && steps.is_place(range, steps.places.unit(problem.file(range), unit))
        }),
    }
}
