//! Which registers an allocator spills, for `nvptx-regalloc`.

use crate::allocate::briggs::Briggs;
use crate::allocate::fatpoint::Fatpoint;
use crate::allocate::greedy::Greedy;
use crate::allocate::{Allocator, Placement, Preset, Problem, ProblemError, split};
use crate::config::Chooser;
use crate::error::Error;
use crate::function::{Function, VReg};
use crate::index::IndexVec;
use crate::target::Classification;

/// What an allocator spills.
pub(super) enum Spilled {
    /// No allocator is to choose.
    NotAsked,
    /// By register: the whole or a part of it is kept in memory.
    Registers(IndexVec<VReg, bool>),
    /// Instructions need more registers than there are, whatever is spilled.
    BudgetNotMet(ProblemError),
}

/// What an allocator spills that has `registers` of the hardware's.
///
/// # Errors
/// Only where the function is none that an allocator takes, which is an internal error.
pub(super) fn spilled(
    chooser: Chooser,
    (function, classification): (&Function, &Classification),
    registers: u32,
) -> Result<Spilled, Error> {
    let preset = Preset { budget: Some(registers), ..Preset::HW };
    let allocator: &dyn Allocator = match chooser {
        Chooser::Price => return Ok(Spilled::NotAsked),
        Chooser::Greedy => &Greedy::default(),
        Chooser::Briggs => &Briggs { coalescing: preset.coalescing.clone() },
        Chooser::Fatpoint => &Fatpoint { knobs: preset.fatpoint.clone() },
    };
    let problem = Problem::from_function(function, classification, &preset)?;
    let found = match split::allocate(allocator, &problem, &preset.splitting) {
        Err(
            error @ (ProblemError::BudgetNotMet { .. }
            | ProblemError::TooWide { .. }
            | ProblemError::EmptyFile { .. }
            | ProblemError::Place { .. }),
        ) => return Ok(Spilled::BudgetNotMet(error)),
        found => found?,
    };
    let allocated = found.problem.as_ref().unwrap_or(&problem);
    let mut spilled = IndexVec::filled(false, function.num_regs());
    for range in allocated.ranges().ids() {
        let data = &allocated.ranges()[range];
        let whole = &allocated.ranges()[data.part_of.unwrap_or(range)];
        if let (Placement::Spilled(_), Some(reg)) = (found.allocation.placements[range], whole.register) {
            spilled[reg] = true;
        }
    }
    Ok(Spilled::Registers(spilled))
}
