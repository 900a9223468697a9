//! Bulk copies: one thread starts them, and an mbarrier or a group waits for them.

use super::access::{Address, AtomicOp};
use super::row::Row;
use super::types::Ty;

/// A bulk copy.
#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    pub(crate) copy: BulkCopy,
    /// Whether one of the active threads starts the copy, as a warp does in machine code. Otherwise, each active thread
    /// starts a copy.
    pub(crate) is_of_warp: bool,
}

/// Source and destination of a bulk copy.
#[derive(Clone, Debug)]
pub(crate) enum BulkCopy {
    /// From global to shared memory. The bytes complete at an mbarrier.
    ToShared { to: Address, from: Address, bytes: Row, mbarrier: Address },
    /// From shared to global memory, or an atomic operation on each element in global memory.
    ToGlobal { to: Address, from: Address, bytes: Row, reduction: Option<(AtomicOp, Ty)> },
    /// A box of a tensor into shared memory. The bytes complete at an mbarrier.
    OfTensor { to: Address, tensor: Tensor, mbarrier: Address },
    /// Shared memory into a box of a tensor.
    ToTensor { from: Address, tensor: Tensor, reduction: Option<AtomicOp> },
}

/// A box of a tensor: the address of the tensor map, and the box's first coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) map: Address,
    pub(crate) coordinates: Vec<Row>,
}

impl Bulk {
    /// Returns the address that is not in shared memory.
    pub(crate) fn generic_address(&self) -> Address {
        match &self.copy {
            BulkCopy::ToShared { from, .. } => *from,
            BulkCopy::ToGlobal { to, .. } => *to,
            BulkCopy::OfTensor { tensor, .. } | BulkCopy::ToTensor { tensor, .. } => tensor.map,
        }
    }

    /// Returns all rows that the copy reads.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let of = |tensor: &Tensor| [&[tensor.map.base], tensor.coordinates.as_slice()].concat();
        match &self.copy {
            BulkCopy::ToShared { to, from, bytes, mbarrier } => vec![to.base, from.base, *bytes, mbarrier.base],
            BulkCopy::ToGlobal { to, from, bytes, .. } => vec![to.base, from.base, *bytes],
            BulkCopy::OfTensor { to, tensor, mbarrier } => [of(tensor), vec![to.base, mbarrier.base]].concat(),
            BulkCopy::ToTensor { from, tensor, .. } => [of(tensor), vec![from.base]].concat(),
        }
    }
}
