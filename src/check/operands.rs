//! Checks of single instructions: tied and early-clobber operands, definitions of the same register, opcodes, numbers
//! and symbols.

use super::addresses::Proven;
use super::error::{CheckError, ErrorKind};
use super::pair::Pair;
use super::turned::Turned;
use crate::function::simd_video::is_expansion;
use crate::function::{Function, Inst, OperandFlags, Role, VReg, Value};

/// Checks every instruction of the edited function. O(operands · log operands of one instruction).
pub(super) fn check(pair: &Pair<'_>, (addresses, turned): (&Proven, &Turned), errors: &mut Vec<CheckError>) {
    let mut scratch = Vec::new();
    for after in pair.after.function.insts() {
        if let Some(before) = pair.after.partner[after] {
            check_tied(pair, before, after, errors);
            // The proof of turned jumps has already checked the opcode and the numbers of a complemented comparison.
            if !turned.contains(&after) {
                check_opcode(pair, before, after, errors);
                check_numbers(pair, before, after, addresses, errors);
            }
            check_symbols(pair, before, after, addresses, errors);
            check_early_clobber(pair, before, after, errors);
            check_definitions(pair, before, after, &mut scratch, errors);
        }
    }
    check_phis(pair, errors);
}

fn check_tied(pair: &Pair<'_>, before: Inst, after: Inst, errors: &mut Vec<CheckError>) {
    let (old, new) = (pair.before.function.operands(before), pair.after.function.operands(after));
    for (number, operand) in (0..).zip(old) {
        let Some(tied) = operand.tied.map(usize::from).filter(|&tied| tied < old.len()) else { continue };
        // In SSA form, tied operands are still two registers.
        if old[tied].value == operand.value && new[tied].value != new[number as usize].value {
            let reason = format!("the operand is tied to operand {tied}, but is another register");
            let error = CheckError::at(ErrorKind::Tied, before, Some(after), reason);
            errors.push(CheckError { operand: Some(number), ..error });
        }
    }
}

/// Checks that a changed opcode computes the same. LLVM's names of NVPTX opcodes have a letter for each operand, `r`
/// for a register and `i` for an immediate. An opcode with one `r` replaced by `i` computes the same from an immediate.
/// A copy of an immediate is a constant.
fn check_opcode(pair: &Pair<'_>, before: Inst, after: Inst, errors: &mut Vec<CheckError>) {
    let (old, new) = (pair.before.function, pair.after.function);
    if old.opcode(before) == new.opcode(after) {
        return;
    }
    let (old_name, new_name) = (old.opcodes().name(old.opcode(before)), new.opcodes().name(new.opcode(after)));
    let becomes_constant = old.role(before) == Role::Copy && new.role(after) == Role::Constant;
    if !becomes_constant && !is_immediate_form(old, before, old_name, new_name) {
        let reason = format!("{old_name} becomes {new_name}, which is not known to be its form with immediates");
        errors.push(CheckError::at(ErrorKind::Opcode, before, Some(after), reason));
    }
}

fn is_immediate_form(old: &Function, before: Inst, old_name: &str, new_name: &str) -> bool {
    let changed = || old_name.bytes().zip(new_name.bytes()).filter(|(old, new)| old != new);
    let num_changed = changed().count();
    old_name.len() == new_name.len()
        && num_changed <= old.operands(before).len()
        && changed().all(|letters| letters == (b'r', b'i'))
}

/// Checks that numbers are unchanged, except for the offset of a proven address.
fn check_numbers(pair: &Pair<'_>, before: Inst, after: Inst, addresses: &Proven, errors: &mut Vec<CheckError>) {
    let is_debug = pair.before.function.role(before) == Role::Debug;
    let (old, new) = (pair.before.function.operands(before), pair.after.function.operands(after));
    for (number, (old, new)) in (0u32..).zip(old.iter().zip(new)) {
        let (Value::Immediate(was), Value::Immediate(is)) = (old.value, new.value) else { continue };
        if was != is && !addresses.contains(&(after, number)) && !is_debug {
            let reason = format!("{is} in place of {was} is not provably the same address");
            let error = CheckError::at(ErrorKind::Operand, before, Some(after), reason);
            errors.push(CheckError { operand: Some(number), ..error });
        }
    }
}

/// Checks that symbols are unchanged, with two exceptions in the text of inline assembly: the offset of a proven
/// address, and SIMD video instructions that are replaced by their expansion. Tests prove the expansions: they execute
/// each instruction and its expansion for all values of the parts.
fn check_symbols(pair: &Pair<'_>, before: Inst, after: Inst, addresses: &Proven, errors: &mut Vec<CheckError>) {
    let (old, new) = (pair.before.function, pair.after.function);
    for (number, (was, is)) in (0u32..).zip(old.operands(before).iter().zip(new.operands(after))) {
        let (Value::Symbol(was), Value::Symbol(is)) = (was.value, is.value) else { continue };
        let is_same_text = || number == 0 && is_expansion((old, before), (new, after));
        if was != is && !addresses.contains(&(after, number)) && !is_same_text() {
            let reason = format!("{:?} in place of {:?} is not provably the same", new.symbol(is), old.symbol(was));
            let error = CheckError::at(ErrorKind::Operand, before, Some(after), reason);
            errors.push(CheckError { operand: Some(number), ..error });
        }
    }
}

fn check_early_clobber(pair: &Pair<'_>, before: Inst, after: Inst, errors: &mut Vec<CheckError>) {
    let (old, new) = (pair.before.function.operands(before), pair.after.function.operands(after));
    for (number, def) in new.iter().enumerate() {
        if !def.flags.contains(OperandFlags::DEF | OperandFlags::EARLY_CLOBBER) {
            continue;
        }
        for (read_number, read) in new.iter().enumerate() {
            if read.use_reg().is_some() && read.value == def.value && old[read_number].value != old[number].value {
                let reason = "the operand reads a register that the instruction writes before its reads".to_owned();
                let error = CheckError::at(ErrorKind::EarlyClobber, before, Some(after), reason);
                errors.push(CheckError { operand: Some(read_number as u32), ..error });
            }
        }
    }
}

fn check_definitions(
    pair: &Pair<'_>,
    before: Inst,
    after: Inst,
    defs: &mut Vec<(VReg, VReg)>,
    errors: &mut Vec<CheckError>,
) {
    let (old, new) = (pair.before.function.operands(before), pair.after.function.operands(after));
    defs.clear();
    defs.extend(new.iter().zip(old).filter_map(|(new, old)| Some((new.def()?, old.def()?))));
    push_double_definitions(defs, before, after, errors);
}

/// Checks the PHIs of each block together, because they are evaluated at once, like one instruction.
fn check_phis(pair: &Pair<'_>, errors: &mut Vec<CheckError>) {
    let (view, function) = (pair.before.function, pair.after.function);
    let mut defs = Vec::new();
    for block in function.blocks() {
        defs.clear();
        let mut place = None;
        for after in function.block_insts(block).take_while(|&inst| function.role(inst) == Role::Phi) {
            let Some(before) = pair.after.partner[after] else { continue };
            place.get_or_insert((before, after));
            let (old, new) = (view.operands(before).first(), function.operands(after).first());
            defs.extend(new.and_then(|new| Some((new.def()?, old?.def()?))));
        }
        if let Some((before, after)) = place {
            push_double_definitions(&mut defs, before, after, errors);
        }
    }
}

/// Reports registers with two definitions that were definitions of two registers before the edits.
fn push_double_definitions(defs: &mut [(VReg, VReg)], before: Inst, after: Inst, errors: &mut Vec<CheckError>) {
    if defs.len() < 2 {
        return;
    }
    defs.sort_unstable();
    for pair in defs.windows(2) {
        let ((first, first_before), (second, second_before)) = (pair[0], pair[1]);
        if first == second && first_before != second_before {
            let reason =
                format!("{first} has two definitions at once, which defined {first_before} and {second_before} before");
            errors.push(CheckError::at(ErrorKind::DoubleDefinition, before, Some(after), reason));
        }
    }
}
