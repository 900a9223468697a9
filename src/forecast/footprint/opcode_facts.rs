//! Facts of an opcode alone: how its instructions may move, and their kinds, which are counted.

use bitflags::bitflags;

use super::upper_half_use::UpperHalfUse;
use super::word_sharing::WordSharing;
use crate::function::ptx_opcode::{PtxOpcode, as_llvm};
use crate::function::{Effects, Function, Inst, MemorySpace, Role};
use crate::target::{OpcodeInfo, Purity, asks_for_registers, named_space};

/// How an instruction may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::forecast) enum Motion {
    /// A function of its operands: anywhere between them and its readers.
    Free,
    /// A load: not past stores and ordered instructions.
    Load,
    /// A store: not past loads, stores and ordered instructions.
    Store,
    /// Calls, barriers, exchanges between threads, volatile accesses, terminators: not at all.
    Ordered,
}

impl Motion {
    /// Combines the motions of two parts of an instruction. A free part does not restrict the other part. Two parts
    /// that are not free are ordered.
    pub(in crate::forecast) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Free, motion) | (motion, Self::Free) => motion,
            (Self::Load, Self::Load) => Self::Load,
            _ => Self::Ordered,
        }
    }
}

bitflags! {
    /// Kinds of instructions that are counted, by opcode alone.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(in crate::forecast) struct Kinds: u16 {
        /// An instruction that emits code: no debug value.
        const CODE = 1 << 0;
        /// Division or remainder of integers of any width.
        const DIVISION = 1 << 1;
        /// Division or remainder of 64-bit integers: a subroutine.
        const WIDE_DIVISION = 1 << 2;
        /// Division or a square root of 64-bit floating-point numbers: a subroutine.
        const DOUBLE_ROUTINE = 1 << 3;
        /// Arithmetic of 64-bit floating-point numbers.
        const DOUBLE = 1 << 4;
        /// Inline assembly.
        const ASSEMBLY = 1 << 5;
        /// An instruction that LLVM gives no name: shuffles, votes, matrix instructions.
        const EXCHANGE = 1 << 6;
        /// A call.
        const CALL = 1 << 7;
        /// A request or release of registers.
        const REPARTITION = 1 << 8;
        /// Division, reciprocal or root of 32-bit floating-point numbers at full precision: with a branch to a slow
        /// path.
        const SLOW_PATH = 1 << 9;
        /// A guarded statement of PTX.
        const GUARDED = 1 << 10;
    }
}

/// Facts of an opcode.
#[derive(Debug)]
pub(in crate::forecast) struct OpcodeSummary {
    pub(in crate::forecast) info: OpcodeInfo,
    pub(in crate::forecast) kinds: Kinds,
    /// The upper halves of sources that it reads.
    pub(super) upper_half_use: UpperHalfUse,
    /// How its results share words with its operands.
    pub(in crate::forecast) sharing: WordSharing,
}

impl OpcodeSummary {
    pub(super) fn new(name: &str, role: Role, info: OpcodeInfo) -> Self {
        let is_guarded = name.starts_with('@');
        let is_assembly = is_mostly_assembly(name);
        let name = &*as_llvm(name);
        let is_double = name.contains("f64") || name.contains("F64") || name.starts_with("FDIV64");
        let divides = ["SDIV", "UDIV", "SREM", "UREM"].iter().any(|prefix| name.starts_with(prefix));
        let mut kinds = Kinds::empty();
        kinds.set(Kinds::CODE, role != Role::Debug);
        kinds.set(Kinds::GUARDED, is_guarded);
        kinds.set(Kinds::DIVISION, divides);
        kinds.set(Kinds::WIDE_DIVISION, divides && name[4..].starts_with("64"));
        kinds
            .set(Kinds::DOUBLE_ROUTINE, name.starts_with("FDIV64") || (!divides && is_double && name.contains("SQRT")));
        kinds.set(Kinds::DOUBLE, is_double);
        kinds.set(Kinds::ASSEMBLY, info.purity == Purity::InlineAsm || is_assembly);
        kinds.set(Kinds::EXCHANGE, name.starts_with("anonymous_") || name.starts_with("shfl."));
        kinds.set(Kinds::CALL, info.purity == Purity::Call);
        kinds.set(Kinds::REPARTITION, asks_for_registers(name));
        let is_exact = name.starts_with("FDIV32") && name.ends_with("_prec") || name.starts_with("FRCP32r_prec");
        kinds.set(Kinds::SLOW_PATH, is_exact || (name.contains("SQRT") && name.contains("RN") && !is_double));
        Self { info, kinds, upper_half_use: UpperHalfUse::of(name, role), sharing: WordSharing::of(name, role, &info) }
    }
}

/// Whether programs use a PTX mnemonic mostly as inline assembly, so that the model knows it in this form.
fn is_mostly_assembly(name: &str) -> bool {
    const BASES: [&str; 7] = ["mma", "ldmatrix", "stmatrix", "movmatrix", "wgmma", "tcgen05", "cp"];
    PtxOpcode::of(name).is_some_and(|opcode| BASES.iter().any(|&base| opcode.mnemonic.split('.').next() == Some(base)))
}

/// Whether an instruction reads a parameter of the function itself, which is in constant memory for a kernel. A call's
/// results are read from the same space.
pub(in crate::forecast) fn reads_own_parameter(function: &Function, info: &OpcodeInfo, inst: Inst) -> bool {
    info.purity == Purity::Reads
        && !function.effects(inst).contains(Effects::CALL_SEQUENCE)
        && named_space(function.operands(inst)) == MemorySpace::Param
}
