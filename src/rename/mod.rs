//! Renaming: as few register names as values are alive at once.
//!
//! PTX has as many registers as one likes, and LLVM declares one for each that is left when it is done; people and
//! parsers read them all. So every class of PTX is coloured by itself, without a register limit, without alignment, and without
//! ever spilling: the fewest colours are the most registers alive at one point. Unless asked to, renaming keeps to
//! registers whose names ptxas seldom takes notice of: see [`ranges`].
//!
//! This is no allocation. Colours say nothing of the hardware's registers; that is another problem, and the two never
//! meet.
//!
//! In the order of the files:
//! * [`ranges`]: where each register is occupied, and which may share their names;
//! * [`colouring`]: a linear scan over the segments gives each register the first colour that is free for all of it;
//! * [`numbering`]: new registers, in the order in which LLVM numbers them, so that the most frequent have short names.

mod colouring;
mod numbering;
mod ranges;
#[cfg(test)]
mod tests;

use crate::function::{EditList, Function, RegClass, VReg};
use ranges::Ranges;

/// What renaming did.
#[derive(Debug)]
pub struct Outcome {
    /// The changes.
    pub edits: EditList,
    /// Registers that occurred before.
    pub before: usize,
    /// Registers that occur now.
    pub after: usize,
}

/// Gives the registers of a function as few names as their live ranges need. The function must have left SSA form.
///
/// Registers whose names ptxas often takes notice of share them only where `all` says so. Those of 128 bits, of no
/// class, and those that a debug value names keep theirs. O(n log n) in the segments of live ranges, as long as few
/// live ranges have holes.
pub fn rename(function: &Function, all: bool) -> Outcome {
    let ranges = Ranges::new(function);
    let mut outcome = Outcome { edits: EditList::new(function), before: ranges.registers.len(), after: 0 };
    for class in RegClass::ALL {
        let (sharing, alone): (Vec<VReg>, Vec<VReg>) = ranges
            .of_class(function, class)
            .partition(|&reg| !class.is_left_to_llvm() && ranges.may_share(function, reg, all));
        let colours = colouring::colour(&ranges, &sharing);
        let mut names = numbering::names(&sharing, &colours);
        outcome.after += names.len() + alone.len();
        if !class.is_left_to_llvm() {
            names.extend(alone.into_iter().map(|reg| vec![reg]));
            numbering::number(&ranges, names, class, &mut outcome.edits);
        }
    }
    outcome.edits.finish();
    outcome
}
