//! Packs and unpacks that undo each other.
//!
//! PTX has no sub-registers: `mov.b64 %rd, {%r1, %r2}` and its inverse are real moves. An unpack of a pack gives back
//! the packed registers, and a pack of all parts of one register, in order, gives back the register. Both hold for
//! registers with one definition each, whose value does not change once it is there; others are left alone.

use super::program::{Fate, Program};
use crate::function::{Inst, Role, VReg};

/// Forwards the parts of packs to the registers that unpacks and half extracts define, and packed registers to packs of
/// their own parts.
pub(crate) fn forward(program: &mut Program<'_>) {
    for inst in program.function.insts() {
        match program.function.role(inst) {
            Role::Unpack | Role::Extract { .. } => forward_parts(program, inst),
            Role::Pack => forward_whole(program, inst),
            _ => {}
        }
    }
}

/// `p = pack {a, b}; {c, d} = unpack p` → `c` is `a`, `d` is `b`.
fn forward_parts(program: &mut Program<'_>, unpack: Inst) {
    let function = program.function;
    let (defs, uses) = split(program, unpack);
    let [Some(packed)] = uses[..] else { return };
    let Some(pack) = program.single_definition(packed).filter(|&def| program.fate(def) == Fate::Keep) else { return };
    if function.role(pack) != Role::Pack {
        return;
    }
    let (_, parts) = split(program, pack);
    let parts = match function.role(unpack) {
        Role::Extract { index, parts: count } if usize::from(count) == parts.len() => {
            vec![parts[usize::from(index)]]
        }
        Role::Unpack if parts.len() == defs.len() => parts,
        _ => return,
    };
    let pairs: Option<Vec<(VReg, VReg)>> =
        defs.iter().zip(&parts).map(|(def, part)| mergeable(program, (*def)?, (*part)?)).collect();
    let Some(pairs) = pairs else { return };
    remove(program, unpack, &pairs);
    if program.count(packed).uses == 0 {
        program.delete(pack);
        program.report.removed.push(pack);
    }
}

/// `{c, d} = unpack p; q = pack {c, d}` → `q` is `p`.
fn forward_whole(program: &mut Program<'_>, pack: Inst) {
    let (defs, parts) = split(program, pack);
    let [Some(whole)] = defs[..] else { return };
    let mut source = None;
    for (index, part) in parts.iter().enumerate() {
        let Some(part) = part else { return };
        let Some(def) = program.single_definition(*part) else { return };
        let position = match program.function.role(def) {
            Role::Unpack => split(program, def).0.iter().position(|other| *other == Some(*part)),
            Role::Extract { index, parts: count } if usize::from(count) == parts.len() => Some(usize::from(index)),
            _ => return,
        };
        let (unpacked, uses) = split(program, def);
        let [Some(from)] = uses[..] else { return };
        let all_parts = program.function.role(def) != Role::Unpack || unpacked.len() == parts.len();
        if position != Some(index) || source.is_some_and(|source| source != from) || !all_parts {
            return;
        }
        source = Some(from);
    }
    let Some(source) = source else { return };
    if let Some(pair) = mergeable(program, whole, source) {
        remove(program, pack, &[pair]);
    }
}

/// Definitions and uses of an instruction, as registers stand now: `None` for what is no register.
fn split(program: &Program<'_>, inst: Inst) -> (Vec<Option<VReg>>, Vec<Option<VReg>>) {
    let operands = program.function.operands(inst);
    let register = |operand| program.register(inst, operand);
    (
        operands.iter().filter(|operand| operand.is_def()).map(register).collect(),
        operands.iter().filter(|operand| !operand.is_def()).map(register).collect(),
    )
}

/// Two registers of one class with one definition each: the second's value stays what it is once it is there.
fn mergeable(program: &Program<'_>, a: VReg, b: VReg) -> Option<(VReg, VReg)> {
    let single = |reg| program.single_definition(reg).is_some();
    (a != b && program.function.class(a) == program.function.class(b) && single(a) && single(b)).then_some((a, b))
}

fn remove(program: &mut Program<'_>, inst: Inst, pairs: &[(VReg, VReg)]) {
    program.delete(inst);
    program.report.removed.push(inst);
    for &(a, b) in pairs {
        // Two parts may be one register: the second pair is then merged already.
        let (a, b) = (program.find(a), program.find(b));
        if a != b {
            program.merge(a, b);
        }
    }
}
