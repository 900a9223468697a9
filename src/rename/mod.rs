//! Renaming: as few register names as values are alive at once.
//!
//! PTX has as many registers as one likes, and LLVM declares one for each that is left when it is done; people and parsers
//! read them all. So every class of PTX is coloured by itself, without a budget,
//! without alignment, and without ever spilling: the fewest colours are the most registers alive at one point.
//!
//! This is no allocation. Colours say nothing of the hardware's registers; that is another problem, and the two never
//! meet.
//!
//! In the order of the files:
//! * [`ranges`]: where each register is occupied; debug values count as reads here, so that variables stay known;
//! * [`colouring`]: a linear scan over the segments gives each register the first colour that is free for all of it;
//! * one register of each colour stays, and the others are merged into it.

mod colouring;
mod ranges;
#[cfg(test)]
mod tests;

use crate::function::{Edit, EditList, Function, RegClass, VReg};
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
/// Registers of 128 bits and of no class keep their names. O(n log n) in the segments of live ranges, as long as few live
/// ranges have holes.
pub fn rename(function: &Function) -> Outcome {
    let ranges = Ranges::new(function);
    let mut outcome = Outcome { edits: EditList::new(function), before: ranges.registers.len(), after: 0 };
    for class in RegClass::ALL {
        if class.is_left_to_llvm() {
            outcome.after += ranges.of_class(function, class).count();
            continue;
        }
        let members: Vec<VReg> = ranges.of_class(function, class).collect();
        let colours = colouring::colour(&ranges, &members);
        outcome.after += merge(&members, &colours, &mut outcome.edits);
    }
    outcome.edits.finish();
    outcome
}

/// Merges the registers of each colour into the one with the lowest number. Returns how many colours there are.
fn merge(members: &[VReg], colours: &[u32], edits: &mut EditList) -> usize {
    let mut first: Vec<Option<VReg>> = Vec::new();
    for (&register, &colour) in members.iter().zip(colours) {
        if first.len() <= colour as usize {
            first.resize(colour as usize + 1, None);
        }
        match first[colour as usize] {
            None => first[colour as usize] = Some(register),
            Some(into) => edits.push(Edit::Merge { from: register, into }),
        }
    }
    first.len()
}
