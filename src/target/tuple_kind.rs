//! The kinds of register tuple.

/// What kind of row it is: how long it may be, and how it is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TupleKind {
    /// Of memory: as long as it is, aligned to its length.
    Memory,
    /// What a texture gives: pairs.
    Texture,
    /// An operand of a matrix instruction of one warp.
    Matrix,
    /// An operand of a matrix instruction of four warps.
    Warpgroup,
    /// What goes to tensor memory or comes from there: as long as it is.
    TensorMemory,
}
