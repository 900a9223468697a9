//! Products of matrices, and the fragments that they are made of.

use super::row::Row;
use super::types::Ty;

/// A fragment of `wmma`, in a layout of this emulator's own: element `i` of a lane is number `i * 32 + lane` of the tile,
/// and whatever lies beyond the tile's end begins at its start again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    pub(crate) rows: u32,
    pub(crate) columns: u32,
    pub(crate) ty: Ty,
    pub(crate) is_row_major: bool,
}

/// A product of matrices.
#[derive(Clone, Debug)]
pub(crate) struct Multiply {
    pub(crate) shape: [u32; 3],
    /// Types of the result, the factors, and the addend.
    pub(crate) types: [Ty; 4],
    pub(crate) rows: [Vec<Row>; 4],
    /// The fragments are `wmma`'s.
    pub(crate) is_tile: bool,
    pub(crate) saturates: bool,
}

/// The left factor of a product of a group of warps.
#[derive(Clone, Debug)]
pub(crate) enum LeftFactor {
    /// A descriptor.
    Shared(Row),
    Registers(Vec<Row>),
}

/// A product of a group of four warps.
#[derive(Clone, Debug)]
pub(crate) struct GroupMultiply {
    pub(crate) columns: u32,
    pub(crate) depth: u32,
    /// Types of the result and the factors.
    pub(crate) types: [Ty; 3],
    pub(crate) to: Vec<Row>,
    pub(crate) left: LeftFactor,
    /// The descriptor of the right factor.
    pub(crate) right: Row,
    /// Whether the product is added to what the result holds.
    pub(crate) adds: Row,
    pub(crate) is_negative: bool,
    pub(crate) saturates: bool,
    /// Whether the factors lie with their rows or columns side by side, instead of what is summed.
    pub(crate) order: [bool; 2],
}

impl Multiply {
    /// How many products each thread computes.
    pub(crate) fn products(&self) -> u64 {
        self.shape.iter().map(|&size| u64::from(size)).product::<u64>() / 32
    }
}

impl GroupMultiply {
    /// The same: the left factor has 16 rows for each warp.
    pub(crate) fn products(&self) -> u64 {
        16 * u64::from(self.columns) * u64::from(self.depth) / 32
    }
}
