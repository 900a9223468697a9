//! Cost of rematerialising a value, and the condition under which rematerialisation pays.
//!
//! The rule is understood to be that of NVIDIA's allocator: rematerialisation must cost less than three quarters of a
//! load from the spill slot. A load counts as 10 cycles outside of loops, and as 4 cycles in loops, where the slot
//! stays in the nearest cache.

use crate::function::ptx_opcode::PtxOpcode;
use crate::function::{Function, Inst, MemorySpace, Operand, OperandFlags, Role, Value};
use crate::target::{Classification, Purity, RematCost, named_space};

/// Cycles of a load from a spill slot outside of loops, and in loops.
const LOAD: f64 = 10.0;
const LOAD_IN_LOOP: f64 = 4.0;

/// Rematerialisation must cost less than this share of a load's cost.
const SHARE: f64 = 0.75;

/// Costs of repeating the instructions of a function.
pub(crate) struct Costs<'a> {
    function: &'a Function,
    classification: &'a Classification,
}

impl<'a> Costs<'a> {
    pub(crate) fn new(function: &'a Function, classification: &'a Classification) -> Self {
        Self { function, classification }
    }

    /// Returns the cost of repeating an instruction, in instructions of the hardware. `None` if the instruction must
    /// not be repeated: it has effects, takes more than a few instructions, does not have exactly one definition, or
    /// has operands that a clone cannot keep. Copies are not repeated, because the coalescer handles them. Undefined
    /// values are not repeated, so that each stays a single value.
    pub(crate) fn of(&self, inst: Inst) -> Option<RematCost> {
        if !self.may_be_done_again(inst) {
            return None;
        }
        let operands = self.function.operands(inst);
        let info = self.classification.of(self.function, inst);
        // The view proves that no instruction writes the memory. The hardware has it in constant memory.
        let spaces = [self.function.memory_space(inst), named_space(operands)];
        // A device function may write its own parameters.
        let is_parameter =
            self.function.kernel().is_some() && info.purity == Purity::Reads && spaces.contains(&MemorySpace::Param);
        if is_parameter { Some(RematCost(1)) } else { info.remat }
    }

    /// Whether a clone of an instruction computes the same value. The cost does not matter.
    pub(super) fn may_be_done_again(&self, inst: Inst) -> bool {
        let operands = self.function.operands(inst);
        let is_alone = operands.iter().filter(|operand| operand.is_def()).count() == 1;
        let is_left_alone = matches!(self.function.role(inst), Role::Copy | Role::Undef);
        is_alone && operands.iter().all(is_simple) && self.function.effects(inst).is_pure() && !is_left_alone
    }

    /// Whether an instruction compares two values into one predicate, with one or two instructions of the hardware.
    pub(super) fn is_comparison(&self, inst: Inst) -> bool {
        let name = self.function.opcodes().name(self.function.opcode(inst));
        let of_ptx = PtxOpcode::of(name).filter(|opcode| !opcode.is_guarded).map(|opcode| opcode.mnemonic);
        let is_setp = name.starts_with("SETP_") || of_ptx.is_some_and(|mnemonic| mnemonic.starts_with("setp."));
        // Few GPUs have a high throughput for comparisons of doubles.
        let is_quick = !name.contains("f64") && !name.contains("16x2");
        is_setp && is_quick && self.may_be_done_again(inst)
    }
}

/// Whether a clone can keep the operand.
fn is_simple(operand: &Operand) -> bool {
    match operand.value {
        Value::Physical(_) => false,
        _ => operand.tied.is_none() && !operand.flags.contains(OperandFlags::UNDEF),
    }
}

/// Returns the cost of rematerialisation in loads from a spill slot at a loop depth; `None` if the load is cheaper.
pub(crate) fn in_loads(cost: RematCost, loop_depth: u32) -> Option<f64> {
    let load = if loop_depth == 0 { LOAD } else { LOAD_IN_LOOP };
    Some(f64::from(cost.0) / load).filter(|&share| share < SHARE)
}

/// Whether rematerialisation is cheaper than a load from a spill slot at a loop depth.
pub(super) fn pays(cost: RematCost, loop_depth: u32) -> bool {
    in_loads(cost, loop_depth).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three instructions pay only outside of loops; eight never do.
    #[test]
    fn loads_are_cheaper_in_loops() {
        assert!(pays(RematCost(2), 1) && pays(RematCost(3), 0) && pays(RematCost(7), 0));
        assert!(!pays(RematCost(3), 1) && !pays(RematCost(8), 0));
    }
}
