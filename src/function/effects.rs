//! What an instruction does beyond registers.

use bitflags::bitflags;

bitflags! {
    /// What an instruction does beyond reading and writing registers. Empty: a pure function of its operands.
    ///
    /// They come from LLVM's memory operands and the opcode table, which knows better than LLVM's descriptors (those
    /// claim side effects for `ld.global.nc` or `cvta`, which have none).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Effects: u16 {
        /// Reads memory that may change while the kernel runs.
        const READ = 1 << 0;
        /// Writes memory.
        const WRITE = 1 << 1;
        /// Volatile, atomic or a fence: keeps its order with every other memory operation.
        const ORDERED = 1 << 2;
        /// Convergent: the set of threads that execute it together matters.
        const CONVERGENT = 1 << 3;
        /// Belongs to a call sequence (from the declaration of a call's parameters to its return value).
        const CALL_SEQUENCE = 1 << 4;
        /// May trap or not return.
        const TRAP = 1 << 5;
        /// Ends a block.
        const TERMINATOR = 1 << 6;
        /// Unknown side effects (inline assembly, unknown opcodes): conflicts with all that is not pure.
        const OPAQUE = 1 << 7;
        /// A label, a position or debug information: no machine code, keeps its place.
        const META = 1 << 8;
    }
}

impl Effects {
    /// What keeps its order with all that is not pure.
    pub const BARRIER: Self =
        Self::OPAQUE.union(Self::TRAP).union(Self::TERMINATOR).union(Self::CALL_SEQUENCE).union(Self::META);

    /// What touches memory.
    pub const MEMORY: Self = Self::READ.union(Self::WRITE).union(Self::ORDERED);

    /// Whether an instruction is a pure function of its operands: it may be cloned, moved where its inputs are
    /// unchanged, and deleted where nobody reads its result.
    #[inline]
    pub fn is_pure(self) -> bool {
        self.is_empty()
    }

    /// Whether two instructions of a block with these effects, in these memory spaces, must keep their order.
    pub fn conflict(self, space: MemorySpace, other: Effects, other_space: MemorySpace) -> bool {
        if self.is_pure() || other.is_pure() {
            return false;
        }
        if self.intersects(Self::BARRIER) || other.intersects(Self::BARRIER) {
            return true;
        }
        if self.contains(Self::CONVERGENT) && other.contains(Self::CONVERGENT) {
            return true;
        }
        if !self.intersects(Self::MEMORY) || !other.intersects(Self::MEMORY) {
            return false;
        }
        if self.contains(Self::ORDERED) || other.contains(Self::ORDERED) {
            return true;
        }
        (self.contains(Self::WRITE) || other.contains(Self::WRITE)) && space.may_alias(other_space)
    }
}

/// The memory that an instruction reads or writes, by NVPTX's address spaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum MemorySpace {
    /// None, or unknown: may be any of the others.
    #[default]
    Generic = 0,
    /// `.global`
    Global = 1,
    /// `.shared`
    Shared = 3,
    /// `.const`
    Constant = 4,
    /// `.local`
    Local = 5,
    /// Tensor memory.
    Tensor = 6,
    /// `.shared::cluster`
    SharedCluster = 7,
    /// `.param`
    Param = 101,
}

impl MemorySpace {
    /// All spaces.
    pub const ALL: [Self; 8] = [
        Self::Generic,
        Self::Global,
        Self::Shared,
        Self::Constant,
        Self::Local,
        Self::Tensor,
        Self::SharedCluster,
        Self::Param,
    ];

    /// The space with LLVM's address-space number; unknown numbers are [`Generic`](Self::Generic), which aliases all.
    pub fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Global,
            3 => Self::Shared,
            4 => Self::Constant,
            5 => Self::Local,
            6 => Self::Tensor,
            7 => Self::SharedCluster,
            101 => Self::Param,
            _ => Self::Generic,
        }
    }

    /// Whether accesses to the two spaces may touch the same memory.
    pub fn may_alias(self, other: Self) -> bool {
        use MemorySpace::{Generic, Shared, SharedCluster};
        self == other
            || self == Generic
            || other == Generic
            || matches!((self, other), (Shared, SharedCluster) | (SharedCluster, Shared))
    }
}
