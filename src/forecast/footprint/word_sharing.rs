//! Which words of an opcode's results are words of its operands.

use crate::function::Role;
use crate::target::{CopyFamily, OpcodeInfo};

/// Whose words an opcode's results are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::forecast) enum WordSharing {
    /// Nobody's: they are computed, or read from memory.
    Nothing,
    /// They are no words: constants, addresses, parameters.
    Constants,
    /// The source's, as they are.
    Source,
    /// The sources' are parts of the result.
    Parts,
    /// The results are parts of the source.
    Whole,
    /// The result is this part of the source.
    Part(u8),
    /// The source's word, and zero above it.
    ZeroExtended,
    /// The source's lower word, and nothing that is known above it.
    Lower,
    /// Those that the mask, the second source, leaves.
    Masked,
    /// The lower word becomes the upper, where the second source says so.
    ShiftedUp,
    /// The upper word becomes the lower.
    ShiftedDown,
    /// Of two sources, the word of one where that of the other is zero.
    Combined,
    /// The source's, as they are, where it is only an address: a number is added that is part of the access.
    Offset,
    /// Nobody's; what a load of fewer bits fills up with zeros is nowhere.
    Loaded,
}

impl WordSharing {
    /// Whether nothing is done for it: a constant, or a copy.
    pub(in crate::forecast) fn is_free(self) -> bool {
        matches!(self, Self::Constants | Self::Source)
    }

    /// By an opcode's name and what it is.
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
