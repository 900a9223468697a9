//! What the source says of the unrolling of loops.

/// Where `.pragma "nounroll"` stands, which asks ptxas not to unroll a loop. ptxas honours it in the block that is the loop's header,
/// behind the label. Elsewhere, ptxas ignores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoUnroll {
    /// Nowhere near the block.
    #[default]
    Absent,
    /// In the block. Also in the head of the function or outside of functions: then it holds for all loops.
    Here,
    /// Ahead of the block's label, with no instruction between both.
    Ahead,
    /// Nowhere yet: LLVM's metadata says it of the loops that the block goes back to, and LLVM prints it in their headers.
    Back,
}
