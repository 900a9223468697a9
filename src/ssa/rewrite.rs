//! Puts what coalescing the lowered function has left into the function, which stays in SSA form.

use super::lowering::{CopyOf, Lowered, behind_phis};
use super::phis::{Phi, Phis};
use super::{Outcome, Reason};
use crate::coalesce;
use crate::config::Config;
use crate::function::{Block, Edit, Function, Inst, Operand, Position, Role, VReg, Value};
use crate::index::IndexVec;

/// Writes the edits, and what was done to whom.
pub(super) fn rewrite(
    function: &Function,
    phis: &Phis,
    lowered: &Lowered,
    found: &coalesce::Report,
    options: &Config,
    outcome: &mut Outcome,
) {
    let mut rewriter = Rewriter { function, registers: registers(function), outcome };
    for &phi in &phis.dead {
        rewriter.delete_dead(phi);
    }
    let all = lowered.function.insts().filter(|_| !options.cssa_coalesce).map(|inst| (inst, Reason::NotTried));
    let refused = found.refused.iter().map(|&(copy, refusal)| (copy, Reason::Refused(refusal)));
    let copied: Vec<(CopyOf, Reason)> =
        refused.chain(all).filter_map(|(copy, reason)| Some((lowered.copy_of(copy)?, reason))).collect();
    // Results first, as they are lowered.
    for &(copy, reason) in &copied {
        if let CopyOf::Result(phi) = copy {
            rewriter.copy_result(phis.live[phi], reason);
        }
    }
    for &(copy, reason) in &copied {
        if let CopyOf::Input(phi, from) = copy {
            rewriter.copy_input(phis.live[phi], from, reason);
        }
    }
    for &(copy, constant) in &found.rematerialised {
        if let (Some(CopyOf::Input(phi, from)), Some(constant)) = (lowered.copy_of(copy), lowered.before(constant)) {
            rewriter.write_constant(phis.live[phi], from, constant);
        }
    }
    rewriter.settle_debug_values();
}

/// What is known of a register.
#[derive(Clone, Copy, Debug, Default)]
struct Register {
    /// How often it is read with the edits so far, debug values aside.
    reads: u32,
    /// The constant that it holds, by its definition.
    constant: Option<Inst>,
    /// What debug values say instead, where nothing writes it any more.
    lost: Option<Value>,
}

fn registers(function: &Function) -> IndexVec<VReg, Register> {
    let mut registers = IndexVec::filled(Register::default(), function.num_regs());
    for inst in function.insts().filter(|&inst| function.role(inst) != Role::Debug) {
        for operand in function.operands(inst) {
            let Some(reg) = operand.reg() else { continue };
            if !operand.is_def() {
                registers[reg].reads += 1;
            } else if function.role(inst) == Role::Constant {
                registers[reg].constant = Some(inst);
            }
        }
    }
    registers
}

struct Rewriter<'a> {
    function: &'a Function,
    registers: IndexVec<VReg, Register>,
    outcome: &'a mut Outcome,
}

impl Rewriter<'_> {
    fn delete_dead(&mut self, phi: Phi) {
        self.outcome.edits.push(Edit::Delete { inst: phi.inst });
        self.outcome.report.dead.push(phi.inst);
        self.registers[phi.result].lost = Some(Value::NoReg);
    }

    /// Has a PHI read a constant that is written at the end of a predecessor. Where nobody else reads the constant, it is
    /// not written where it was.
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
        let register = &mut self.registers[input];
        register.reads -= redirected;
        if let (0, Some(own)) = (register.reads, own) {
            register.lost = Some(self.function.described_constant(own));
            self.outcome.edits.push(Edit::Delete { inst: own });
        }
    }

    /// Copies the input of a PHI at the end of a predecessor. Where that may also go elsewhere the copy is left to PHI
    /// elimination, which can split the edge.
    fn copy_input(&mut self, phi: Phi, from: Block, reason: Reason) {
        self.outcome.report.copied.push((phi.inst, reason));
        if self.function.succs(from).len() == 1
            && let Some(input) = input(self.function, phi, from)
        {
            let new = self.outcome.edits.create_register(self.function.class(phi.result));
            self.outcome.edits.insert_copy(Position { block: from, before: None }, new, input);
            self.redirect(phi, from, new);
        }
    }

    /// Copies the result of a PHI behind the PHIs of its block.
    fn copy_result(&mut self, phi: Phi, reason: Reason) {
        self.outcome.report.copied.push((phi.inst, reason));
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

    /// Debug values of registers that nothing writes any more describe what these would hold.
    fn settle_debug_values(&mut self) {
        if self.registers.iter().all(|register| register.lost.is_none()) {
            return;
        }
        let function = self.function;
        for inst in function.insts().filter(|&inst| function.role(inst) == Role::Debug) {
            let mut registers = function.operands(inst).iter().filter_map(Operand::use_reg);
            if let Some(value) = registers.find_map(|reg| self.registers[reg].lost) {
                self.outcome.edits.push(Edit::SetDebugValue { inst, value: function.describable(inst, value) });
            }
        }
    }
}

/// The register that a PHI reads at the end of a predecessor.
fn input(function: &Function, phi: Phi, from: Block) -> Option<VReg> {
    phi.inputs(function).find(|input| input.from == from).and_then(|input| input.reg)
}
