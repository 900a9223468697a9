//! Renaming: as few register names as values are live at once.
//!
//! The number of registers in PTX is unlimited, and LLVM declares one for each virtual register that is left in the
//! end; readers and parsers have to read all of them. So the registers of each PTX class are coloured by themselves,
//! without a register limit, without alignment, and without spilling. The fewest colours are the most registers that
//! are live at one point. By default, renaming changes only registers whose names seldom affect ptxas: see [`ranges`].
//!
//! Renaming is no allocation. Colours do not describe the hardware's registers, which are a separate problem, and no
//! data passes from one to the other.
//!
//! In the order of the files:
//! * [`ranges`]: where each register is occupied, and which registers may share their names;
//! * [`colouring`]: a linear scan over the segments gives each register the first colour that is free for all of it;
//! * [`numbering`]: new registers, in the order in which LLVM numbers them, so that the most frequent have short names.

mod colouring;
mod numbering;
mod ranges;
#[cfg(test)]
mod tests;

use crate::function::{EditList, Function, RegClass, VReg};
use ranges::Ranges;

/// Result of renaming.
#[derive(Debug)]
pub struct Outcome {
    /// The changes.
    pub edits: EditList,
    /// Number of registers that occurred before.
    pub before: usize,
    /// Number of registers that occur afterwards.
    pub after: usize,
}

/// Gives the registers of a function as few names as their live ranges need. The function must have left SSA form.
///
/// Registers whose names often affect ptxas share them only if `all` is set. Some registers always keep their names:
/// registers of 128 bits, registers without a class, and registers of debug values. O(n log n) in the segments of live
/// ranges, if few live ranges have holes.
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
