//! Who writes and reads a register of a function in SSA form.

use crate::function::{Function, Inst, Operand, Role, VReg};
use crate::index::IndexVec;

/// What is known of a register.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Register {
    /// How often it is read, debug values aside.
    pub(super) reads: u32,
    /// The constant that it holds, by its definition.
    pub(super) constant: Option<Inst>,
    /// The definition that says that its value is arbitrary.
    pub(super) undefined: Option<Inst>,
    /// Something other than a PHI reads it.
    pub(super) is_read_by_code: bool,
    /// The first PHI that reads it.
    phi: Option<Inst>,
    is_read_by_several_phis: bool,
}

impl Register {
    /// The constant's definition, where nothing but PHIs reads it, and several do.
    pub(super) fn shared_constant(&self) -> Option<Inst> {
        self.constant.filter(|_| self.is_read_by_several_phis && !self.is_read_by_code)
    }
}

/// All registers of a function. One pass over the operands.
pub(super) fn registers(function: &Function) -> IndexVec<VReg, Register> {
    let mut registers = IndexVec::filled(Register::default(), function.num_regs());
    for inst in function.insts() {
        match function.role(inst) {
            Role::Debug => {}
            Role::Phi => read_by_phi(function, inst, &mut registers),
            role => read_by_code(function, inst, role, &mut registers),
        }
    }
    registers
}

fn read_by_phi(function: &Function, phi: Inst, registers: &mut IndexVec<VReg, Register>) {
    for reg in function.operands(phi).iter().filter_map(Operand::read_reg) {
        let register = &mut registers[reg];
        register.reads += 1;
        let first = *register.phi.get_or_insert(phi);
        register.is_read_by_several_phis |= first != phi;
    }
}

fn read_by_code(function: &Function, inst: Inst, role: Role, registers: &mut IndexVec<VReg, Register>) {
    let operands = function.operands(inst);
    for operand in operands {
        let Some(reg) = operand.reg() else { continue };
        let register = &mut registers[reg];
        if !operand.is_def() {
            register.reads += 1;
            register.is_read_by_code |= operand.use_reg().is_some();
        } else if role == Role::Constant {
            register.constant = Some(inst);
        } else if role == Role::Undef && operands.len() == 1 {
            register.undefined = Some(inst);
        }
    }
}
