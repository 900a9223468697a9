//! Registers that may be read without a definition. Some path to a read of such a register contains no write of it; the
//! path begins at the function's start, or at an instruction that makes the register undefined.

use crate::function::{Block, Function, Operand, Role, VReg};
use crate::index::IndexVec;

/// Computes the registers of `wanted` that some path reads without a definition, forwards over all paths. O((blocks +
/// edges) · wanted / 64 + instructions), times the number of growths of the set at a block's entry.
pub(super) fn may_be_undefined(function: &Function, wanted: &[VReg]) -> IndexVec<VReg, bool> {
    let mut number: IndexVec<VReg, Option<usize>> = IndexVec::filled(None, function.num_regs());
    wanted.iter().enumerate().for_each(|(at, &reg)| number[reg] = Some(at));
    let words = wanted.len().div_ceil(64);
    let mut unwritten: IndexVec<Block, Vec<u64>> = IndexVec::filled(vec![0; words], function.num_blocks());
    let mut found = IndexVec::filled(false, function.num_regs());
    let Some(start) = function.blocks().next() else { return found };
    unwritten[start].fill(u64::MAX);
    let mut todo = vec![start];
    while let Some(block) = todo.pop() {
        let mut now = unwritten[block].clone();
        for inst in function.block_insts(block) {
            let operands = function.operands(inst);
            for reg in operands.iter().filter_map(Operand::use_reg) {
                if let Some(at) = number[reg] {
                    found[reg] |= now[at / 64] & (1 << (at % 64)) != 0;
                }
            }
            for at in operands.iter().filter_map(Operand::def).filter_map(|reg| number[reg]) {
                let bit = 1 << (at % 64);
                now[at / 64] =
                    if function.role(inst) == Role::Undef { now[at / 64] | bit } else { now[at / 64] & !bit };
            }
        }
        for &succ in function.succs(block) {
            let known = &mut unwritten[succ];
            if known.iter().zip(&now).any(|(known, now)| now & !known != 0) {
                known.iter_mut().zip(&now).for_each(|(known, now)| *known |= now);
                todo.push(succ);
            }
        }
    }
    found
}
