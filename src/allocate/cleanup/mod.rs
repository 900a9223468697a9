//! Cleanup: removes code that an allocation has made needless.
//!
//! After allocation, an instruction can read a value at the source of its copy, or in the register of its last reload.
//! A copy's target may already hold the value. A copied, stored or computed value may never be read. Textbooks run copy
//! propagation and dead code elimination after allocation (Aho, Lam, Sethi and Ullman, "Compilers", 9.1 and 9.2;
//! Muchnick, "Advanced Compiler Design and Implementation", 12.5 and 18.10). NVIDIA's allocator, as its code is read,
//! ends with a peephole that forwards moves, and with dead code elimination.
//!
//! Three files share the work. [`steps`] lists the loads, stores, reads and writes that an allocation implies.
//! [`forward`] follows the [`place_contents`] of places through the steps and redirects reads. [`dead`] walks backwards and
//! finds the values that are not read later.
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

/// A change to the code that an allocation implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanupEdit {
    /// The access reads its value from the unit `unit` on. If its live range is spilled, the value is not reloaded for
    /// the access.
    Read {
        /// Number of the access ([`Problem::first_access`]).
        access: usize,
        /// The first unit.
        unit: u32,
    },
    /// The access writes a spilled live range, and the value is not stored.
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
/// The analysis may know that two live ranges have one value only because one place held both values. The copies to
/// that place may turn out to be dead. In this case the checker refuses the redirected reads. The result then removes
/// dead code only, which does not depend on equal values.
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
