//! Proves edits of an allocation's code from the problem alone. The checker knows nothing of how the edits were found.
//!
//! The checker simulates the code on all paths at once: at each point, it knows which values each place holds. A read
//! must find its value at the place that the edits give, and a reload must find its value in the slot.

use super::CleanupEdit;
use super::available::available;
use super::overlay::Overlay;
use super::place_contents::PlaceContents;
use super::steps::{Step, Steps};
use crate::allocate::allocation::Allocation;
use crate::allocate::problem::{LiveRange, Problem};
use crate::function::Inst;
use crate::index::EntityIndex;

/// Errors of cleanup edits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CleanupError {
    /// The problem has no control flow.
    #[error("the problem has no blocks, so its control flow is unknown")]
    NoFlow,
    /// An edit of an access or instruction that does not exist or may not be edited.
    #[error("{edit:?}: this edit is not allowed for its access or instruction")]
    Edit {
        /// The edit.
        edit: CleanupEdit,
    },
    /// A read or a reload that does not find its value.
    #[error("{range}: instruction {} does not find its value", .inst.0)]
    Lost {
        /// The live range.
        range: LiveRange,
        /// The instruction.
        inst: Inst,
    },
}

/// Checks that every remaining read finds its value. O(steps · facts at once), a few times in loops.
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

/// Returns the live range whose value a step does not find.
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

/// Whether an edit is allowed for its access or instruction.
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
