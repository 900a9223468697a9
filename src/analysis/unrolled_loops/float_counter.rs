//! Floating-point counters of loops.

use super::{Decision, UnrolledLoops};
use crate::analysis::Loop;
use crate::function::ptx_opcode::PtxOpcode;
use crate::function::{Inst, Operand, VReg, Value};

/// The floating-point counter of a loop. The loop adds a constant to the float, and an ordered comparison of the float
/// decides whether the loop continues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatCounter {
    /// The comparison that decides whether the loop continues.
    pub comparison: Inst,
    /// The bits of the float that each iteration adds or subtracts.
    pub step: u64,
    /// Width of the float: 32 or 64 bits.
    pub bits: u32,
}

impl UnrolledLoops<'_> {
    /// Returns the floating-point counter of a loop, whatever the form of its last branch. O(occurrences of the
    /// registers that the branch reads).
    pub fn float_counter(&self, this: Loop) -> Option<FloatCounter> {
        self.float_counter_of(this, &self.decision(this).ok()?)
    }

    pub(super) fn float_counter_of(&self, this: Loop, decision: &Decision) -> Option<FloatCounter> {
        let function = self.function;
        let predicate = function.operands(decision.branch).iter().find_map(Operand::read_reg)?;
        let comparison = self.only_definition_in(this, predicate)?.inst;
        let bits = ordered_bits(self.name(comparison))?;
        let mut counters = function.operands(comparison).iter().filter_map(Operand::read_reg).filter_map(|reg| {
            let definition = self.only_definition_in(this, reg)?.inst;
            let is_ahead = !decision.is_at_latch || definition < comparison;
            self.float_step(reg, definition).filter(|_| is_ahead)
        });
        let step = counters.next().filter(|_| counters.next().is_none())?;
        let is_left_alone = |reg: VReg| self.only_definition_in(this, reg).is_none();
        let others = function.operands(comparison).iter().filter_map(Operand::read_reg);
        let moved = others.filter(|&reg| !is_left_alone(reg)).count();
        (moved == 1).then_some(FloatCounter { comparison, step, bits })
    }

    /// Returns the constant that an instruction adds to a register or subtracts from it.
    fn float_step(&self, reg: VReg, definition: Inst) -> Option<u64> {
        let name = self.name(definition);
        let is_sum = match PtxOpcode::of(name) {
            Some(opcode) => {
                ["add.f", "add.rn.f", "sub.f", "sub.rn.f"].iter().any(|sum| opcode.mnemonic.starts_with(sum))
            }
            None => name.starts_with("FADD") || name.starts_with("FSUB"),
        };
        let operands = self.function.operands(definition);
        let is_itself = operands.iter().any(|operand| operand.read_reg() == Some(reg));
        let step = operands.iter().find_map(|operand| match operand.value {
            Value::Float(bits) => Some(bits),
            _ => None,
        });
        step.filter(|_| is_sum && is_itself)
    }

    fn name(&self, inst: Inst) -> &str {
        self.function.opcodes().name(self.function.opcode(inst))
    }
}

/// Returns the width of the floats that an ordered comparison compares. `None` for any other instruction.
fn ordered_bits(name: &str) -> Option<u32> {
    let Some(opcode) = PtxOpcode::of(name) else {
        let of_llvm = [("SETP_f32", 32), ("SETP_f64", 64)];
        return of_llvm.into_iter().find(|(start, _)| name.starts_with(start)).map(|(_, bits)| bits);
    };
    let mut words = opcode.mnemonic.split('.');
    let is_order =
        words.next() == Some("setp") && words.next().is_some_and(|kind| matches!(kind, "lt" | "le" | "gt" | "ge"));
    let bits = match words.next_back() {
        Some("f32") => Some(32),
        Some("f64") => Some(64),
        _ => None,
    };
    bits.filter(|_| is_order && words.all(|word| word == "ftz"))
}
