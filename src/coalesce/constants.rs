//! Copies of constants become constants.
//!
//! LLVM marks no NVPTX `mov` of an immediate or symbol as rematerialisable. So if a constant is an input of several
//! PHIs, stock LLVM leaves one definition of the constant and a copy for each PHI. This is the largest class of moves
//! in stock code. If a copy is replaced by its constant, the replacement costs the same `mov`, frees the constant's
//! register, and often makes the constant's definition needless.

use super::program::Program;
use super::values::Values;
use super::worklist::RefusedCopy;
use crate::analysis::{LiveRanges, Point};
use crate::function::{Inst, VReg};

/// Replaces the copies of each constant that is read only by copies, and removes the constant's own definition.
///
/// If a register takes a constant from two copies, all copies of the constant are left to merging, because one
/// definition may serve both. The exception is a constant with so many copies that merging would take too long. Returns
/// whether any copy was replaced.
pub(super) fn replace_copies_of_pure_sources(program: &mut Program<'_>) -> bool {
    if !program.options.remat_constants {
        return false;
    }
    let of_constants = program.copies().filter(|&(.., src)| definition(program, src).is_some());
    let mut copies: Vec<(VReg, VReg, Inst)> = of_constants.map(|(_, inst, dst, src)| (src, dst, inst)).collect();
    copies.sort_unstable();
    let mut replaced = false;
    for of_one in copies.chunk_by(|a, b| a.0 == b.0) {
        let src = of_one[0].0;
        let taken_twice = of_one.windows(2).any(|pair| pair[0].1 == pair[1].1);
        if of_one.len() <= program.options.late_remat_update_threshold as usize
            && (taken_twice || program.count(src).uses as usize != of_one.len())
        {
            continue;
        }
        let Some((def, constant)) = definition(program, src) else { continue };
        for &(_, _, copy) in of_one {
            program.make_constant(copy, constant);
        }
        if program.count(src).uses == 0 {
            program.delete_dead(def, Some(constant));
        }
        replaced = true;
    }
    replaced
}

/// Replaces refused copies whose source holds a constant at the copy. Returns whether any copy was replaced.
pub(super) fn replace_refused(
    program: &mut Program<'_>,
    ranges: &LiveRanges,
    values: &Values,
    refused: &[RefusedCopy],
) -> bool {
    if !program.options.remat_constants {
        return false;
    }
    let mut replaced = false;
    for RefusedCopy { candidate, .. } in refused {
        let Some(value) = ranges.value_at(candidate.src, Point::early(candidate.inst)) else { continue };
        let Some(constant) = values.constant(value) else { continue };
        if program.as_copy(candidate.inst).is_none() {
            continue;
        }
        program.make_constant(candidate.inst, constant);
        replaced = true;
        let src = program.find(candidate.src);
        if program.count(src).uses == 0
            && let Some((def, constant)) = definition(program, src)
        {
            program.delete_dead(def, Some(constant));
        }
    }
    replaced
}

/// Returns the only instruction that writes a register, and the definition in the view whose constant it writes. `None`
/// if there is no such instruction, or if it writes no constant.
fn definition(program: &Program<'_>, reg: VReg) -> Option<(Inst, Inst)> {
    let def = program.single_definition(reg)?;
    Some((def, program.constant_definition(def)?))
}
