//! The kinds of choices that a variant can make.

/// A kind of choice that is independent of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Another compiler's code.
    Compiler,
    /// Inlining and unrolling before LLVM's optimisations.
    Ahead,
    /// LLVM's optimisations.
    Optimisations,
    /// The order of instructions.
    Order,
    /// Loads in inline assembly that may be reordered.
    AssemblyLoads,
    /// SIMD video instructions that are not expanded.
    SimdVideo,
    /// Separate registers for shared addresses that differ by a constant.
    SharedAddresses,
    /// Rematerialised values, and predicates packed as bits.
    Remat,
    /// `.maxnreg`.
    Limit,
    /// Loops in the form that ptxas unrolls.
    Loops,
    /// Register names, and copies that are not coalesced.
    Names,
    /// Values that the passes spill to shared memory.
    Kept,
    /// ptxas's own spills to shared memory.
    SmemSpilling,
    /// `.minnctapersm`, with which ptxas obeys `setmaxnreg`.
    Blocks,
    /// The kernel's name, which changes how ptxas compiles it.
    KernelName,
}

impl Axis {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::Compiler,
        Self::Ahead,
        Self::Optimisations,
        Self::Order,
        Self::AssemblyLoads,
        Self::SimdVideo,
        Self::SharedAddresses,
        Self::Remat,
        Self::Limit,
        Self::Loops,
        Self::Names,
        Self::Kept,
        Self::SmemSpilling,
        Self::Blocks,
        Self::KernelName,
    ];

    /// Whether choices of this kind are proved not to change a kernel's results.
    pub fn is_proved(self) -> bool {
        match self {
            // The checker does not see other compilers and LLVM's optimisations.
            Self::Compiler | Self::Ahead | Self::Optimisations => false,
            // A request for more registers may wait for ever. Only a run shows that it terminates.
            Self::Blocks => false,
            // The PTX is the same, but ptxas's machine code for it is not checked.
            Self::KernelName => false,
            // The checker proves the edits of the passes.
            Self::Order
            | Self::AssemblyLoads
            | Self::SimdVideo
            | Self::SharedAddresses
            | Self::Remat
            | Self::Loops
            | Self::Names
            | Self::Kept
            // Register limits and ptxas options do not change the meaning of PTX.
            | Self::Limit
            | Self::SmemSpilling => true,
        }
    }

    /// Whether choices of this kind keep what other files see of a relocatable object: its symbols, its launch bounds
    /// and its shared memory.
    pub fn is_safe_when_relocatable(self) -> bool {
        match self {
            // These change registers, branches and the order of instructions.
            Self::Order
            | Self::AssemblyLoads
            | Self::SimdVideo
            | Self::SharedAddresses
            | Self::Remat
            | Self::Loops
            | Self::Names => true,
            // The linker checks these against the bounds of kernels in other files.
            Self::Limit
            | Self::Blocks
            // A linker finds a function by its name.
            | Self::KernelName
            // Slots are new symbols, and take shared memory. How much shared memory the linked program has is unknown.
            | Self::Kept
            | Self::SmemSpilling
            // Inlining decides which symbols exist, and no proof covers it.
            | Self::Compiler
            | Self::Ahead
            | Self::Optimisations => false,
        }
    }
}
