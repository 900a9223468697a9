//! What machine instructions compute: each that does nothing else as functions of its operands, on all lanes of a warp.
//!
//! NVIDIA documents names alone. What stands here follows from PTX's document and from code that ptxas made of it, and
//! holds as far as experiments confirm it (docs/emulate.md). An instruction with a modifier that its family does not know
//! has no meaning here.
//!
//! * [`reading`]: operands with what is done to them ahead of an operation;
//! * [`number`]: the same for floating-point numbers, and what modifiers make of results;
//! * [`integer`], [`shift`], [`logic`], [`compare`], [`video`], [`wide`]: families of integers and bits;
//! * [`float`], [`double`], [`halves`], [`relations`], [`convert`], [`pack`], [`approximate`]: of floating-point numbers.

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
    /// The operands that take its results.
    pub(crate) to: Vec<usize>,
    /// The operands that it reads.
    pub(crate) from: Vec<usize>,
    pub(crate) pure: Pure,
}

/// The functions that an instruction computes, all from what its operands held before; `None` where it is not known, or
/// does more than compute. An instruction of the warp (`UIADD3`) computes what the one of threads does.
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
