//! Renaming: uses only as many register names as values are live at once.
//!
//! The number of registers in PTX is unlimited, and LLVM declares one register for each virtual register that is left
//! at the end. Readers and parsers have to read all of these declarations. So the registers of each PTX class are
//! coloured by themselves, without a register limit, without alignment, and without spilling. At least as many colours
//! are needed as registers are live at one point. By default, renaming changes only registers whose names seldom affect
//! ptxas: see [`ranges`].
//!
//! Renaming is no allocation. Its colours do not stand for hardware registers. Allocation is a separate problem, and
//! neither passes data to the other.
//!
//! The files, in order:
//! * [`ranges`]: the segments in which each register is occupied, and the registers that may share names;
//! * [`colouring`]: a linear scan over the segments gives each register the first colour that is free during all of its
//!   segments;
//! * [`numbering`]: new registers, in the order in which LLVM numbers them, so that the most frequent names are short.

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
    /// Number of registers that occur in the given function.
    pub before: usize,
    /// Number of registers that occur afterwards.
    pub after: usize,
}

/// Gives the registers of a function as few names as their live ranges need. The function must have left SSA form.
///
/// Registers whose names often affect ptxas share their names only if `all` is set. Registers of debug values and of
/// asynchronous instructions never share a name, but may get another number. Registers of 128 bits and registers
/// without a class do not change. O(n log n) in the segments of live ranges, if few live ranges have holes.
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
