//! How an opcode's results share words with its operands.

use crate::function::Role;
use crate::target::{CopyFamily, OpcodeInfo};

/// How an opcode's results share words with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::forecast) enum WordSharing {
    /// No sharing: results are computed, or read from memory.
    Nothing,
    /// Results occupy no words: constants, addresses, parameters.
    Constants,
    /// The results are the source.
    Source,
    /// The sources are parts of the result.
    Parts,
    /// The results are parts of the source.
    Whole,
    /// The result is this part of the source.
    Part(u8),
    /// The source's word, and zero above it.
    ZeroExtended,
    /// The source's lower word, and a computed word above it.
    Lower,
    /// The words that the mask, the second source, leaves.
    Masked,
    /// The lower word becomes the upper if the second source shifts by 32.
    ShiftedUp,
    /// The upper word becomes the lower if the second source shifts by 32.
    ShiftedDown,
    /// A word of one source if the same word of the other source is zero.
    Combined,
    /// The results are the source if they are only addresses: the access adds the constant.
    Offset,
    /// No sharing; the upper word of a zero-extending load occupies no register.
    Loaded,
}

impl WordSharing {
    /// Whether the instruction executes nothing: a constant, or a copy.
    pub(in crate::forecast) fn is_free(self) -> bool {
        matches!(self, Self::Constants | Self::Source)
    }

    /// Determines the sharing from an opcode's name, role and family.
    pub(super) fn of(name: &str, role: Role, info: &OpcodeInfo) -> Self {
        match info.family {
            CopyFamily::Immediate | CopyFamily::Symbol | CopyFamily::Parameter | CopyFamily::StackAddress => {
                return Self::Constants;
            }
            CopyFamily::Copy | CopyFamily::Move | CopyFamily::Proxy | CopyFamily::AddressSpace => return Self::Source,
            _ => {}
        }
        match (role, name) {
            (Role::Pack, _) => Self::Parts,
            (Role::Unpack, _) => Self::Whole,
            (Role::Extract { index, .. }, _) => Self::Part(index),
            (_, "CVT_u64_u32") => Self::ZeroExtended,
            (_, "CVT_s64_s32" | "CVT_u32_u64" | "CVT_s32_s64" | "CVT_u32_s64" | "CVT_s32_u64") => Self::Lower,
            (_, "AND_b64ri") => Self::Masked,
            (_, "SHL64_ri") => Self::ShiftedUp,
            (_, "SRL64_ri") => Self::ShiftedDown,
            (_, "OR_b64rr" | "OR_b64ri" | "XOR_b64rr" | "XOR_b64ri") => Self::Combined,
            (_, "ADD32ri" | "ADD64ri") => Self::Offset,
            (_, "LD_i64") => Self::Loaded,
            _ => Self::Nothing,
        }
    }
}
