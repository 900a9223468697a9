//! The classification of LLVM 22's opcodes by name. Each rule lists names exactly (see `pattern`).
//!
//! The meanings come from LLVM's `NVPTXInstrInfo.td` and `NVPTXIntrinsics.td` and from the PTX ISA. Opcodes that are
//! not listed are [opaque](super::OpcodeInfo::UNKNOWN): GlobalISel's `G_*`, which NVPTX never selects;
//! pseudo-instructions of other targets; and the records without a name, `anonymous_N`, whose numbers change between
//! builds. The last group includes the records of `setmaxnreg`, to which the C++ shim gives the name of the instruction
//! that they print.

mod arithmetic;
mod generic;
mod memory;
mod moves;
mod synchronization;
mod tensor;
mod texture;

use super::info::OpcodeInfo;

/// Names and their classification.
#[derive(Debug)]
pub(super) struct Rule {
    /// Patterns, separated by blanks.
    pub(super) names: &'static str,
    /// The classification.
    pub(super) info: OpcodeInfo,
}

const fn rule(names: &'static str, info: OpcodeInfo) -> Rule {
    Rule { names, info }
}

/// All rules. No name is in two rules.
pub(super) const RULES: [&[Rule]; 7] = [
    generic::RULES,
    moves::RULES,
    arithmetic::RULES,
    memory::RULES,
    synchronization::RULES,
    texture::RULES,
    tensor::RULES,
];
