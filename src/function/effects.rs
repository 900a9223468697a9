//! Effects of an instruction beyond registers.

use bitflags::bitflags;

bitflags! {
    /// Effects of an instruction other than reading and writing registers. An instruction without effects, or with
    /// [`MAY_FAULT`](Self::MAY_FAULT) alone, is a pure function of its operands.
    ///
    /// The effects come from LLVM's memory operands and from the opcode table. The table is more precise than LLVM's
    /// descriptors, which report side effects for `ld.global.nc` or `cvta` although these have none.
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
        /// Unknown side effects (inline assembly, unknown opcodes). Conflicts with every instruction that is not pure.
        const OPAQUE = 1 << 7;
        /// A label, a position or debug information: produces no machine code and keeps its position.
        const META = 1 << 8;
        /// A pure instruction that may fault on paths on which it did not originally execute. An example is a load of
        /// unchanging memory whose address is valid only after an earlier branch. It constrains no order, but its
        /// copies may be placed only where the original executes.
        const MAY_FAULT = 1 << 9;
    }
}

impl Effects {
    /// Effects that keep their order with every instruction that is not pure.
    pub const BARRIER: Self =
        Self::OPAQUE.union(Self::TRAP).union(Self::TERMINATOR).union(Self::CALL_SEQUENCE).union(Self::META);

    /// Effects on memory.
    pub const MEMORY: Self = Self::READ.union(Self::WRITE).union(Self::ORDERED);

    /// Whether an instruction is a pure function of its operands. It may be cloned, moved to points where its inputs
    /// are unchanged, and deleted if its result is not read.
    #[inline]
    pub fn is_pure(self) -> bool {
        Self::MAY_FAULT.contains(self)
    }

    /// Whether a thread may end at the instruction, so that later instructions may not execute.
    #[inline]
    pub fn may_not_return(self) -> bool {
        self.intersects(Self::TRAP | Self::TERMINATOR)
    }

    /// Whether two instructions of a block with these effects and memory spaces must keep their order.
    pub fn conflict(self, space: MemorySpace, later: Effects, later_space: MemorySpace) -> bool {
        self.conflict_under(space, later, later_space, Conditions::all())
    }

    /// Whether an instruction must stay after the instruction `earlier` of its block, even if the two do not conflict.
    /// If the instruction were moved before `earlier`, it might fault in a thread that `earlier` would have ended. The
    /// reverse order imposes no constraint.
    #[inline]
    pub fn is_guarded_by(self, earlier: Effects) -> bool {
        self.contains(Self::MAY_FAULT) && earlier.may_not_return()
    }

    /// Like [`conflict`](Self::conflict), with a subset of its conditions. Only tests omit conditions.
    #[inline]
    pub(crate) fn conflict_under(
        self,
        space: MemorySpace,
        later: Effects,
        later_space: MemorySpace,
        conditions: Conditions,
    ) -> bool {
        if self.is_pure() || later.is_pure() {
            return false;
        }
        if (self | later).intersects(Self::BARRIER & conditions.barriers()) {
            return true;
        }
        let first = |effect, condition| self.contains(effect) && conditions.contains(condition);
        let second = |effect, condition| later.contains(effect) && conditions.contains(condition);
        if first(Self::CONVERGENT, Conditions::CONVERGENT) && later.contains(Self::CONVERGENT) {
            return true;
        }
        if !self.intersects(Self::MEMORY) || !later.intersects(Self::MEMORY) {
            return false;
        }
        if first(Self::ORDERED, Conditions::ORDERED_FIRST) || second(Self::ORDERED, Conditions::ORDERED_SECOND) {
            return true;
        }
        let writes = first(Self::WRITE, Conditions::WRITE_FIRST) || second(Self::WRITE, Conditions::WRITE_SECOND);
        writes && space.may_alias_under(later_space, conditions)
    }
}

bitflags! {
    /// The conditions of [`Effects::conflict`]. Each of the last three suffices to make the memory of two instructions
    /// alias. Each of the others suffices to keep two instructions in order. The oracle of order must detect that a
    /// condition is missing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Conditions: u16 {
        /// One of them has unknown effects.
        const OPAQUE = 1 << 0;
        /// One of them may trap or not return.
        const TRAP = 1 << 1;
        /// One of them ends the block.
        const TERMINATOR = 1 << 2;
        /// One of them belongs to a call sequence.
        const CALL_SEQUENCE = 1 << 3;
        /// One of them keeps its position.
        const META = 1 << 4;
        /// Both are convergent.
        const CONVERGENT = 1 << 5;
        /// The first keeps its order with all memory accesses.
        const ORDERED_FIRST = 1 << 6;
        /// The second keeps its order with all memory accesses.
        const ORDERED_SECOND = 1 << 7;
        /// The first writes memory that the second accesses.
        const WRITE_FIRST = 1 << 8;
        /// The second writes memory that the first accesses.
        const WRITE_SECOND = 1 << 9;
        /// Both are in the same memory space.
        const SAME_SPACE = 1 << 10;
        /// One is in the generic space, which contains all others.
        const GENERIC = 1 << 11;
        /// One is in the block's shared memory, the other in the cluster's, which contains it.
        const SHARED_CLUSTER = 1 << 12;
    }
}

impl Conditions {
    /// Returns the effects that act as barriers under these conditions.
    fn barriers(self) -> Effects {
        let barriers = [
            (Self::OPAQUE, Effects::OPAQUE),
            (Self::TRAP, Effects::TRAP),
            (Self::TERMINATOR, Effects::TERMINATOR),
            (Self::CALL_SEQUENCE, Effects::CALL_SEQUENCE),
            (Self::META, Effects::META),
        ];
        let held = barriers.into_iter().filter(|&(condition, _)| self.contains(condition));
        held.map(|(_, effect)| effect).collect()
    }
}

/// The memory that an instruction reads or writes, by NVPTX's address spaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum MemorySpace {
    /// None or unknown: may be any of the other spaces.
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

    /// Returns the space with LLVM's address-space number. Unknown numbers give [`Generic`](Self::Generic), which
    /// aliases all.
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
        self.may_alias_under(other, Conditions::all())
    }

    /// Like [`may_alias`](Self::may_alias), with a subset of the conditions.
    #[inline]
    fn may_alias_under(self, other: Self, conditions: Conditions) -> bool {
        use MemorySpace::{Generic, Shared, SharedCluster};
        conditions.contains(match (self, other) {
            _ if self == other => Conditions::SAME_SPACE,
            (Generic, _) | (_, Generic) => Conditions::GENERIC,
            (Shared, SharedCluster) | (SharedCluster, Shared) => Conditions::SHARED_CLUSTER,
            _ => return false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::MemorySpace;
    use super::MemorySpace::{Generic, Shared, SharedCluster};

    /// Two memory spaces may alias if they are equal, if one of them is unknown, or if they are the shared memory of a
    /// block and of its cluster. All other spaces do not alias.
    #[test]
    fn spaces_that_overlap() {
        for one in MemorySpace::ALL {
            for other in MemorySpace::ALL {
                let is_shared = [one, other].iter().all(|space| [Shared, SharedCluster].contains(space));
                let expected = one == other || one == Generic || other == Generic || is_shared;
                assert_eq!(one.may_alias(other), expected, "{one:?} {other:?}");
            }
        }
        assert!(Shared.may_alias(SharedCluster) && !Shared.may_alias(MemorySpace::Local));
    }
}
