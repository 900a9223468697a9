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

use super::{Function, Inst, MemorySpace, OperandFlags, Value};

/// The number of the operand that is the base of an access to shared memory: a register, with an offset behind it. `None`
/// for everything else, as accesses with two addresses or under a predicate.
pub fn base_operand(function: &Function, inst: Inst) -> Option<u32> {
    if function.memory_space(inst) != MemorySpace::Shared {
        return None;
    }
    let name = function.opcodes().name(function.opcode(inst));
    let operands = function.operands(inst);
    let is_behind = ["LD_", "ST_", "LDV_", "STV_"].iter().any(|start| name.starts_with(start))
        || name.split_once('/').is_some_and(|(mnemonic, form)| {
            // Other instructions, as those of barriers, want their address in a register of its own.
            ["ld.", "ldmatrix."].iter().any(|start| mnemonic.starts_with(start))
                && form.ends_with('a')
                && form.matches('a').count() == 1
        });
    let number = is_behind.then(|| operands.len().checked_sub(2))??;
    let (base, offset) = (&operands[number], &operands[number + 1]);
    let is_plain = base.tied.is_none() && !base.flags.intersects(OperandFlags::IMPLICIT | OperandFlags::UNDEF);
    (base.read_reg().is_some() && is_plain && matches!(offset.value, Value::Immediate(_))).then_some(number as u32)
}
