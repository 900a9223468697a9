//! The edits that rematerialise a value.

use super::sources::result;
use crate::analysis::Occurrences;
use crate::function::{Edit, EditList, Function, Inst, Position, VReg, Value};
use crate::spill::groups::Group;

/// Inserts clones before each group without a definition. The last of `computed` is the value's only definition. It is
/// cloned together with the instructions before it. Removes the original instructions if no group reads them. Returns
/// the number of instructions by which the function grows.
pub(crate) fn insert_clones(
    function: &Function,
    occurrences: &Occurrences,
    computed: &[Inst],
    groups: &[Group],
    edits: &mut EditList,
) -> isize {
    let mut added = 0;
    for group in groups.iter().filter(|group| !group.has_definition) {
        let at = Position { block: group.block, before: Some(group.place) };
        let clone = insert_chain(function, computed, at, edits);
        for read in &group.reads {
            edits.push(Edit::SetRegister { inst: read.inst, operand: read.operand, reg: clone });
        }
        added += computed.len() as isize;
    }
    if groups.iter().any(|group| group.has_definition) {
        return added;
    }
    for &definition in computed {
        edits.push(Edit::Delete { inst: definition });
        let uses = result(function, definition).map_or(&[][..], |reg| occurrences.debug_uses(reg));
        let mut described: Vec<_> = uses.iter().map(|read| read.inst).collect();
        described.dedup();
        for inst in described {
            // A debug location cannot refer to a clone, because no clone is sure to precede it.
            edits.push(Edit::SetDebugValue { inst, value: Value::NoReg });
        }
    }
    added - computed.len() as isize
}

/// Inserts clones of successive definitions, each of which reads the previous ones. Returns the register of the last
/// clone.
fn insert_chain(function: &Function, computed: &[Inst], at: Position, edits: &mut EditList) -> VReg {
    let mut clones: Vec<(VReg, VReg)> = Vec::with_capacity(computed.len());
    for &definition in computed {
        let reg = result(function, definition).expect("it writes one register");
        let clone = edits.create_register(function.class(reg));
        let inst = edits.insert_clone(at, definition, clone);
        for (operand, read) in function.operands(definition).iter().enumerate().filter(|(_, operand)| !operand.is_def())
        {
            if let Some(&(_, reg)) = clones.iter().find(|(cloned, _)| read.reg() == Some(*cloned)) {
                edits.push(Edit::SetRegister { inst, operand: operand as u32, reg });
            }
        }
        clones.push((reg, clone));
    }
    clones.last().expect("a definition at least").1
}
