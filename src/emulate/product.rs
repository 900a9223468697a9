//! Matrix products and their fragments.

use super::row::Row;
use super::types::Ty;

/// A `wmma` fragment, in this emulator's own layout: element `i` of a lane has index `i * 32 + lane` in the tile.
/// Indices beyond the end of the tile wrap to its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    pub(crate) rows: u32,
    pub(crate) columns: u32,
    pub(crate) ty: Ty,
    pub(crate) is_row_major: bool,
}

/// A matrix product.
#[derive(Clone, Debug)]
pub(crate) struct Multiply {
    pub(crate) shape: [u32; 3],
    /// Types of the result, the factors, and the addend.
    pub(crate) types: [Ty; 4],
    pub(crate) rows: [Vec<Row>; 4],
    /// Whether the fragments are those of `wmma`.
    pub(crate) is_tile: bool,
    pub(crate) saturates: bool,
}

/// The left factor of a warp-group product.
#[derive(Clone, Debug)]
pub(crate) enum LeftFactor {
    /// The row with a descriptor.
    Shared(Row),
    Registers(Vec<Row>),
}

/// A product of four warps.
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
    /// The predicate that adds the product to the result's old value.
    pub(crate) adds: Row,
    pub(crate) is_negative: bool,
    pub(crate) saturates: bool,
    /// Whether the rows or columns of each factor are contiguous, instead of the summed dimension.
    pub(crate) order: [bool; 2],
}

impl Multiply {
    /// Returns the number of products that each thread computes.
    pub(crate) fn products(&self) -> u64 {
        self.shape.iter().map(|&size| u64::from(size)).product::<u64>() / 32
    }
}

impl GroupMultiply {
    /// Returns the number of products that each thread computes. The left factor has 16 rows for each warp.
    pub(crate) fn products(&self) -> u64 {
        16 * u64::from(self.columns) * u64::from(self.depth) / 32
    }
}
