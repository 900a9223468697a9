//! What computing a value again costs, and where that pays.
//!
//! As NVIDIA's allocator is read to weigh it: against a load from the spill slot, of which three quarters are the most
//! that computing may cost. A load is taken to cost 10 cycles outside of loops, and 4 in them, where the slot stays in
//! the nearest cache.

use crate::function::ptx_opcode::PtxOpcode;
use crate::function::{Function, Inst, MemorySpace, Operand, OperandFlags, Role, Value};
use crate::target::{Classification, Purity, RematCost, named_space};

/// Cycles of a load from a spill slot outside of loops, and in them.
const LOAD: f64 = 10.0;
const LOAD_IN_LOOP: f64 = 4.0;

/// The share of a load that computing may cost.
const SHARE: f64 = 0.75;

/// What it costs to do the instructions of a function again.
pub(crate) struct Costs<'a> {
    function: &'a Function,
    classification: &'a Classification,
}

impl<'a> Costs<'a> {
    pub(crate) fn new(function: &'a Function, classification: &'a Classification) -> Self {
        Self { function, classification }
    }

    /// What it costs to do an instruction again, in instructions of the hardware; `None` where that is not to be done:
    /// it has effects, or is no matter of a few instructions, or has other than one definition, or operands that a
    /// clone cannot keep. A copy is left to the coalescer; what is undefined stays one value.
    pub(crate) fn of(&self, inst: Inst) -> Option<RematCost> {
        if !self.may_be_done_again(inst) {
            return None;
        }
        let operands = self.function.operands(inst);
        let info = self.classification.of(self.function, inst);
        // The view says that nothing writes it, and the hardware has it in constant memory.
        let spaces = [self.function.memory_space(inst), named_space(operands)];
        // A device function may write its own.
        let is_parameter =
            self.function.kernel().is_some() && info.purity == Purity::Reads && spaces.contains(&MemorySpace::Param);
        if is_parameter { Some(RematCost(1)) } else { info.remat }
    }

    /// Whether a clone of an instruction computes the same, whatever that costs.
    pub(super) fn may_be_done_again(&self, inst: Inst) -> bool {
        let operands = self.function.operands(inst);
        let is_alone = operands.iter().filter(|operand| operand.is_def()).count() == 1;
        let is_left_alone = matches!(self.function.role(inst), Role::Copy | Role::Undef);
        is_alone && operands.iter().all(is_simple) && self.function.effects(inst).is_pure() && !is_left_alone
    }

    /// Whether an instruction compares two values into one predicate, by an instruction or two of the hardware.
    pub(super) fn is_comparison(&self, inst: Inst) -> bool {
        let name = self.function.opcodes().name(self.function.opcode(inst));
        let of_ptx = PtxOpcode::of(name).filter(|opcode| !opcode.is_guarded).map(|opcode| opcode.mnemonic);
        let is_setp = name.starts_with("SETP_") || of_ptx.is_some_and(|mnemonic| mnemonic.starts_with("setp."));
        // Of doubles, few processors compare many.
        let is_quick = !name.contains("f64") && !name.contains("16x2");
        is_setp && is_quick && self.may_be_done_again(inst)
    }
}

/// Whether a clone can have the operand as it is.
fn is_simple(operand: &Operand) -> bool {
    match operand.value {
        Value::Physical(_) => false,
        _ => operand.tied.is_none() && !operand.flags.contains(OperandFlags::UNDEF),
    }
}

/// What computing anew costs, in loads from a spill slot, in so many loops; `None` where the load is better.
pub(crate) fn in_loads(cost: RematCost, loop_depth: u32) -> Option<f64> {
    let load = if loop_depth == 0 { LOAD } else { LOAD_IN_LOOP };
    Some(f64::from(cost.0) / load).filter(|&share| share < SHARE)
}

/// Whether computing anew is better than loading from a spill slot, in so many loops.
pub(super) fn pays(cost: RematCost, loop_depth: u32) -> bool {
    in_loads(cost, loop_depth).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three instructions pay outside of loops alone; eight never do.
    #[test]
    fn loads_are_cheaper_in_loops() {
        assert!(pays(RematCost(2), 1) && pays(RematCost(3), 0) && pays(RematCost(7), 0));
        assert!(!pays(RematCost(3), 1) && !pays(RematCost(8), 0));
    }
}
