//! Written words and their writers.

use crate::emulate::types::Kind;

/// The last writer of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::emulate) struct Write {
    /// The thread's index in the grid.
    pub(in crate::emulate) thread: u64,
    /// The function, and the line in the PTX file.
    pub(in crate::emulate) function: u32,
    pub(in crate::emulate) line: u32,
    /// The kind of the value.
    pub(in crate::emulate) kind: Kind,
}

/// A written word: address, value, mask of the written bytes, and last writer.
pub(in crate::emulate) type Written = (u64, u32, u8, Write);
