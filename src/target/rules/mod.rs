//! The opcodes of LLVM 22, by name: each rule lists names exactly (see `pattern`) and says what they are.
//!
//! Meanings come from LLVM's `NVPTXInstrInfo.td` and `NVPTXIntrinsics.td` and from the PTX ISA. Not listed, and so
//! [opaque](super::OpcodeInfo::UNKNOWN): GlobalISel's `G_*`, which NVPTX never selects; pseudo-instructions of other
//! targets; and the records without a name, `anonymous_N`, whose numbers move from build to build, with those of
//! `setmaxnreg`, which the shim calls by what they print.

mod arithmetic;
mod generic;
mod memory;
mod moves;
mod synchronization;
mod tensor;
mod texture;

use super::info::OpcodeInfo;

/// Names, and what they are.
#[derive(Debug)]
pub(super) struct Rule {
    /// Patterns, separated by blanks.
    pub(super) names: &'static str,
    /// What they are.
    pub(super) info: OpcodeInfo,
}

const fn rule(names: &'static str, info: OpcodeInfo) -> Rule {
    Rule { names, info }
}

/// All rules. No name stands in two of them.
pub(super) const RULES: [&[Rule]; 7] = [
    generic::RULES,
    moves::RULES,
    arithmetic::RULES,
    memory::RULES,
    synchronization::RULES,
    texture::RULES,
    tensor::RULES,
];
