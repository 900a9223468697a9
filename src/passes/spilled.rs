//! Which registers an allocator spills, for `nvptx-regalloc`.

use crate::allocate::briggs::Briggs;
use crate::allocate::fatpoint::Fatpoint;
use crate::allocate::greedy::Greedy;
use crate::allocate::{Allocator, Placement, Preset, Problem, split};
use crate::config::Chooser;
use crate::error::Error;
use crate::function::{Function, VReg};
use crate::index::IndexVec;
use crate::target::Classification;

/// The registers of which an allocator keeps the whole or a part in memory, if it has `registers` of the hardware's;
/// `None` if no allocator is to choose.
///
/// # Errors
/// Says so if instructions need more registers than these, whatever is spilled.
pub(super) fn spilled(
    chooser: Chooser,
    (function, classification): (&Function, &Classification),
    registers: u32,
) -> Result<Option<IndexVec<VReg, bool>>, Error> {
    let preset = Preset { budget: Some(registers), ..Preset::HW };
    let allocator: &dyn Allocator = match chooser {
        Chooser::Price => return Ok(None),
        Chooser::Greedy => &Greedy::default(),
        Chooser::Briggs => &Briggs { coalescing: preset.coalescing.clone() },
        Chooser::Fatpoint => &Fatpoint { knobs: preset.fatpoint.clone() },
    };
    let problem = Problem::from_function(function, classification, &preset)?;
    let found = split::allocate(allocator, &problem, &preset.splitting)?;
    let allocated = found.problem.as_ref().unwrap_or(&problem);
    let mut spilled = IndexVec::filled(false, function.num_regs());
    for range in allocated.ranges().ids() {
        let data = &allocated.ranges()[range];
        let whole = &allocated.ranges()[data.part_of.unwrap_or(range)];
        if let (Placement::Spilled(_), Some(reg)) = (found.allocation.placements[range], whole.register) {
            spilled[reg] = true;
        }
    }
    Ok(Some(spilled))
}
