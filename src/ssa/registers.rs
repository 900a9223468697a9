//! Definitions and reads of the registers of a function in SSA form.

use crate::function::{Function, Inst, Opcode, Operand, Role, VReg, Value};
use crate::index::IndexVec;

/// Properties of a register.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Register {
    /// Number of reads, except in debug values.
    pub(super) reads: u32,
    /// The definition of the constant that the register holds, if it holds one.
    pub(super) constant: Option<Inst>,
    /// The definition that leaves the register undefined, if there is one.
    pub(super) undefined: Option<Inst>,
    /// The register that this register copies, if any. A PHI whose inputs are all one register also copies it.
    pub(super) copied: Option<VReg>,
    /// Whether a PHI writes or reads the register. All occurrences of such registers are in the view.
    is_of_phi: bool,
    /// Whether an instruction other than a PHI reads it.
    pub(super) is_read_by_code: bool,
}

impl Register {
    /// Returns the definition of the constant that the register holds, if a PHI uses the register.
    pub(super) fn seen_constant(&self) -> Option<Inst> {
        self.constant.filter(|_| self.is_of_phi)
    }

    /// Returns the definition of the constant that the register holds, if only PHIs read the register.
    pub(super) fn constant_of_phis(&self) -> Option<Inst> {
        self.constant.filter(|_| !self.is_read_by_code)
    }
}

/// Longest chain of copies that is followed.
const CHAIN: usize = 16;

/// Returns the register at the end of a chain of copies that starts at `reg`. The chain also ends at a register that no
/// PHI uses, because the view may not have all of its occurrences.
pub(super) fn copied_from(registers: &IndexVec<VReg, Register>, reg: VReg) -> VReg {
    let mut first = reg;
    for _ in 0..CHAIN {
        let Some(source) = registers[first].copied.filter(|_| registers[first].is_of_phi) else { break };
        first = source;
    }
    first
}

/// Returns the constant that a register holds, as opcode and value, if a PHI uses the register. Equal results mean
/// equal values.
pub(super) fn constant_held(
    function: &Function,
    registers: &IndexVec<VReg, Register>,
    reg: VReg,
) -> Option<(Opcode, Value)> {
    let definition = registers[reg].seen_constant()?;
    match function.operands(definition) {
        [_, constant] => Some((function.opcode(definition), constant.value)),
        _ => None,
    }
}

/// Collects the properties of all registers of a function. One pass over the operands.
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

/// Whether one of an instruction's operands reads a register's value. An operand may have the register without reading
/// it; its value is then undefined.
pub(super) fn is_read(operands: &[Operand], reg: VReg) -> bool {
    operands.iter().any(|operand| operand.use_reg() == Some(reg))
}

fn read_by_phi(function: &Function, phi: Inst, registers: &mut IndexVec<VReg, Register>) {
    let inputs = function.operands(phi).iter().filter(|operand| operand.read_reg().is_some());
    // If the value is undefined, the PHI is no copy, whatever register the operand has.
    let source = inputs.clone().next().and_then(Operand::use_reg);
    let is_copy = inputs.clone().all(|input| input.use_reg() == source);
    for reg in inputs.filter_map(Operand::read_reg) {
        let register = &mut registers[reg];
        register.reads += 1;
        register.is_of_phi = true;
    }
    if let Some(result) = function.operands(phi).first().and_then(Operand::def) {
        registers[result].is_of_phi = true;
        registers[result].copied = source.filter(|_| is_copy);
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
        } else if role == Role::Copy {
            register.copied =
                function.as_copy(inst).map(|(_, source)| source).filter(|&source| is_read(operands, source));
        }
    }
}
