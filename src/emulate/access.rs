//! Memory accesses of an instruction: space, address and ordering.

use super::row::Row;

/// A memory space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Shared,
    Local,
}

/// The address of an access: a base register and an offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) space: Space,
    pub(crate) base: Row,
    pub(crate) offset: i64,
}

/// Memory ordering of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Weak: races with other accesses are reported.
    Weak,
    /// Volatile.
    Volatile,
    /// Relaxed, acquire or release.
    Strong,
}

/// The function that an atomic operation computes.
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
