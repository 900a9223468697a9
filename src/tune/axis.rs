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
    /// Loops in the form that ptxas unrolls.
    Loops,
    /// Names of registers, and copies that stay.
    Names,
    /// Values kept in shared memory.
    Kept,
    /// ptxas's own spills to shared memory.
    SmemSpilling,
    /// `.minnctapersm`, with which ptxas does what `setmaxnreg` asks.
    Blocks,
    /// The name of the kernel, for which ptxas compiles it in another way.
    KernelName,
}

impl Axis {
    /// All of them.
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

    /// Whether a choice along it is proved to leave alone what a kernel computes.
    pub fn is_proved(self) -> bool {
        match self {
            // Compilers and LLVM's optimisations work unseen by the checker.
            Self::Compiler | Self::Ahead | Self::Optimisations => false,
            // A request for more registers may wait for ever, which only runs tell.
            Self::Blocks => false,
            // The PTX is the same, and nothing tells what ptxas makes of it.
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
            // Bounds and options of ptxas leave the meaning of the PTX alone.
            | Self::Limit
            | Self::SmemSpilling => true,
        }
    }

    /// Whether a choice along it leaves alone what other files see of a relocatable object: its symbols, how it may be launched, and
    /// what shared memory it has.
    pub fn is_safe_when_relocatable(self) -> bool {
        match self {
            // These work on registers, on branches and on the order of instructions.
            Self::Order
            | Self::AssemblyLoads
            | Self::SimdVideo
            | Self::SharedAddresses
            | Self::Remat
            | Self::Loops
            | Self::Names => true,
            // A function may not have what the linker holds against the bounds of kernels of other files.
            Self::Limit
            | Self::Blocks
            // A linker knows a function by its name.
            | Self::KernelName
            // Slots are new symbols, and take shared memory of which nobody knows how much the linked program has.
            | Self::Kept
            | Self::SmemSpilling
            // What is inlined decides which symbols there are, and no proof covers it.
            | Self::Compiler
            | Self::Ahead
            | Self::Optimisations => false,
        }
    }
}
