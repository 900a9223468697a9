//! PTX run on the CPU: what a kernel computes, and whether two programs compute the same.
//!
//! A file is [decoded](decode) to a [`Program`]; a [machine] runs a launch of a kernel on [memory] in which every address
//! has a value; [`compare()`] runs two programs on the same launches. What is not modelled is a hash of its inputs, or makes
//! a launch *not comparable*, with the reason (docs/emulate.md).
//!
//! The interpreter of `src/fuzzing/ptx` shares nothing with this room.

mod compare;
mod decode;
mod guide;
mod launch;
mod layout;
mod machine;
mod memory;
mod mnemonic;
mod number;
mod product;
mod program;
mod pure;
mod ready;
mod record;
mod reference;
mod row;
mod run;
mod search;
mod source;
#[cfg(test)]
mod tests;
mod tolerance;
mod types;
mod ways;
mod wishes;

pub use compare::{Comparison, Difference, Differing, Launched, Verdict};
pub use launch::{Argument, Launches};
pub use machine::RACE;
pub use program::Program;
pub use record::{Buffer, Parameter, Record, Values, record};
pub use reference::{Reference, compare, compare_programs};
pub use run::{Coverage, Executed, Side, Store, Stores, run};
pub use source::SourceLine;
pub use types::Kind;

use crate::ptx::Module;

impl Program {
    /// Decodes a file.
    pub fn new(module: &Module<'_>) -> Self {
        decode::decode(module)
    }
}
