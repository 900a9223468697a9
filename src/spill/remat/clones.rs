//! The edits that compute a value again.

use crate::analysis::Occurrences;
use crate::function::{Edit, EditList, Function, Inst, Position, VReg, Value};
use crate::spill::groups::Group;

/// Puts a clone of a value's only definition in front of each group that has none; the definition goes if no group reads
/// it. Returns by how many instructions the function grows.
pub(crate) fn compute_again(
    function: &Function,
    occurrences: &Occurrences,
    (reg, definition): (VReg, Inst),
    groups: &[Group],
    edits: &mut EditList,
) -> isize {
    let mut added = 0;
    for group in groups.iter().filter(|group| !group.has_definition) {
        let at = Position { block: group.block, before: Some(group.place) };
        let clone = edits.create_register(function.class(reg));
        edits.insert_clone(at, definition, clone);
        for read in &group.reads {
            edits.push(Edit::SetRegister { inst: read.inst, operand: read.operand, reg: clone });
        }
        added += 1;
    }
    if groups.iter().any(|group| group.has_definition) {
        return added;
    }
    edits.push(Edit::Delete { inst: definition });
    let mut described: Vec<_> = occurrences.debug_uses(reg).iter().map(|read| read.inst).collect();
    described.dedup();
    for inst in described {
        // No clone stands for sure where the variable is described.
        edits.push(Edit::SetDebugValue { inst, value: Value::NoReg });
    }
    added - 1
}
