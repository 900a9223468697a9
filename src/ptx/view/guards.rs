//! Definitions under a predicate that do not need the old value of the register.

use rustc_hash::FxHashMap;

use super::draft::DraftInst;
use crate::function::{OperandFlags, VReg, Value};

/// The most instructions between a guarded definition and its complement.
const NEAR: usize = 16;

/// Marks the old value as undefined if an instruction under the complement of the predicate defines the register, too,
/// before any other read. O(instructions).
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

/// Marks old values as undefined if a predicate is constant. One case is an instruction under a true predicate, which
/// Triton emits if sizes are powers of two. The other case is the addend of `wgmma` with a false `scale-d`, which
/// writes only the product. O(instructions).
pub(super) fn mark_constants(insts: &mut [DraftInst], is_predicate: impl Fn(VReg) -> bool) {
    let mut definitions: FxHashMap<VReg, (u32, Option<bool>)> = FxHashMap::default();
    for inst in insts.iter() {
        let set = if inst.guard.is_none() && inst.name == "MOV_B1_i" { inst.operands.get(1) } else { None };
        let value = set.and_then(|operand| truth(operand.operand.value));
        for reg in inst.operands.iter().filter_map(|operand| operand.operand.def()).filter(|&reg| is_predicate(reg)) {
            let (times, known) = definitions.entry(reg).or_default();
            (*times, *known) = (*times + 1, value);
        }
    }
    let known = |reg: VReg| definitions.get(&reg).and_then(|&(times, value)| value.filter(|_| times == 1));
    for inst in insts.iter_mut() {
        let is_written = match inst.guard {
            Some((predicate, is_negated)) => !is_negated && known(predicate) == Some(true),
            None => {
                let scale = inst.name.starts_with("wgmma.mma_async.sync").then(|| scale(inst, &is_predicate)).flatten();
                let value = scale.and_then(|value| match value {
                    Value::Reg(reg) => known(reg),
                    value => truth(value),
                });
                value == Some(false)
            }
        };
        if is_written {
            let defs: Vec<VReg> = inst.operands.iter().filter_map(|operand| operand.operand.def()).collect();
            defs.into_iter().for_each(|reg| mark(inst, reg));
        }
    }
}

fn truth(value: Value) -> Option<bool> {
    match value {
        Value::Immediate(number) => Some(number != 0),
        _ => None,
    }
}

/// Returns `scale-d` of a product: the first predicate or constant among the operands after the registers of the
/// matrices and their descriptors. It selects whether the old contents of the result's registers are added.
fn scale(inst: &DraftInst, is_predicate: impl Fn(VReg) -> bool) -> Option<Value> {
    let mut values = inst.operands.iter().map(|operand| operand.operand.value);
    values.find(|&value| match value {
        Value::Reg(reg) => is_predicate(reg),
        value => truth(value).is_some(),
    })
}

/// Whether later instructions define the register under the opposite predicate, without another read in between.
fn reg_is_completed(insts: &[DraftInst], reg: VReg, predicate: VReg, is_negated: bool) -> bool {
    for inst in insts.iter().skip(1).take(NEAR).take_while(|inst| inst.block == insts[0].block) {
        let is_same = inst.guard == Some((predicate, is_negated));
        let is_complement = inst.guard == Some((predicate, !is_negated));
        let defines = |reg| inst.operands.iter().any(|operand| operand.operand.def() == Some(reg));
        // A tied read of the instruction's own definition only keeps the old value.
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
