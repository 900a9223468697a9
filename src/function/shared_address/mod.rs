//! Addresses of shared memory, as sums.
//!
//! Shared-memory addresses have 32 bits. If a 64-bit register holds one, only its low half counts (PTX ISA, "Addresses
//! as Operands": an address wider than the state space's addresses is truncated; ptxas computes these addresses in 32
//! bits). Two addresses are therefore equal if they are equal modulo 2³². LLVM computes in 64 bits mostly to avoid an
//! overflow. Modulo 2³², these computations are plain sums.
//!
//! * [`arithmetic`]: the arithmetic of an instruction, by its name;
//! * [`known_bits`]: determines when a bitwise `or` is a sum, and the result of shifting a sum to the right;
//! * [`mod@definitions`]: the registers that hold the result of one instruction;
//! * [`sum`]: the sums that these registers hold.
//!
//! The pass that rewrites shared addresses and the checker both use this module to decide whether two addresses are
//! equal.

mod arithmetic;
mod definitions;
mod known_bits;
mod sum;
#[cfg(test)]
mod tests;

pub use definitions::definitions;
pub use sum::{Sum, Sums};

use super::assembly::{changeable_text, operand_of, shared_access, takes_offset};
use super::ptx_opcode::{PtxOpcode, bases_of_addresses};
use super::{Function, Inst, MemorySpace, Operand, OperandFlags, VReg, Value};

/// An access to shared memory at a register plus an offset.
///
/// In inline assembly, the offset is part of the text. Otherwise, it is the operand after the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The index of the operand that is the base.
    pub number: u32,
    /// The base register.
    pub base: VReg,
    /// The offset, in bytes.
    pub offset: i64,
}

/// Returns the access of an instruction to shared memory at a register plus an offset. In a copy from global memory,
/// this is the destination. `None` for all other instructions, including accesses under a predicate.
pub fn access(function: &Function, inst: Inst) -> Option<Access> {
    if let Some(text) = changeable_text(function, inst) {
        let said = shared_access(text)?;
        let number = operand_of(function.operands(inst), said.operand)?;
        let base = base_of(&function.operands(inst)[number])?;
        return Some(Access { number: number as u32, base, offset: said.offset });
    }
    let number = address_of(function, inst)?;
    let [base, offset] = function.operands(inst).get(number..number + 2)? else { return None };
    match (base_of(base), offset.value) {
        (Some(base), Value::Immediate(offset)) => Some(Access { number: number as u32, base, offset }),
        _ => None,
    }
}

/// Returns the index of the operand at which the shared address begins. `None` for other instructions, for example
/// those of barriers, which need the address in a single register.
fn address_of(function: &Function, inst: Inst) -> Option<usize> {
    let name = function.opcodes().name(function.opcode(inst));
    if ["CP_ASYNC_CA_SHARED_GLOBAL_", "CP_ASYNC_CG_SHARED_GLOBAL_"].iter().any(|start| name.starts_with(start)) {
        return Some(0);
    }
    let is_shared = function.memory_space(inst) == MemorySpace::Shared;
    if ["LD_", "ST_", "LDV_", "STV_"].iter().any(|start| name.starts_with(start)) {
        return function.operands(inst).len().checked_sub(2).filter(|_| is_shared);
    }
    let opcode = PtxOpcode::of(name).filter(|opcode| !opcode.is_guarded && takes_offset(opcode.mnemonic))?;
    let is_copy = opcode.mnemonic.starts_with("cp.async.") && opcode.mnemonic.contains(".shared");
    bases_of_addresses(name)?.first().copied().filter(|_| is_shared || is_copy)
}

fn base_of(operand: &Operand) -> Option<VReg> {
    let is_plain = operand.tied.is_none() && !operand.flags.intersects(OperandFlags::IMPLICIT | OperandFlags::UNDEF);
    operand.read_reg().filter(|_| is_plain)
}
