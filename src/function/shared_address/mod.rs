//! Addresses of shared memory, as sums.
//!
//! Shared memory is addressed by 32 bits: of a register of 64 that is an address in it, the low half counts (PTX ISA,
//! "Addresses as Operands": what is wider than the addresses of the state space is truncated; ptxas computes these addresses
//! in 32 bits). So two addresses are equal if they are modulo 2³², and most of what LLVM computes in 64 bits to keep an
//! overflow apart is a plain sum.
//!
//! * [`arithmetic`]: what an instruction computes, by its name;
//! * [`known_bits`]: where a bitwise `or` is a sum, and what a shift to the right leaves of one;
//! * [`mod@definitions`]: which registers hold what one instruction computed;
//! * [`sum`]: what these hold.
//!
//! The pass that gives accesses other addresses asks here what is equal, and so does the checker.

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

/// An access to shared memory at a register and a number.
///
/// Of inline assembly the number stands in the text, of all else in the operand behind the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The number of the operand that is the base.
    pub number: u32,
    /// The base.
    pub base: VReg,
    /// The offset, in bytes.
    pub offset: i64,
}

/// The access to shared memory that an instruction is, at a register and a number; of a copy from global memory, where it
/// copies to. `None` for everything else, as accesses under a predicate.
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

/// The operand with which the address in shared memory begins. Other instructions than these, as those of barriers, want their
/// address in a register of its own.
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
