//! Pragmas in the source that forbid the unrolling of loops.

/// The position of `.pragma "nounroll"` relative to a block. The pragma asks ptxas not to unroll a loop. ptxas honours
/// it in the block that is the loop's header, after the label. Elsewhere, ptxas ignores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoUnroll {
    /// There is no pragma near the block.
    #[default]
    Absent,
    /// In the block. A pragma at the head of the function or outside of functions applies to all loops, so each block
    /// counts as having the pragma.
    Here,
    /// Before the block's label, with no instruction between.
    Ahead,
    /// Not yet printed: LLVM's metadata forbids the unrolling of each loop of which the block is a latch. LLVM prints
    /// the pragma in the header of such a loop.
    Back,
}
