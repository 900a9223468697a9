//! Inserts the copies and constants that PHI webs need into the function, which stays in SSA form.

use std::collections::HashMap;

use super::constants::Constant;
use super::isolation::{Copy, CopyOf};
use super::phis::{EndsOfPhis, Input, Phi};
use super::registers::Register;
use super::{LeftCopies, Outcome};
use crate::function::{Block, Edit, Function, Inst, Operand, Position, Role, VReg, Value};
use crate::index::IndexVec;

/// Most copies of one register at the ends of blocks that this pass inserts.
///
/// For every copy, LLVM's coalescer merges the copy's result with its source and visits all uses of both. The copies
/// themselves are uses, so N copies of a register cost N² steps. PHI elimination inserts the same copies, but they
/// write the PHI's own register, so there is nothing to merge. Only the order of this pass's copies is lost.
pub(super) const MOST_COPIES: u32 = 128;

/// Adds edits to the outcome, and reports them by PHI.
pub(super) struct Rewriter<'a> {
    function: &'a Function,
    /// Properties of the registers. Numbers of reads change with the edits.
    registers: IndexVec<VReg, Register>,
    /// Registers that are no longer written, with the values that debug values show instead.
    lost: Vec<(VReg, Value)>,
    /// Inputs of PHIs that were queried, by predecessor. They are only looked up, never iterated.
    inputs: HashMap<Inst, Vec<Input>>,
    ends_of_phis: EndsOfPhis,
    outcome: &'a mut Outcome,
}

impl<'a> Rewriter<'a> {
    /// Creates a rewriter without any edits.
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

    /// Deletes PHIs that are never read.
    pub(super) fn delete_dead(&mut self, phis: &[Phi]) {
        for phi in phis {
            self.outcome.edits.push(Edit::Delete { inst: phi.inst });
            self.outcome.report.dead.push(phi.inst);
            self.lost.push((phi.result, Value::NoReg));
        }
    }

    /// Replaces reads of PHIs by reads of the registers that replace them.
    pub(super) fn replace(&mut self, phis: &[(Phi, VReg)]) {
        for &(phi, into) in phis {
            self.outcome.edits.push(Edit::Delete { inst: phi.inst });
            self.outcome.edits.push(Edit::Merge { from: phi.result, into });
            self.outcome.report.replaced.push(phi.inst);
            phi.inputs(self.function).filter_map(|input| input.reg).for_each(|reg| self.forget_reads(reg, 1));
        }
    }

    /// Inserts constants at the places where the PHIs read them.
    pub(super) fn write_constants(&mut self, constants: &[Constant]) {
        constants.iter().for_each(|constant| self.write_constant(constant.phi, constant.from, constant.definition));
    }

    /// Inserts the remaining copies of isolated PHIs.
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

    /// Counts the copies of each register at the ends of blocks. Reports the registers with more than [`MOST_COPIES`].
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

    /// Updates debug values of registers that are no longer written. They show the value that the register would hold.
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

    /// Inserts a constant at the end of a predecessor, and makes a PHI read this constant. If the old definition has no
    /// other reader, it is removed.
    fn write_constant(&mut self, phi: Phi, from: Block, constant: Inst) {
        let Some(input) = self.input(phi, from) else { return };
        let Register { reads, constant: own, .. } = self.registers[input];
        // A constant that is already defined in this block for only this PHI stays as it is.
        if reads == 1 && own.is_some_and(|own| self.function.block_of(own) == from) {
            return;
        }
        let new = self.outcome.edits.create_register(self.function.class(phi.result));
        self.outcome.edits.insert_clone(Position { block: from, before: None }, constant, new);
        self.outcome.report.constants.push(phi.inst);
        let redirected = self.redirect(phi, from, new);
        self.forget_reads(input, redirected);
    }

    /// Subtracts reads of a register. If no read of a constant is left, the constant is removed.
    fn forget_reads(&mut self, reg: VReg, reads: u32) {
        let register = &mut self.registers[reg];
        register.reads -= reads;
        if let (0, Some(own)) = (register.reads, register.seen_constant()) {
            self.lost.push((reg, self.function.described_constant(own)));
            self.outcome.edits.push(Edit::Delete { inst: own });
        }
    }

    /// Copies the input of a PHI at the end of a predecessor. If the predecessor has other successors, the copy is left
    /// to PHI elimination, which can split the edge.
    fn copy_input(&mut self, phi: Phi, from: Block) {
        if self.function.succs(from).len() == 1
            && let Some(input) = self.input(phi, from)
        {
            let new = self.outcome.edits.create_register(self.function.class(phi.result));
            self.outcome.edits.insert_copy(Position { block: from, before: None }, new, input);
            self.redirect(phi, from, new);
        }
    }

    /// Copies the result of a PHI after the PHIs of its block.
    fn copy_result(&mut self, phi: Phi) {
        let new = self.outcome.edits.create_register(self.function.class(phi.result));
        let place = self.place_behind_phis(phi.block);
        self.outcome.edits.insert_copy(place, phi.result, new);
        self.outcome.edits.push(Edit::SetRegister { inst: phi.inst, operand: 0, reg: new });
    }

    /// Makes the inputs of a PHI from a predecessor read another register. Returns the number of inputs.
    fn redirect(&mut self, phi: Phi, from: Block, new: VReg) -> u32 {
        let mut redirected = 0;
        let inputs = inputs_from(&mut self.inputs, &mut self.outcome.steps, self.function, phi, from);
        for input in inputs.iter().filter(|input| input.reg.is_some()) {
            self.outcome.edits.push(Edit::SetRegister { inst: phi.inst, operand: input.operand, reg: new });
            redirected += 1;
        }
        redirected
    }

    /// Returns the register that a PHI reads from a predecessor.
    fn input(&mut self, phi: Phi, from: Block) -> Option<VReg> {
        inputs_from(&mut self.inputs, &mut self.outcome.steps, self.function, phi, from).first()?.reg
    }

    /// Returns the position after the PHIs of a block. In a block with only PHIs and terminators, it is also the
    /// position of input copies. Copies at one position keep the order of insertion.
    fn place_behind_phis(&mut self, block: Block) -> Position {
        let before = self.ends_of_phis.of(self.function, block, &mut self.outcome.steps);
        Position { block, before }
    }
}

/// Returns the inputs of a PHI that come from a block, in the order of operands. O(log inputs) if the PHI was queried
/// before.
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
