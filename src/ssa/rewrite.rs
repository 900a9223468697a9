//! Puts the copies and constants that PHI webs need into the function, which stays in SSA form.

use super::Outcome;
use super::constants::Constant;
use super::isolation::{Copy, CopyOf};
use super::phis::Phi;
use super::registers::Register;
use crate::function::{Block, Edit, Function, Inst, Operand, Position, Role, VReg, Value};
use crate::index::IndexVec;

/// Writes edits, and what was done to whom.
pub(super) struct Rewriter<'a> {
    function: &'a Function,
    /// Their reads are kept up to date.
    registers: IndexVec<VReg, Register>,
    /// What debug values say instead of registers that nothing writes any more.
    lost: Vec<(VReg, Value)>,
    outcome: &'a mut Outcome,
}

impl<'a> Rewriter<'a> {
    /// Nothing is written yet.
    pub(super) fn new(function: &'a Function, registers: IndexVec<VReg, Register>, outcome: &'a mut Outcome) -> Self {
        Self { function, registers, lost: Vec::new(), outcome }
    }

    /// Deletes PHIs that nobody reads.
    pub(super) fn delete_dead(&mut self, phis: &[Phi]) {
        for phi in phis {
            self.outcome.edits.push(Edit::Delete { inst: phi.inst });
            self.outcome.report.dead.push(phi.inst);
            self.lost.push((phi.result, Value::NoReg));
        }
    }

    /// Has what reads PHIs read the registers that stand for them.
    pub(super) fn replace(&mut self, phis: &[(Phi, VReg)]) {
        for &(phi, into) in phis {
            self.outcome.edits.push(Edit::Delete { inst: phi.inst });
            self.outcome.edits.push(Edit::Merge { from: phi.result, into });
            self.outcome.report.replaced.push(phi.inst);
            phi.inputs(self.function).filter_map(|input| input.reg).for_each(|reg| self.forget_reads(reg, 1));
        }
    }

    /// Writes constants where the PHIs read them.
    pub(super) fn write_constants(&mut self, constants: &[Constant]) {
        constants.iter().for_each(|constant| self.write_constant(constant.phi, constant.from, constant.definition));
    }

    /// Writes the copies that isolated PHIs are left with.
    pub(super) fn copy(&mut self, copies: &[Copy]) {
        for &Copy { phi, copy, reason, .. } in copies {
            self.outcome.report.copied.push((phi.inst, reason));
            match copy {
                CopyOf::Result => self.copy_result(phi),
                CopyOf::Input(from) => self.copy_input(phi, from),
            }
        }
    }

    /// Debug values of registers that nothing writes any more describe what these would hold.
    pub(super) fn settle_debug_values(self) {
        if self.lost.is_empty() {
            return;
        }
        let function = self.function;
        let mut lost = IndexVec::filled(None, function.num_regs());
        self.lost.into_iter().for_each(|(reg, value)| lost[reg] = Some(value));
        for inst in function.insts().filter(|&inst| function.role(inst) == Role::Debug) {
            let mut registers = function.operands(inst).iter().filter_map(Operand::use_reg);
            if let Some(value) = registers.find_map(|reg| lost[reg]) {
                self.outcome.edits.push(Edit::SetDebugValue { inst, value: function.describable(inst, value) });
            }
        }
    }

    /// Has a PHI read a constant that is written at the end of a predecessor. Where nobody else reads the constant, it
    /// is not written where it was.
    fn write_constant(&mut self, phi: Phi, from: Block, constant: Inst) {
        let Some(input) = input(self.function, phi, from) else { return };
        let Register { reads, constant: own, .. } = self.registers[input];
        // One that stands there for this PHI alone would only be written anew.
        if reads == 1 && own.is_some_and(|own| self.function.block_of(own) == from) {
            return;
        }
        let new = self.outcome.edits.create_register(self.function.class(phi.result));
        self.outcome.edits.insert_clone(Position { block: from, before: None }, constant, new);
        self.outcome.report.constants.push(phi.inst);
        let redirected = self.redirect(phi, from, new);
        self.forget_reads(input, redirected);
    }

    /// So many reads of a register are gone; a constant that nobody reads is not written.
    fn forget_reads(&mut self, reg: VReg, reads: u32) {
        let register = &mut self.registers[reg];
        register.reads -= reads;
        if let (0, Some(own)) = (register.reads, register.seen_constant()) {
            self.lost.push((reg, self.function.described_constant(own)));
            self.outcome.edits.push(Edit::Delete { inst: own });
        }
    }

    /// Copies the input of a PHI at the end of a predecessor. Where that may also go elsewhere the copy is left to PHI
    /// elimination, which can split the edge.
    fn copy_input(&mut self, phi: Phi, from: Block) {
        if self.function.succs(from).len() == 1
            && let Some(input) = input(self.function, phi, from)
        {
            let new = self.outcome.edits.create_register(self.function.class(phi.result));
            self.outcome.edits.insert_copy(Position { block: from, before: None }, new, input);
            self.redirect(phi, from, new);
        }
    }

    /// Copies the result of a PHI behind the PHIs of its block.
    fn copy_result(&mut self, phi: Phi) {
        let new = self.outcome.edits.create_register(self.function.class(phi.result));
        self.outcome.edits.insert_copy(behind_phis(self.function, phi.block), phi.result, new);
        self.outcome.edits.push(Edit::SetRegister { inst: phi.inst, operand: 0, reg: new });
    }

    /// Has the inputs of a PHI from a predecessor read another register. Returns how many there are.
    fn redirect(&mut self, phi: Phi, from: Block, new: VReg) -> u32 {
        let inputs = phi.inputs(self.function).filter(|input| input.from == from && input.reg.is_some());
        inputs
            .map(|input| {
                self.outcome.edits.push(Edit::SetRegister { inst: phi.inst, operand: input.operand, reg: new });
            })
            .count() as u32
    }
}

/// The register that a PHI reads at the end of a predecessor.
fn input(function: &Function, phi: Phi, from: Block) -> Option<VReg> {
    phi.inputs(function).find(|input| input.from == from).and_then(|input| input.reg)
}

/// The place behind the PHIs of a block. In a block of nothing but PHIs and its end it is the place of inputs, too:
/// what is put there first stands first.
fn behind_phis(function: &Function, block: Block) -> Position {
    Position { block, before: function.block_insts(block).find(|&inst| function.role(inst) != Role::Phi) }
}
