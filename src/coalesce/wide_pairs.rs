//! Packs and unpacks that undo each other.
//!
//! PTX has no sub-registers: `mov.b64 %rd, {%r1, %r2}` and its inverse are real moves. An unpack of a pack returns the
//! packed registers. A pack of all parts of one register, in order, returns the register. Both rules hold only for
//! registers with one definition each, whose value does not change after this definition. Other registers are
//! unchanged.

use super::program::{Fate, Program};
use crate::function::{Inst, Role, VReg};

/// Replaces the results of unpacks and of extracts by the parts of the pack. Replaces the result of a pack of all parts
/// of a register by this register.
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

/// Returns the definitions and uses of an instruction as current registers; `None` for operands that are no registers.
fn split(program: &Program<'_>, inst: Inst) -> (Vec<Option<VReg>>, Vec<Option<VReg>>) {
    let operands = program.function.operands(inst);
    let register = |operand| program.register(inst, operand);
    (
        operands.iter().filter(|operand| operand.is_def()).map(register).collect(),
        operands.iter().filter(|operand| !operand.is_def()).map(register).collect(),
    )
}

/// Returns the two registers if they have the same class and one definition each. The value of the second register then
/// never changes after its definition.
fn mergeable(program: &Program<'_>, a: VReg, b: VReg) -> Option<(VReg, VReg)> {
    let single = |reg| program.single_definition(reg).is_some();
    (a != b && program.function.class(a) == program.function.class(b) && single(a) && single(b)).then_some((a, b))
}

fn remove(program: &mut Program<'_>, inst: Inst, pairs: &[(VReg, VReg)]) {
    program.delete(inst);
    program.report.removed.push(inst);
    for &(a, b) in pairs {
        // Two parts may be the same register. If so, the second pair may already be merged.
        let (a, b) = (program.find(a), program.find(b));
        if a != b {
            program.merge(a, b);
        }
    }
}
