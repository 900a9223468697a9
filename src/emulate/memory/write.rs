//! What was written, and by whom.

use crate::emulate::types::Kind;

/// Who wrote a word last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::emulate) struct Write {
    /// The thread's number in the grid.
    pub(in crate::emulate) thread: u64,
    /// The function, and the line in the text.
    pub(in crate::emulate) function: u32,
    pub(in crate::emulate) line: u32,
    /// What kind of value it is.
    pub(in crate::emulate) kind: Kind,
}

/// A word that was written: its address, its value, which of its bytes were, as bits, and who wrote it last.
pub(in crate::emulate) type Written = (u64, u32, u8, Write);
