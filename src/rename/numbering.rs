//! Register names. LLVM numbers the registers of a class in the order in which they are created.

use std::cmp::Reverse;

use super::ranges::Ranges;
use crate::function::{Edit, EditList, RegClass, VReg};

/// Returns the registers of each colour, in the order of colours.
pub(super) fn names(members: &[VReg], colours: &[u32]) -> Vec<Vec<VReg>> {
    let mut names: Vec<Vec<VReg>> = Vec::new();
    for (&register, &colour) in members.iter().zip(colours) {
        if names.len() <= colour as usize {
            names.resize(colour as usize + 1, Vec::new());
        }
        names[colour as usize].push(register);
    }
    names
}

/// Gives each group of registers one name. The groups with the most occurrences get the lowest numbers, which have the
/// fewest digits.
///
/// Numbers follow the order of creation, so each group gets a new register. If each register is a group by itself and
/// the order would stay the same, nothing changes.
pub(super) fn number(ranges: &Ranges, mut names: Vec<Vec<VReg>>, class: RegClass, edits: &mut EditList) {
    let occurrences = |name: &Vec<VReg>| name.iter().map(|&reg| ranges.num_occurrences(reg)).sum::<usize>();
    names.sort_by_cached_key(|name| (Reverse(occurrences(name)), name[0]));
    let is_in_order = names.iter().all(|name| name.len() == 1) && names.is_sorted_by_key(|name| name[0]);
    if is_in_order {
        return;
    }
    for name in names {
        let into = edits.create_register(class);
        for from in name {
            edits.push(Edit::Merge { from, into });
        }
    }
}
