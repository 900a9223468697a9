//! What in the code of a function forbids slots in shared memory: in a kernel, or in a function that it calls.

use std::fmt;

use crate::function::assembly::assembly_text;
use crate::function::ptx_opcode::bases_of_addresses;
use crate::function::{Function, Inst, MemorySpace, Operand, Role, VReg, Value};
use crate::index::IndexVec;

/// What code does that knows of slots nothing, and would meet them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// It changes the number of its registers.
    SetMaxNReg,
    /// It asks how much shared memory it has.
    AsksForSize,
    /// It addresses shared memory by a number.
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
    /// The first that a function does. O(instructions).
    pub(super) fn of(function: &Function) -> Option<Self> {
        let numbers = numbers(function);
        function.insts().find_map(|inst| of_inst(function, &numbers, inst))
    }
}

/// The registers that are set to a number somewhere.
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

/// Why an instruction forbids slots.
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
    // Loads and stores of LLVM end with an address and an offset, and mnemonics say which operands are addresses; of what
    // else accesses shared memory any operand may be one.
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
