//! Edits that keep the meaning by construction. The checker accepts all of them, in any function.

use arbitrary::{Result, Unstructured};
use nvptx_ra::check::{CheckError, check};
use nvptx_ra::function::{Block, Edit, EditList, Effects, Function, Inst, Operand, Position, Role, VReg, Value};

use super::by_running::function;
use super::explore;

/// Returns the operands of an instruction that read a register and could also read another register.
fn reads(function: &Function, inst: Inst) -> Vec<(u32, VReg)> {
    let numbered = (0..).zip(function.operands(inst));
    numbered.filter(|(_, operand)| operand.tied.is_none()).filter_map(|(at, o)| Some((at, o.use_reg()?))).collect()
}

/// Whether instructions may be inserted before an instruction: it is not a PHI, and if it is a terminator, it is the
/// first of its block.
fn is_place(function: &Function, inst: Inst) -> bool {
    let block = function.block_range(function.block_of(inst));
    let is_terminator = |inst| function.effects(inst).contains(Effects::TERMINATOR);
    function.role(inst) != Role::Phi && !(block.start.0..inst.0).map(Inst).any(is_terminator)
}

/// Replaces all reads of a register in an instruction by reads of another register.
fn read_instead(edits: &mut EditList, function: &Function, inst: Inst, from: VReg, to: VReg) {
    for (operand, _) in reads(function, inst).into_iter().filter(|&(_, reg)| reg == from) {
        edits.push(Edit::SetRegister { inst, operand, reg: to });
    }
}

/// Makes one sound edit at an instruction, or a few edits that are sound together. Returns the kind of edit, or `None`
/// if none was possible.
fn add_edit(
    source: &mut Unstructured<'_>,
    function: &Function,
    edits: &mut EditList,
    inst: Inst,
) -> Result<Option<usize>> {
    let at = Position { block: function.block_of(inst), before: Some(inst) };
    let kind = source.int_in_range(0..=5usize)?;
    let read = match &reads(function, inst)[..] {
        [] => None,
        reads => Some(reads[source.choose_index(reads.len())?].1),
    };
    match (kind, read) {
        // Reads a copy of the register.
        (0, Some(reg)) => {
            let copy = edits.create_register(function.class(reg));
            edits.insert_copy(at, copy, reg);
            read_instead(edits, function, inst, reg, copy);
        }
        // Reloads the register from a slot.
        (1, Some(reg)) => {
            let (slot, reloaded) = (edits.create_slot(8, 8), edits.create_register(function.class(reg)));
            edits.insert_spill(at, reg, slot);
            edits.insert_reload(at, reloaded, slot);
            read_instead(edits, function, inst, reg, reloaded);
        }
        // Rematerialises the value, if its inputs do not change in between.
        (2, Some(reg)) => {
            let before = (function.block_range(at.block).start.0..inst.0).rev().map(Inst);
            let writes = |inst: &Inst, reg| function.operands(*inst).iter().any(|operand| operand.def() == Some(reg));
            let Some(definition) = before.clone().find(|inst| writes(inst, reg)) else { return Ok(None) };
            let operands = function.operands(definition);
            let is_plain = matches!(function.role(definition), Role::Constant | Role::Copy)
                || function.role(definition) == Role::Other && function.effects(definition).is_empty();
            let is_alone = operands.iter().filter(|operand| operand.is_def()).count() == 1;
            let is_changed = |read: VReg| {
                writes(&definition, read)
                    || before.clone().take_while(|&at| at > definition).any(|at| writes(&at, read))
            };
            if !is_plain || !is_alone || operands.iter().filter_map(Operand::use_reg).any(is_changed) {
                return Ok(None);
            }
            let again = edits.create_register(function.class(reg));
            edits.insert_clone(at, definition, again);
            read_instead(edits, function, inst, reg, again);
        }
        // Inserts a constant that is never read.
        (3, _) => {
            let opcode = function.opcodes().find("CONSTANT").expect("interned");
            let unread = edits.create_register(function.class(VReg(0)));
            edits.insert_constant(at, opcode, unread, Value::Immediate(7));
        }
        // Inserts a block on an edge.
        (4, _) => {
            let Some(&to) = function.succs(at.block).first() else { return Ok(None) };
            let new: Block = edits.split_edge(at.block, to);
            let copy = edits.create_register(function.class(VReg(0)));
            edits.insert_copy(Position { block: new, before: None }, copy, VReg(0));
        }
        // Renames the register everywhere.
        (5, Some(reg)) => {
            let name = edits.create_register(function.class(reg));
            edits.push(Edit::Merge { from: reg, into: name });
        }
        _ => return Ok(None),
    }
    Ok(Some(kind))
}

/// The checker accepts all sound edits.
#[test]
fn all_sound_edits_are_accepted() {
    let is_enough = |made: &[u32; 6]| made.iter().all(|&count| count >= 5);
    let made = explore(1_000, is_enough, |source, made| {
        let function = function(source)?;
        let places: Vec<Inst> = function.insts().filter(|&inst| is_place(&function, inst)).collect();
        let inst = places[source.choose_index(places.len())?];
        let mut edits = EditList::new(&function);
        let Some(kind) = add_edit(source, &function, &mut edits, inst)? else { return Ok(()) };
        edits.finish();
        if let Err(errors) = check(&function, &edits) {
            let errors: Vec<String> = errors.iter().map(CheckError::to_string).collect();
            panic!("refused: {}\n{:?}\n{function}", errors.join(" | "), edits.edits());
        }
        made[kind] += 1;
        Ok(())
    });
    assert!(is_enough(&made), "of each kind too few to tell anything: {made:?}");
}

/// If the copy is of another register, the edits are wrong, and the checker refuses them. The verdict therefore depends
/// on the registers that are read.
#[test]
fn a_copy_of_another_register_is_refused() {
    let [tried, refused] = explore(
        500,
        |&[tried, _]| tried > 20,
        |source, [tried, refused]| {
            let function = function(source)?;
            let stores = |&inst: &Inst| function.effects(inst) == Effects::WRITE && is_place(&function, inst);
            let Some(store) = function.insts().find(stores) else { return Ok(()) };
            let reg = reads(&function, store)[0].1;
            let other = VReg((reg.0 + 1) % 5);
            let mut edits = EditList::new(&function);
            let copy = edits.create_register(function.class(reg));
            edits.insert_copy(Position { block: function.block_of(store), before: Some(store) }, copy, other);
            read_instead(&mut edits, &function, store, reg, copy);
            edits.finish();
            *tried += 1;
            *refused += u32::from(check(&function, &edits).is_err());
            Ok(())
        },
    );
    // In some cases, both registers hold the same value, or the store is unreachable.
    assert!(tried > 20 && 2 * refused > tried, "{refused} of {tried} refused");
}
