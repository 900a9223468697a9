//! Where and how an instruction accesses memory.

use super::row::Row;

/// A memory space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Shared,
    Local,
}

/// Where an instruction accesses memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) space: Space,
    pub(crate) base: Row,
    pub(crate) offset: i64,
}

/// How an access is ordered with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Races with others count.
    Weak,
    /// Volatile.
    Volatile,
    /// Relaxed, acquire or release.
    Strong,
}

/// What an atomic operation computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
}
