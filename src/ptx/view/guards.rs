//! Where a definition under a predicate needs nothing of what the register held before.

use super::draft::DraftInst;
use crate::function::{OperandFlags, VReg};

/// The complement of a predicate stands so near behind, where it does.
const NEAR: usize = 16;

/// Marks the old value as undefined where the complement of the same predicate defines the register, too, ahead of any
/// other read. O(instructions).
pub(super) fn mark_complements(insts: &mut [DraftInst]) {
    for at in 0..insts.len() {
        let Some((predicate, is_negated)) = insts[at].guard else { continue };
        let defs: Vec<VReg> = insts[at].operands.iter().filter_map(|operand| operand.operand.def()).collect();
        for reg in defs {
            if reg != predicate && reg_is_completed(&insts[at..], reg, predicate, is_negated) {
                mark(&mut insts[at], reg);
            }
        }
    }
}

/// Whether the instructions behind the first one define the register where its predicate is false, and read it nowhere
/// else before.
fn reg_is_completed(insts: &[DraftInst], reg: VReg, predicate: VReg, is_negated: bool) -> bool {
    for inst in insts.iter().skip(1).take(NEAR).take_while(|inst| inst.block == insts[0].block) {
        let is_same = inst.guard == Some((predicate, is_negated));
        let is_complement = inst.guard == Some((predicate, !is_negated));
        let defines = |reg| inst.operands.iter().any(|operand| operand.operand.def() == Some(reg));
        // A read that belongs to a definition of its own reads only what that keeps.
        let reads = inst.operands.iter().any(|operand| {
            operand.operand.read_reg() == Some(reg) && !operand.operand.flags.contains(OperandFlags::IMPLICIT)
        });
        if reads && !is_same {
            return false;
        }
        if defines(reg) {
            if is_complement {
                return true;
            }
            if !is_same {
                return false;
            }
        }
        if defines(predicate) || !inst.goes_on {
            return false;
        }
    }
    false
}

fn mark(inst: &mut DraftInst, reg: VReg) {
    let is_old = |operand: &super::draft::DraftOperand| {
        operand.operand.read_reg() == Some(reg) && operand.operand.flags.contains(OperandFlags::IMPLICIT)
    };
    for operand in inst.operands.iter_mut().filter(|operand| is_old(operand)) {
        operand.operand.flags |= OperandFlags::UNDEF;
    }
}
