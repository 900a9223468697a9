//! The dispatch of an instruction to the family that lowers it.

use super::super::instruction::Instruction;
use super::Refusal;
use super::lowerer::Lowerer;

impl Lowerer<'_> {
    /// Lowers an instruction.
    pub(super) fn instruction(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        self.guard = instruction.guard.and_then(|guard| self.guard_of(guard));
        let is_known = self.computed(instruction)?
            || {
                self.is_uniform = false;
                self.memory(instruction)?
            }
            || self.control(instruction)?
            || self.convergence(instruction)?
            || self.of_warp(instruction)?
            || self.matrix(instruction)?
            || self.group(instruction)?
            || self.mbarrier(instruction)?
            || self.bulk(instruction)?
            || self.predicates(instruction)?
            || self.atomic(instruction)?;
        if is_known { Ok(()) } else { Err("unknown instruction".into()) }
    }
}
