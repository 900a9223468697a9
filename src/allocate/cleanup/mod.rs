//! Cleanup: removes code that an allocation has made needless.
//!
//! After allocation, an instruction can read a value at the source of its copy, or in the register of its last reload.
//! A copy's target may already hold the value. A copied, stored or computed value may never be read. Textbooks run copy
//! propagation and dead code elimination after allocation (Aho, Lam, Sethi and Ullman, "Compilers", 9.1 and 9.2;
//! Muchnick, "Advanced Compiler Design and Implementation", 12.5 and 18.10). NVIDIA's allocator, as its code is read,
//! ends with a peephole that forwards moves, and with dead code elimination. Here, three files share the work.
//! [`steps`] is the code that an allocation stands for. [`forward`] tracks the [`contents`] of places at each step and
//! redirects reads. [`dead`] finds the values that are not read later, from the end.
//!
//! No place changes, so no live range needs another place. The result is a list of [`CleanupEdit`]s. The edits only
//! remove code: they add no read, move or store. [`check_cleanup`] proves them from the problem alone.

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

/// A change to the code that an allocation stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanupEdit {
    /// The access reads its value from this unit on. If its live range is spilled, it is not reloaded for the access.
    Read {
        /// Number of the access ([`Problem::first_access`]).
        access: usize,
        /// The first unit.
        unit: u32,
    },
    /// The access, a write of a spilled live range, is not stored.
    Unstored {
        /// Number of the access.
        access: usize,
    },
    /// The instruction is removed, with its reloads and stores.
    Remove {
        /// The instruction.
        inst: Inst,
    },
}

/// Finds the removable parts of an allocation's code; empty if the problem has no control flow.
///
/// Fixed live ranges are read and written at their places. Parts of split live ranges are written as before, because
/// the links between them read them. O(steps · facts at once), a few times in loops.
///
/// That two live ranges have one value may be known only because one place held both. The copies to that place may be
/// dead in the end. Then the checker refuses the forwarded reads, and only dead code is removed, for which this
/// knowledge is not needed.
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
