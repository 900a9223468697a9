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

use super::{Function, Inst, MemorySpace, OperandFlags, VReg, Value};

/// An access to shared memory at a register and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The number of the operand that is the base; the next one is the offset.
    pub number: u32,
    /// The base.
    pub base: VReg,
    /// The offset, in bytes.
    pub offset: i64,
}

/// The access to shared memory that an instruction is, at a register with an offset behind it. `None` for everything else,
/// as accesses with two addresses or under a predicate.
pub fn access(function: &Function, inst: Inst) -> Option<Access> {
    if function.memory_space(inst) != MemorySpace::Shared {
        return None;
    }
    let name = function.opcodes().name(function.opcode(inst));
    let is_behind = ["LD_", "ST_", "LDV_", "STV_"].iter().any(|start| name.starts_with(start))
        || name.split_once('/').is_some_and(|(mnemonic, form)| {
            // Other instructions, as those of barriers, want their address in a register of its own.
            ["ld.", "ldmatrix."].iter().any(|start| mnemonic.starts_with(start))
                && form.ends_with('a')
                && form.matches('a').count() == 1
        });
    let [before @ .., base, offset] = function.operands(inst) else { return None };
    let is_plain = base.tied.is_none() && !base.flags.intersects(OperandFlags::IMPLICIT | OperandFlags::UNDEF);
    match (base.read_reg(), offset.value) {
        (Some(base), Value::Immediate(offset)) if is_behind && is_plain => {
            Some(Access { number: before.len() as u32, base, offset })
        }
        _ => None,
    }
}
