//! The kinds of register tuple.

/// The kind of a register tuple, which determines its lengths and alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TupleKind {
    /// A vector of memory: any length, aligned to its length.
    Memory,
    /// Results of a texture fetch: pairs.
    Texture,
    /// An operand of a matrix instruction of one warp.
    Matrix,
    /// An operand of a matrix instruction of four warps.
    Warpgroup,
    /// A vector that is stored to tensor memory or loaded from it: any length.
    TensorMemory,
}
