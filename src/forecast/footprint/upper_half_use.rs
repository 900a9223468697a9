//! The halves of its 64-bit sources that an opcode reads.

use crate::function::Role;

/// Halves of 64-bit sources that an opcode reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpperHalfUse {
    /// Both halves.
    Whole,
    /// The upper half only if the upper half of the result is read, because carries go upwards.
    AsResult,
    /// The lower half alone.
    Lower,
    /// As the result, but only the lower half if the mask in the last operand has no upper bits.
    ByMask,
    /// Both halves of all sources except the address, the last source but one. Shared, local and constant memory have
    /// addresses of 32 bits, whatever the width of PTX's registers.
    Access,
    /// Both halves of all sources except the address, the first source.
    Atomic,
}

impl UpperHalfUse {
    /// Determines the use from an opcode's name and role.
    pub(super) fn of(name: &str, role: Role) -> Self {
        const LOW_ORDER: [&str; 11] = [
            "ADD64",
            "AND_b64",
            "MAD_LO_S64",
            "MAD_WIDE",
            "MULT64",
            "NOT_b64",
            "OR_b64",
            "SELP_b64",
            "SHL64",
            "SUB64",
            "XOR_b64",
        ];
        match (role, name) {
            (Role::Copy, _) => Self::AsResult,
            (Role::Extract { index: 0, .. }, _) => Self::Lower,
            (_, "CVT_u32_u64" | "CVT_s32_s64" | "CVT_u32_s64" | "CVT_s32_u64") => Self::Lower,
            (_, "AND_b64ri") => Self::ByMask,
            _ if ["LD_i", "LDV_i", "ST_i", "STV_i"].iter().any(|prefix| name.starts_with(prefix)) => Self::Access,
            _ if ["INT_PTX_ATOM", "INT_PTX_SATOM"].iter().any(|prefix| name.starts_with(prefix)) => Self::Atomic,
            _ if LOW_ORDER.iter().any(|prefix| name.starts_with(prefix)) => Self::AsResult,
            _ => Self::Whole,
        }
    }
}
