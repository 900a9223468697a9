//! Which values can be moved out of the way.

use crate::analysis::{Dominators, Occurrence, Occurrences};
use crate::function::{Effects, Function, Inst, OperandFlags, RegClass, Role, VReg};
use crate::spill::single_definition::{definition_and_reads, dominates};
use crate::target::{asynchrony, is_fusible_product, is_fusible_sum};

/// A value with one definition, and its reads in the order of the code.
pub(super) struct Candidate {
    pub(super) reg: VReg,
    pub(super) definition: Occurrence,
    pub(super) reads: Vec<Occurrence>,
}

/// The values of 16, 32 and 64 bits that have one definition ahead of all their reads, and that no instruction needs in a
/// register of its own choice: no tied operands and no operands of asynchronous instructions.
pub(super) fn eligible(function: &Function, occurrences: &Occurrences, dominators: &Dominators) -> Vec<Candidate> {
    let is_asynchronous: Vec<bool> = function.insts().map(|inst| asynchrony(function, inst).is_some()).collect();
    function.regs().filter_map(|reg| value_of(function, occurrences, dominators, &is_asynchronous, reg)).collect()
}

fn value_of(
    function: &Function,
    occurrences: &Occurrences,
    dominators: &Dominators,
    is_asynchronous: &[bool],
    reg: VReg,
) -> Option<Candidate> {
    if !matches!(function.class(reg), RegClass::B16 | RegClass::B32 | RegClass::B64) {
        return None;
    }
    let (definition, reads) = definition_and_reads(occurrences, reg)?;
    let is_plain = |occurrence: &Occurrence| {
        let operand = &function.operands(occurrence.inst)[occurrence.operand as usize];
        operand.tied.is_none()
            && !operand.flags.contains(OperandFlags::UNDEF)
            && !is_asynchronous[occurrence.inst.0 as usize]
    };
    // Constants, parameters, addresses and special registers are at hand everywhere: ptxas reads them again itself.
    let is_at_hand = function.effects(definition.inst).is_pure()
        && function.operands(definition.inst).iter().all(|operand| operand.read_reg().is_none());
    // ptxas computes a product together with the sums that read it, and no register holds it.
    let name = |inst: Inst| function.opcodes().name(function.opcode(inst));
    let is_fused =
        is_fusible_product(name(definition.inst)) && reads.iter().any(|read| is_fusible_sum(name(read.inst)));
    let is_movable = !is_at_hand
        && !is_fused
        && !function.effects(definition.inst).contains(Effects::TERMINATOR)
        && !matches!(function.role(definition.inst), Role::Undef | Role::Phi);
    let is_read = |read: &Occurrence| read.is_use() && is_plain(read) && dominates(dominators, &definition, read);
    let fits = is_movable && is_plain(&definition) && !reads.is_empty() && reads.iter().all(is_read);
    fits.then_some(Candidate { reg, definition, reads })
}
