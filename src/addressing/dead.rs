//! Removes definitions without remaining readers.

use crate::function::{Edit, EditList, Function, Inst, Role, VReg};
use crate::index::IndexVec;

/// Deletes pure instructions whose results were read only by the changed accesses, directly or through other deleted
/// instructions. Returns the number of deleted instructions. `moves` has the old and the new base of each changed
/// access. A register with a debug value stays. O(operands).
pub(super) fn remove(
    function: &Function,
    definitions: &IndexVec<VReg, Option<Inst>>,
    moves: &[(VReg, VReg)],
    edits: &mut EditList,
) -> usize {
    let mut worklist: Vec<VReg> = moves.iter().map(|&(old, _)| old).collect();
    if worklist.is_empty() {
        return 0;
    }
    let mut reads: IndexVec<VReg, u32> = IndexVec::filled(0, function.num_regs());
    let mut writes: IndexVec<VReg, u32> = IndexVec::filled(0, function.num_regs());
    for operand in function.insts().flat_map(|inst| function.operands(inst)) {
        operand.read_reg().into_iter().for_each(|reg| reads[reg] += 1);
        operand.def().into_iter().for_each(|reg| writes[reg] += 1);
    }
    for &(_, new) in moves {
        reads[new] += 1;
    }
    let mut removed = 0;
    while let Some(reg) = worklist.pop() {
        reads[reg] -= 1;
        let Some(inst) = definitions[reg].filter(|_| reads[reg] == 0 && writes[reg] == 1) else { continue };
        let is_lone = function.operands(inst).iter().filter(|operand| operand.is_def()).count() == 1;
        let is_plain = matches!(function.role(inst), Role::Other | Role::Copy | Role::Constant);
        if is_lone && is_plain && function.effects(inst).is_pure() {
            edits.push(Edit::Delete { inst });
            removed += 1;
            worklist.extend(function.operands(inst).iter().filter_map(|operand| operand.read_reg()));
        }
    }
    removed
}
