//! The semantics of machine instructions that only compute: functions of their operands, on all lanes of a warp.
//!
//! NVIDIA documents only the names. These semantics follow from the PTX document and from ptxas's code for it. They
//! hold as far as experiments confirm them (docs/emulate.md). An instruction with a modifier that its family does not
//! know has no semantics here.
//!
//! * [`reading`]: operands with their modifiers;
//! * [`number`]: floating-point operands, and modifiers of results;
//! * [`integer`], [`shift`], [`logic`], [`compare`], [`video`], [`wide`]: families of integers and bits;
//! * [`float`], [`double`], [`halves`], [`relations`], [`convert`], [`pack`], [`approximate`]: families of
//!   floating-point numbers.

mod approximate;
mod compare;
mod convert;
mod double;
mod float;
mod halves;
mod integer;
mod logic;
mod number;
mod pack;
pub(crate) mod reading;
mod relations;
mod shift;
#[cfg(test)]
mod tests;
mod video;
mod wide;

pub use approximate::Approximation;

use super::instruction::Instruction;
use crate::emulate::pure::Pure;

/// A function of operands.
#[derive(Debug)]
pub(crate) struct Function {
    /// The operands that receive the results.
    pub(crate) to: Vec<usize>,
    /// The operands that it reads.
    pub(crate) from: Vec<usize>,
    pub(crate) pure: Pure,
}

/// Returns the functions that an instruction computes. All of them read the old values of the operands. `None` if the
/// semantics are unknown, or if the instruction does more than compute. A uniform instruction (`UIADD3`) computes the
/// same as the instruction for threads.
pub(crate) fn find(instruction: &Instruction, approximation: Approximation) -> Option<Vec<Function>> {
    let word = instruction.word();
    let word = match word.strip_prefix('U') {
        Some(rest) if !rest.is_empty() => rest,
        _ => word,
    };
    integer::find(instruction, word)
        .or_else(|| wide::find(instruction, word))
        .or_else(|| shift::find(instruction, word))
        .or_else(|| logic::find(instruction, word))
        .or_else(|| compare::find(instruction, word))
        .or_else(|| float::find(instruction, word))
        .or_else(|| double::find(instruction, word))
        .or_else(|| halves::find(instruction, word))
        .or_else(|| relations::find(instruction, word))
        .or_else(|| convert::find(instruction, word))
        .or_else(|| pack::find(instruction, word))
        .or_else(|| video::find(instruction, word))
        .or_else(|| approximate::find(instruction, word, approximation))
}
