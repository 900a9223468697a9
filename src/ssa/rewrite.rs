//! Puts the copies and constants that PHI webs need into the function, which stays in SSA form.

use std::collections::HashMap;

use super::constants::Constant;
use super::isolation::{Copy, CopyOf};
use super::phis::{EndsOfPhis, Input, Phi};
use super::registers::Register;
use super::{LeftCopies, Outcome};
use crate::function::{Block, Edit, Function, Inst, Operand, Position, Role, VReg, Value};
use crate::index::IndexVec;

/// The most copies of one register at the ends of blocks that this pass writes.
///
/// LLVM's coalescer merges the result of each copy with the register that it copies, and goes through all uses of both
/// for every merge. The copies themselves are uses, so that N of them cost N² steps. PHI elimination makes the same
/// copies, and writes the PHI's own register, where there is nothing to merge. Only their order is lost.
pub(super) const MOST_COPIES: u32 = 128;

/// Writes edits, and what was done to whom.
pub(super) struct Rewriter<'a> {
    function: &'a Function,
    /// Their reads are kept up to date.
    registers: IndexVec<VReg, Register>,
    /// What debug values say instead of registers that nothing writes any more.
    lost: Vec<(VReg, Value)>,
    /// The inputs of PHIs that were asked for, by predecessor. They are only looked up, never walked.
    inputs: HashMap<Inst, Vec<Input>>,
    ends_of_phis: EndsOfPhis,
    outcome: &'a mut Outcome,
}

impl<'a> Rewriter<'a> {
    /// Nothing is written yet.
    pub(super) fn new(function: &'a Function, registers: IndexVec<VReg, Register>, outcome: &'a mut Outcome) -> Self {
        Self {
            function,
            registers,
            lost: Vec::new(),
            inputs: HashMap::new(),
            ends_of_phis: EndsOfPhis::default(),
            outcome,
        }
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
        let left = self.leave(copies);
        for &Copy { phi, copy, reason, reg, .. } in copies {
            self.outcome.report.copied.push((phi.inst, reason));
            match copy {
                CopyOf::Result => self.copy_result(phi),
                CopyOf::Input(_) if left[reg] > MOST_COPIES => {}
                CopyOf::Input(from) => self.copy_input(phi, from),
            }
        }
    }

    /// Counts the copies of each register at the ends of blocks, and reports the registers that have too many.
    fn leave(&mut self, copies: &[Copy]) -> IndexVec<VReg, u32> {
        let mut count = IndexVec::filled(0, self.function.num_regs());
        let of_inputs = || copies.iter().filter(|copy| copy.copy != CopyOf::Result);
        of_inputs().for_each(|copy| count[copy.reg] += 1);
        let mut is_reported = IndexVec::filled(false, self.function.num_regs());
        for &Copy { phi, reg, .. } in of_inputs() {
            if count[reg] > MOST_COPIES && !std::mem::replace(&mut is_reported[reg], true) {
                self.outcome.report.left.push(LeftCopies { phi: phi.inst, register: reg, copies: count[reg] });
            }
        }
        count
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
        let Some(input) = self.input(phi, from) else { return };
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
            && let Some(input) = self.input(phi, from)
        {
            let new = self.outcome.edits.create_register(self.function.class(phi.result));
            self.outcome.edits.insert_copy(Position { block: from, before: None }, new, input);
            self.redirect(phi, from, new);
        }
    }

    /// Copies the result of a PHI behind the PHIs of its block.
    fn copy_result(&mut self, phi: Phi) {
        let new = self.outcome.edits.create_register(self.function.class(phi.result));
        let place = self.place_behind_phis(phi.block);
        self.outcome.edits.insert_copy(place, phi.result, new);
        self.outcome.edits.push(Edit::SetRegister { inst: phi.inst, operand: 0, reg: new });
    }

    /// Has the inputs of a PHI from a predecessor read another register. Returns how many there are.
    fn redirect(&mut self, phi: Phi, from: Block, new: VReg) -> u32 {
        let mut redirected = 0;
        let inputs = inputs_from(&mut self.inputs, &mut self.outcome.steps, self.function, phi, from);
        for input in inputs.iter().filter(|input| input.reg.is_some()) {
            self.outcome.edits.push(Edit::SetRegister { inst: phi.inst, operand: input.operand, reg: new });
            redirected += 1;
        }
        redirected
    }

    /// The register that a PHI reads at the end of a predecessor.
    fn input(&mut self, phi: Phi, from: Block) -> Option<VReg> {
        inputs_from(&mut self.inputs, &mut self.outcome.steps, self.function, phi, from).first()?.reg
    }

    /// The place behind the PHIs of a block. In a block of nothing but PHIs and its end it is the place of inputs, too:
    /// what is put there first stands first.
    fn place_behind_phis(&mut self, block: Block) -> Position {
        let before = self.ends_of_phis.of(self.function, block, &mut self.outcome.steps);
        Position { block, before }
    }
}

/// The inputs of a PHI that come from a block, in their order. O(log inputs) where the PHI was asked for before.
fn inputs_from<'b>(
    known: &'b mut HashMap<Inst, Vec<Input>>,
    steps: &mut u64,
    function: &Function,
    phi: Phi,
    from: Block,
) -> &'b [Input] {
    let inputs = known.entry(phi.inst).or_insert_with(|| {
        let mut inputs: Vec<Input> = phi.inputs(function).collect();
        *steps += inputs.len() as u64;
        inputs.sort_by_key(|input| input.from);
        inputs
    });
    let start = inputs.partition_point(|input| input.from < from);
    let end = start + inputs[start..].iter().take_while(|input| input.from == from).count();
    *steps += 1 + (end - start) as u64;
    &inputs[start..end]
}
