//! Products of matrices, and the fragments that they are made of.

use super::row::Row;
use super::types::Ty;

/// A fragment of `wmma`, in a layout of this emulator's own: element `i` of a lane is number `i * 32 + lane` of the tile,
/// and whatever lies beyond the tile's end begins at its start again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) ty: Ty,
    pub(super) is_row_major: bool,
}

/// A product of matrices.
#[derive(Clone, Debug)]
pub(super) struct Multiply {
    pub(super) shape: [u32; 3],
    /// Types of the result, the factors, and the addend.
    pub(super) types: [Ty; 4],
    pub(super) rows: [Vec<Row>; 4],
    /// The fragments are `wmma`'s.
    pub(super) is_tile: bool,
    pub(super) saturates: bool,
}

/// The left factor of a product of a group of warps.
#[derive(Clone, Debug)]
pub(super) enum Left {
    /// A descriptor.
    Shared(Row),
    Registers(Vec<Row>),
}

/// A product of a group of four warps.
#[derive(Clone, Debug)]
pub(super) struct GroupMultiply {
    pub(super) columns: u32,
    pub(super) depth: u32,
    /// Types of the result and the factors.
    pub(super) types: [Ty; 3],
    pub(super) to: Vec<Row>,
    pub(super) left: Left,
    /// The descriptor of the right factor.
    pub(super) right: Row,
    /// Whether the product is added to what the result holds.
    pub(super) adds: Row,
    pub(super) is_negative: bool,
    /// Whether the factors lie with their rows or columns side by side, instead of what is summed.
    pub(super) order: [bool; 2],
}

impl Multiply {
    /// How many products each thread computes.
    pub(super) fn products(&self) -> u64 {
        self.shape.iter().map(|&size| u64::from(size)).product::<u64>() / 32
    }
}

impl GroupMultiply {
    /// The same: the left factor has 16 rows for each warp.
    pub(super) fn products(&self) -> u64 {
        16 * u64::from(self.columns) * u64::from(self.depth) / 32
    }
}
