//! PTX on the CPU: what a kernel computes, and whether two programs compute the same.
//!
//! A PTX module is [decoded](decode) to a [`Program`]; a [machine] runs a launch of a kernel on [memory] in which every
//! address has a value; [`compare()`] runs two programs on the same launches. An unmodelled instruction gives a hash of
//! its inputs, or makes a launch *not comparable*, with the reason (docs/emulate.md).
//!
//! The interpreter of `src/fuzzing/ptx` shares no code with this module.

mod access;
pub(crate) mod bulk;
mod compare;
mod decode;
mod fused;
mod guide;
mod launch;
pub(crate) mod layout;
mod machine;
mod memory;
mod mnemonic;
pub(crate) mod number;
mod permitted;
pub(crate) mod product;
pub(crate) mod program;
pub(crate) mod pure;
mod ready;
mod record;
mod reference;
pub(crate) mod row;
mod run;
mod search;
pub(crate) mod source;
pub(crate) mod tensor;
#[cfg(test)]
mod tests;
mod tolerance;
mod traced;
pub(crate) mod types;
mod ways;
mod wishes;

pub use compare::{Comparison, Difference, Differing, Launched, Verdict};
pub use fused::{Preference, all_fused, approximates, fused};
pub use launch::{Argument, Launches};
pub use machine::{AccessOfWarp, AccessSpace, RACE, Step, Traffic, WarpTrace};
pub use memory::{Element, Fill, Filled};
pub use permitted::Allowed;
pub use program::Program;
pub use record::{Buffer, Parameter, Record, Values, record};
pub use reference::{Reference, compare, compare_programs};
pub use run::{Count, Coverage, Executed, Side, Store, Stores, run};
pub use source::SourceLine;
pub use traced::{Traced, trace};
pub use types::Kind;

/// Start of the buffers of pointer parameters: one buffer for each parameter, 4 GiB apart.
pub const BUFFERS: u64 = layout::BUFFERS;

use crate::ptx::Module;

/// Finds the kinds of the values in a decoded function's loads and stores.
pub(crate) fn find_kinds(function: &mut program::Function) {
    decode::find_kinds(function);
}

impl Program {
    /// Decodes a PTX module.
    pub fn new(module: &Module<'_>) -> Self {
        decode::decode(module)
    }
}
