//! Tensor memory of a block, from sm_100 on: 128 lanes of 512 columns of 32 bits, and its operations.

use super::row::{CarriedKind, Row};
use super::types::Kind;

/// Lanes of tensor memory.
pub(crate) const LANES: u32 = 128;
/// Columns of tensor memory.
pub(crate) const COLUMNS: u32 = 512;

/// Layout of a warp's registers in tensor memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `.32x32b`: each thread has a lane.
    Lanes,
    /// `.16x64b`, `.16x128b`, `.16x256b`.
    Narrow,
    Middle,
    Broad,
    /// `.16x32bx2`: the columns of the upper half of the threads are offset by this number.
    Halves(u32),
}

impl Shape {
    /// Returns the relative lane and column of a thread's register.
    pub(crate) fn place(self, thread: u32, register: u32) -> (u32, u32) {
        let row = thread / 4;
        match self {
            Self::Lanes => (thread, register),
            Self::Halves(distance) => (thread % 16, register + thread / 16 * distance),
            Self::Narrow => (row + thread % 2 * 8, thread / 2 % 2 + 2 * register),
            Self::Middle => (row + register % 2 * 8, thread % 4 + register / 2 * 4),
            Self::Broad => (row + register / 2 % 2 * 8, thread % 4 * 2 + register % 2 + register / 4 * 8),
        }
    }

    /// Returns the number of accessed lanes.
    pub(crate) fn lanes(self) -> u32 {
        if self == Self::Lanes { 32 } else { 16 }
    }

    /// Returns a thread's registers for each column that `.num` counts.
    pub(crate) fn registers(self) -> u32 {
        match self {
            Self::Lanes | Self::Halves(_) | Self::Narrow => 1,
            Self::Middle => 2,
            Self::Broad => 4,
        }
    }
}

/// An operation of a warp on tensor memory.
#[derive(Clone, Debug)]
pub(crate) enum TensorOp {
    /// Allocates columns and stores their address in shared memory.
    Allocate { columns: Row },
    /// Frees columns.
    Free { columns: Row },
    /// Loads registers.
    Load { to: Vec<Row>, shape: Shape, carried: Vec<Option<CarriedKind>> },
    /// Stores registers.
    Store { from: Vec<Row>, shape: Shape, kinds: Vec<Kind> },
}

/// An address of tensor memory: a lane in the upper half of a word, a column in the lower one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) base: Row,
    pub(crate) offset: i64,
}

/// Element types of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Halves and bf16.
    Halves,
    /// tf32.
    Words,
    /// fp8.
    Bytes,
    /// Integers of 8 bits.
    Integers,
}

impl Numbers {
    /// Returns the bits of a number.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Halves => 16,
            Self::Words => 32,
            Self::Bytes | Self::Integers => 8,
        }
    }
}

/// The left factor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Factor {
    /// A descriptor of shared memory.
    Shared(Row),
    /// An address of tensor memory.
    Tensor(Spot),
}

/// A matrix product that one thread starts: `tcgen05.mma`.
#[derive(Clone, Debug)]
pub(crate) struct TensorMultiply {
    /// The element type of the factors.
    pub(crate) numbers: Numbers,
    /// The result in tensor memory.
    pub(crate) to: Spot,
    pub(crate) left: Factor,
    /// The descriptor of the right factor.
    pub(crate) right: Row,
    /// The descriptor of the product.
    pub(crate) descriptor: Row,
    /// The predicate that adds the product to the result's old value.
    pub(crate) adds: Row,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each shape covers every word of its lanes and columns once.
    #[test]
    fn shapes_cover_their_words() {
        for (shape, columns) in
            [(Shape::Lanes, 4), (Shape::Narrow, 8), (Shape::Middle, 16), (Shape::Broad, 32), (Shape::Halves(4), 8)]
        {
            let registers = 4 * shape.registers();
            let places = (0..32).flat_map(|thread| (0..registers).map(move |register| shape.place(thread, register)));
            let places: std::collections::BTreeSet<_> = places.collect();
            assert_eq!(places.len() as u32, 32 * registers, "{shape:?}");
            assert!(places.iter().all(|&(lane, column)| lane < shape.lanes() && column < columns), "{shape:?}");
        }
        // As in the ISA's figures: thread 1 begins in lane 8 of 64 bits, and thread 5 in lane 1 of 256 bits.
        assert_eq!(Shape::Narrow.place(1, 0), (8, 0));
        assert_eq!(Shape::Narrow.place(2, 0), (0, 1));
        assert_eq!(Shape::Broad.place(5, 2), (9, 2));
        assert_eq!(Shape::Middle.place(5, 1), (9, 1));
    }
}
