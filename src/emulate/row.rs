//! Rows of registers and their contents at function entry.

use crate::define_index;

define_index! {
    /// A row of registers of a function.
    Row, "row"
}

/// The row for unused results (`_`).
pub(crate) const SINK: Row = Row(0);
/// The row that is zero.
pub(crate) const ZERO: Row = Row(1);

/// Contents of a row at function entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Init {
    /// Undefined: a read gives an undefined value.
    Undefined,
    /// A drawn leftover value. Machine code sets single bits of registers that no instruction has set; a result that
    /// depends on the other bits then differs from PTX's.
    Leftover {
        /// Whether it is the same in all lanes.
        is_uniform: bool,
    },
    Constant(u64),
    Special(Special),
    /// The address of a byte of the function's frame in local memory.
    Frame(u32),
}

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Lane,
    /// `%lanemask_eq`, `le`, `lt`, `ge`, `gt`.
    LaneMask(LaneMask),
    /// Bytes of shared memory.
    SharedBytes,
    /// A register that depends on the machine or the time.
    Unknown(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneMask {
    Equal,
    LessEqual,
    Less,
    GreaterEqual,
    Greater,
}

/// Width and initial contents of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowInfo {
    pub(crate) bits: u32,
    pub(crate) init: Init,
}

/// A class of registers without arithmetic: its values from shared or local memory have the kind that was stored there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CarriedKind(pub(crate) u32);
