//! Pragmas in the source that forbid the unrolling of loops.

/// The position of `.pragma "nounroll"` relative to a block. The pragma asks ptxas not to unroll a loop. ptxas honours
/// it in the block that is the loop's header, after the label. Elsewhere, ptxas ignores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoUnroll {
    /// There is no pragma near the block.
    #[default]
    Absent,
    /// In the block. A pragma in the head of the function or outside of functions counts as in every block, because it
    /// applies to all loops.
    Here,
    /// Before the block's label, with no instruction between.
    Ahead,
    /// Not yet printed: LLVM's metadata forbids unrolling for the loops of which the block is a latch, and LLVM prints
    /// the pragma in their headers.
    Back,
}
