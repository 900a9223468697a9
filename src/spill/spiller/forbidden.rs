//! Code of a kernel, or of a function that it calls, that rules out slots in shared memory.

use std::fmt;

use crate::function::assembly::assembly_text;
use crate::function::ptx_opcode::bases_of_addresses;
use crate::function::{Function, Inst, MemorySpace, Operand, Role, VReg, Value};
use crate::index::IndexVec;

/// Code that is unaware of slots and could access them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// It changes the number of registers.
    SetMaxNReg,
    /// It reads the size of the kernel's shared memory.
    AsksForSize,
    /// It addresses shared memory by a constant.
    NumberAsAddress,
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SetMaxNReg => "changes its number of registers by setmaxnreg",
            Self::AsksForSize => "reads the size of its shared memory",
            Self::NumberAsAddress => "addresses shared memory by a number",
        })
    }
}

impl Forbidden {
    /// Returns the first such code of a function. O(instructions).
    pub(super) fn of(function: &Function) -> Option<Self> {
        let numbers = numbers(function);
        function.insts().find_map(|inst| of_inst(function, &numbers, inst))
    }
}

/// Returns whether each register is set to a constant somewhere.
fn numbers(function: &Function) -> IndexVec<VReg, bool> {
    let mut numbers = IndexVec::filled(false, function.num_regs());
    for inst in function.insts().filter(|&inst| function.role(inst) == Role::Constant) {
        let operands = function.operands(inst);
        if operands.iter().any(|operand| matches!(operand.value, Value::Immediate(_))) {
            operands.iter().filter_map(Operand::def).for_each(|reg| numbers[reg] = true);
        }
    }
    numbers
}

/// Returns the reason for which an instruction rules slots out.
fn of_inst(function: &Function, numbers: &IndexVec<VReg, bool>, inst: Inst) -> Option<Forbidden> {
    let name = function.opcodes().name(function.opcode(inst));
    let operands = function.operands(inst);
    let text = assembly_text(function, inst).unwrap_or_default();
    let says = |word: &str| name.to_ascii_lowercase().contains(word) || text.contains(word);
    if says("setmaxn") {
        return Some(Forbidden::SetMaxNReg);
    }
    if says("smem_size") {
        return Some(Forbidden::AsksForSize);
    }
    if !matches!(function.memory_space(inst), MemorySpace::Shared | MemorySpace::SharedCluster) {
        return None;
    }
    // LLVM's loads and stores end with an address and an offset. For mnemonics of PTX, the operands that are addresses
    // are known. In other instructions that access shared memory, any operand may be an address.
    let is_number = |operand: &Operand| match operand.value {
        Value::Immediate(_) => true,
        Value::Reg(reg) => !operand.is_def() && numbers[reg],
        _ => false,
    };
    let by_number = match (bases_of_addresses(name), name.starts_with("LD") || name.starts_with("ST"), operands) {
        (Some(addresses), ..) => addresses.into_iter().any(|at| operands.get(at).is_none_or(is_number)),
        (None, true, [.., address, _]) => is_number(address),
        _ => operands.iter().any(|operand| operand.reg().is_some() && is_number(operand)),
    };
    by_number.then_some(Forbidden::NumberAsAddress)
}
