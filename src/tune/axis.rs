//! What a variant may choose, and what a search may have won by it.

/// A kind of choice, apart from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Another compiler's code.
    Compiler,
    /// What is inlined and unrolled ahead of LLVM's optimisations.
    Ahead,
    /// LLVM's optimisations.
    Optimisations,
    /// The order of instructions.
    Order,
    /// Loads in inline assembly that change places.
    AssemblyLoads,
    /// SIMD video instructions as they are.
    SimdVideo,
    /// Shared addresses that differ by a number, in registers of their own.
    SharedAddresses,
    /// Values that are computed again, and predicates kept as bits.
    Remat,
    /// `.maxnreg`.
    Limit,
    /// Names of registers, and copies that stay.
    Names,
    /// Values kept in shared memory.
    Kept,
    /// ptxas's own spills to shared memory.
    SmemSpilling,
}

impl Axis {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Compiler,
        Self::Ahead,
        Self::Optimisations,
        Self::Order,
        Self::AssemblyLoads,
        Self::SimdVideo,
        Self::SharedAddresses,
        Self::Remat,
        Self::Limit,
        Self::Names,
        Self::Kept,
        Self::SmemSpilling,
    ];

    /// Whether a choice along it is proved to leave alone what a kernel computes.
    pub fn is_proved(self) -> bool {
        match self {
            // Compilers and LLVM's optimisations work unseen by the checker.
            Self::Compiler | Self::Ahead | Self::Optimisations => false,
            // The checker proves the edits of the passes.
            Self::Order
            | Self::AssemblyLoads
            | Self::SimdVideo
            | Self::SharedAddresses
            | Self::Remat
            | Self::Names
            | Self::Kept
            // Bounds and options of ptxas leave the meaning of the PTX alone. The name of a kernel would not be one of these:
            // ptxas compiles kernels with some names in another way.
            | Self::Limit
            | Self::SmemSpilling => true,
        }
    }
}
