//! Rows of registers, and what they hold when a function is entered.

use crate::define_index;

define_index! {
    /// A row of registers of a function.
    Row, "row"
}

/// The row that takes results nobody reads (`_`).
pub(crate) const SINK: Row = Row(0);
/// The row that is zero.
pub(crate) const ZERO: Row = Row(1);

/// What a row holds when a function is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Init {
    /// Nothing: reading it gives an undefined value.
    Undefined,
    /// What a register held before, which is drawn: machine code sets single bits of registers that nothing has set, and a
    /// result that depends on the others differs from PTX's.
    Leftover {
        /// It is the same in all lanes.
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
    /// One that depends on the machine or the time.
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

/// A row's width and what it holds at first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowInfo {
    pub(crate) bits: u32,
    pub(crate) init: Init,
}

/// Registers of a function that nothing computes with: what they carry from shared or local memory has the kind that was
/// stored there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CarriedKind(pub(crate) u32);
