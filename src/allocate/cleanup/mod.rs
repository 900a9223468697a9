//! Cleanup: what an allocation makes needless is taken out of its code again.
//!
//! When all have places, an instruction can read a value where it was copied from, or where it is since it was reloaded
//! last; a copy can be of a value that is there already; and what is copied, stored or computed may be read nowhere.
//! The textbook's passes behind allocation are copy propagation and the elimination of dead code (Aho, Lam, Sethi and
//! Ullman, "Compilers", 9.1 and 9.2; Muchnick, "Advanced Compiler Design and Implementation", 12.5 and 18.10), and
//! NVIDIA's allocator is read to end with a peephole that forwards moves, and with dead code elimination. Here they are
//! three: [`steps`] is the code that an allocation stands for, [`forward`] finds out what is [`contents`] where at each of
//! its steps and reads it there, [`dead`] looks from the end for what is read no more.
//!
//! No place changes, so no live range needs another one: what comes out is a list of [`CleanupEdit`]s. They only take
//! away: no read, no move and no store is added. [`check_cleanup`] proves them from the problem alone.

mod available;
mod check;
mod costs;
mod dead;
mod forward;
mod overlay;
mod place_contents;
mod places;
mod steps;
#[cfg(test)]
mod tests;

use super::allocation::Allocation;
use super::problem::Problem;
use crate::function::Inst;

pub use check::{CleanupError, check_cleanup};
pub use costs::{CodeCosts, code_costs};
pub(super) use overlay::Overlay;
use steps::Steps;

/// A change of the code that an allocation stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanupEdit {
    /// The access with this number reads its value from this unit on, and what is spilled is not reloaded for it.
    Read {
        /// The number of the access ([`Problem::first_access`]).
        access: usize,
        /// The first unit.
        unit: u32,
    },
    /// The access with this number, which writes what is spilled, is not stored.
    Unstored {
        /// The number of the access.
        access: usize,
    },
    /// The instruction is left out, with what is reloaded and stored for it.
    Remove {
        /// The instruction.
        inst: Inst,
    },
}

/// Finds what can be left out of an allocation's code; nothing where the problem does not tell its control flow.
///
/// What is fixed is read and written where it is, and parts of split live ranges are written as they were, because the
/// links between them read them. O(steps · what is held at once), a few times in loops.
///
/// That two live ranges have one value may be known only because one place held both, and the copies to there may be
/// what nobody reads in the end. Then the checker refuses what was forwarded, and only dead code is left out: that
/// needs no such knowledge.
pub fn clean(problem: &Problem, allocation: &Allocation) -> Vec<CleanupEdit> {
    if problem.flow().blocks().is_empty() {
        return Vec::new();
    }
    let steps = Steps::new(problem, allocation);
    for forwards in [true, false] {
        let mut overlay = Overlay::new(problem, &[]);
        if forwards {
            forward::forward(&steps, &mut overlay);
        }
        dead::remove(&steps, &mut overlay);
        let edits = overlay.edits();
        if check_cleanup(problem, allocation, &edits).is_ok() {
            return edits;
        }
    }
    Vec::new()
}
