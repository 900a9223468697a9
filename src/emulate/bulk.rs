//! Copies of many bytes that one thread starts and an mbarrier or a group waits for.

use super::access::{Address, AtomicOp};
use super::row::Row;
use super::types::Ty;

/// A bulk copy.
#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    pub(crate) copy: BulkCopy,
    /// One thread of those that are together starts it, as a warp does in machine code; else each of them does.
    pub(crate) is_of_warp: bool,
}

/// What a bulk copy moves.
#[derive(Clone, Debug)]
pub(crate) enum BulkCopy {
    /// From global to shared memory. An mbarrier hears of its bytes.
    ToShared { to: Address, from: Address, bytes: Row, mbarrier: Address },
    /// From shared to global memory, or an atomic operation on each element there.
    ToGlobal { to: Address, from: Address, bytes: Row, reduction: Option<(AtomicOp, Ty)> },
    /// A box of a tensor into shared memory. An mbarrier hears of its bytes.
    OfTensor { to: Address, tensor: Tensor, mbarrier: Address },
    /// Shared memory into a box of a tensor.
    ToTensor { from: Address, tensor: Tensor, reduction: Option<AtomicOp> },
}

/// A box of a tensor: where the tensor's map lies, and where the box begins.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) map: Address,
    pub(crate) coordinates: Vec<Row>,
}

impl Bulk {
    /// Its address that is none of shared memory.
    pub(crate) fn generic_address(&self) -> Address {
        match &self.copy {
            BulkCopy::ToShared { from, .. } => *from,
            BulkCopy::ToGlobal { to, .. } => *to,
            BulkCopy::OfTensor { tensor, .. } | BulkCopy::ToTensor { tensor, .. } => tensor.map,
        }
    }

    /// All rows that it reads.
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
