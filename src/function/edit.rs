//! The edit language. Passes change a function only by edits.
//!
//! New registers, instructions, blocks and slots get the ids after the view's own, in the order of the edits that
//! create them. Later edits can therefore refer to them. An [`EditList`] is total (every id is checked), sorted into
//! phases and replayable: applied to the same view, it gives the same function, both here ([`EditList::apply`]) and in
//! LLVM.
//!
//! [`EditList`]: super::EditList
//! [`EditList::apply`]: super::EditList::apply

use super::{BitPlace, Block, Inst, Opcode, RegClass, SharedArray, Slot, VReg, Value};

/// A position in a block: before an instruction of the view, or at the block's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The block.
    pub block: Block,
    /// The instruction of the view before which the position lies. `None`: after the block's last instruction that is
    /// not a terminator.
    pub before: Option<Inst>,
}

/// One change to a function. Edits refer to registers by their names before any [`Merge`](Edit::Merge).
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Creates a register. `reg` is the next free id.
    CreateRegister {
        /// The new id.
        reg: VReg,
        /// Its class.
        class: RegClass,
    },
    /// Creates a slot in local memory. `slot` is the next free id.
    CreateSlot {
        /// The new id.
        slot: Slot,
        /// Size in bytes.
        size: u64,
        /// Alignment in bytes, a power of two.
        align: u64,
    },
    /// Creates the array in shared memory that holds the slots of each thread of a block. A kernel has at most one.
    CreateSharedArray(SharedArray),
    /// Creates a slot of 2, 4, 8 or 16 bytes in the shared array. `slot` is the next free id; slots in local memory are
    /// created first. The slot has its own row, or shares a row of 8 or 16 bytes per thread with other slots.
    CreateSharedSlot {
        /// The new id.
        slot: Slot,
        /// Bytes of each thread.
        size: u32,
        /// The offset of thread 0's part in the array: a multiple of the size, disjoint from all other slots. The row
        /// begins at a multiple of its bytes.
        offset: u32,
        /// Bytes of each thread's part of the row: the size, or 8 or 16 if that is more than the size.
        row: u32,
    },
    /// Creates a slot for a predicate: one bit of a general register. `slot` is the next free id; slots in memory are
    /// created first.
    CreateBitSlot {
        /// The new id.
        slot: Slot,
        /// The bit. It must be unused. Its register must be one that already holds predicates, or the next one.
        place: BitPlace,
    },
    /// Creates an empty block on an edge. The block is laid out after all others and continues to `to`. `block` is the
    /// next free id.
    SplitEdge {
        /// The new id.
        block: Block,
        /// The edge's source.
        from: Block,
        /// The edge's target.
        to: Block,
    },
    /// Inserts a `COPY`. `inst` is the next free id, as in all insertions.
    InsertCopy {
        /// The new id.
        inst: Inst,
        /// The position. Several insertions at one position keep the order of the list.
        at: Position,
        /// The register written.
        dst: VReg,
        /// The register read.
        src: VReg,
    },
    /// Inserts `dst = opcode value`, for an immediate or a symbol.
    InsertConstant {
        /// The new id.
        inst: Inst,
        /// The position.
        at: Position,
        /// An opcode of role [`Constant`](super::Role::Constant).
        opcode: Opcode,
        /// The register written.
        dst: VReg,
        /// An immediate, a float or a symbol.
        value: Value,
    },
    /// Inserts a copy of a pure instruction of the view that writes `dst` instead of the original's only result.
    InsertClone {
        /// The new id.
        inst: Inst,
        /// The position.
        at: Position,
        /// The instruction to clone.
        of: Inst,
        /// The register written.
        dst: VReg,
    },
    /// Inserts a store of `reg` to a slot. A predicate is stored to memory as a 16-bit number.
    InsertSpill {
        /// The new id.
        inst: Inst,
        /// The position.
        at: Position,
        /// The register stored.
        reg: VReg,
        /// The slot.
        slot: Slot,
    },
    /// Inserts a load of `reg` from a slot.
    InsertReload {
        /// The new id.
        inst: Inst,
        /// The position.
        at: Position,
        /// The register loaded.
        reg: VReg,
        /// The slot.
        slot: Slot,
    },
    /// Inserts one store of 2 or 4 registers of 4 or 8 bytes to adjacent slots. The slots have 8 or 16 bytes in total
    /// and are aligned to this number. In shared memory, they are slots of one row. In local memory, they are created
    /// consecutively, the first with that alignment.
    InsertWideSpill {
        /// The new id.
        inst: Inst,
        /// The position.
        at: Position,
        /// The registers stored, all of one class, and their slots.
        parts: Vec<(VReg, Slot)>,
    },
    /// Inserts one load of 2 or 4 different registers from adjacent slots.
    InsertWideReload {
        /// The new id.
        inst: Inst,
        /// The position.
        at: Position,
        /// The registers loaded, and their slots.
        parts: Vec<(VReg, Slot)>,
    },
    /// Moves an instruction to another position, in its block or another. PHIs and terminators cannot be moved.
    Move {
        /// The instruction.
        inst: Inst,
        /// The target position. It must not be before a moved instruction.
        at: Position,
    },
    /// Reorders all instructions of a block, including inserted and moved ones.
    Permute {
        /// The block.
        block: Block,
        /// Every instruction of the block, exactly once.
        order: Vec<Inst>,
    },
    /// Replaces the register of an operand. With this edit, passes also split off connected components of a register,
    /// and rewrite PHIs.
    SetRegister {
        /// The instruction. If it is new, it must be a clone, and it must read the operand.
        inst: Inst,
        /// The operand's index.
        operand: u32,
        /// The register, of the same class.
        reg: VReg,
    },
    /// Replaces a register operand by an immediate, and the opcode by one that accepts the immediate.
    SetImmediate {
        /// The instruction.
        inst: Inst,
        /// The operand's index.
        operand: u32,
        /// The new opcode of the instruction.
        opcode: Opcode,
        /// The immediate.
        value: i64,
    },
    /// Replaces the base and offset of the address of an access to shared memory.
    SetAddress {
        /// The instruction.
        inst: Inst,
        /// The index of the operand that is the base, a register that is read. The next operand is the offset, an
        /// immediate.
        operand: u32,
        /// The new base, of the class of the old one.
        base: VReg,
        /// The new offset, in bytes.
        offset: i64,
    },
    /// Replaces the text of inline assembly, with the same operands.
    SetAssembly {
        /// The instruction.
        inst: Inst,
        /// The text, with `$N` for its operands.
        text: String,
    },
    /// Exchanges the targets of the two jumps that end a block, and makes the comparison that sets the first jump's
    /// predicate compute the complement: see [`TwoJumps`](super::TwoJumps) and [`complement`](super::complement). A
    /// list turns each block and each comparison at most once.
    TurnBranch {
        /// The block.
        block: Block,
        /// The comparison, an instruction of the view.
        comparison: Inst,
    },
    /// Inserts `.pragma "nounroll"` in a block. The block must have this pragma before its label, where ptxas ignores
    /// it, which occurs only in PTX.
    InsertPragma {
        /// The block.
        block: Block,
    },
    /// Makes a debug value describe another register, a number, or nothing: the variable is then unknown from there on.
    SetDebugValue {
        /// The debug instruction.
        inst: Inst,
        /// The new value: [`Value::Reg`], [`Value::Immediate`] or [`Value::NoReg`].
        value: Value,
    },
    /// Renames a register everywhere, after all other edits of operands. `into` must not be merged itself.
    Merge {
        /// The register that is removed.
        from: VReg,
        /// The register that replaces it.
        into: VReg,
    },
    /// Deletes an instruction, possibly a PHI.
    Delete {
        /// The instruction.
        inst: Inst,
    },
    /// Inserts a PTX directive at the top of the function: `.pragma "enable_smem_spilling";` or `.pragma "nounroll";`.
    InsertDirective {
        /// The directive.
        text: String,
    },
    /// Sets a function attribute: `nvvm.maxnreg` to a number of registers, or `nvvm.maxntid` to the threads of the
    /// shared array if the kernel does not bound its block size.
    SetAttribute {
        /// Its key.
        key: String,
        /// Its value.
        value: String,
    },
}

impl Edit {
    /// Returns a short name of the edit for statistics.
    pub fn kind(&self) -> &'static str {
        match self {
            Edit::CreateRegister { .. } => "create-register",
            Edit::CreateSlot { .. } => "create-slot",
            Edit::CreateSharedArray(_) => "create-shared-array",
            Edit::CreateSharedSlot { .. } => "create-shared-slot",
            Edit::CreateBitSlot { .. } => "create-bit-slot",
            Edit::SplitEdge { .. } => "split-edge",
            Edit::InsertCopy { .. } => "insert-copy",
            Edit::InsertConstant { .. } => "insert-constant",
            Edit::InsertClone { .. } => "insert-clone",
            Edit::InsertSpill { .. } => "insert-spill",
            Edit::InsertReload { .. } => "insert-reload",
            Edit::InsertWideSpill { .. } => "insert-wide-spill",
            Edit::InsertWideReload { .. } => "insert-wide-reload",
            Edit::Move { .. } => "move",
            Edit::Permute { .. } => "permute",
            Edit::SetRegister { .. } => "set-register",
            Edit::SetImmediate { .. } => "set-immediate",
            Edit::SetAddress { .. } => "set-address",
            Edit::SetAssembly { .. } => "set-assembly",
            Edit::TurnBranch { .. } => "turn-branch",
            Edit::InsertPragma { .. } => "insert-pragma",
            Edit::SetDebugValue { .. } => "set-debug-value",
            Edit::Merge { .. } => "merge",
            Edit::Delete { .. } => "delete",
            Edit::InsertDirective { .. } => "insert-directive",
            Edit::SetAttribute { .. } => "set-attribute",
        }
    }

    /// Whether LLVM accepts the edit without any check of its own. Only the reference application checks such an edit,
    /// for example that slots do not overlap, or that a directive is known.
    pub(crate) fn is_unbounded_in_llvm(&self) -> bool {
        self.makes_slot() || matches!(self, Edit::InsertDirective { .. } | Edit::SetAttribute { .. })
    }

    /// Whether the edit creates a slot, or the array of slots.
    fn makes_slot(&self) -> bool {
        matches!(
            self,
            Edit::CreateSlot { .. }
                | Edit::CreateSharedArray(_)
                | Edit::CreateSharedSlot { .. }
                | Edit::CreateBitSlot { .. }
        )
    }

    /// Whether the edit creates or accesses a slot.
    pub(crate) fn is_of_slots(&self) -> bool {
        let accesses_slot = matches!(
            self,
            Edit::InsertSpill { .. }
                | Edit::InsertReload { .. }
                | Edit::InsertWideSpill { .. }
                | Edit::InsertWideReload { .. }
        );
        self.makes_slot() || accesses_slot
    }

    /// Returns the phase in which an edit is applied: first ids, then positions, operands, merges and deletions.
    pub(super) fn phase(&self) -> u8 {
        match self {
            Edit::CreateRegister { .. }
            | Edit::CreateSlot { .. }
            | Edit::CreateSharedArray(_)
            | Edit::CreateSharedSlot { .. }
            | Edit::CreateBitSlot { .. }
            | Edit::SplitEdge { .. } => 0,
            Edit::InsertCopy { .. }
            | Edit::InsertConstant { .. }
            | Edit::InsertClone { .. }
            | Edit::InsertSpill { .. }
            | Edit::InsertReload { .. }
            | Edit::InsertWideSpill { .. }
            | Edit::InsertWideReload { .. } => 1,
            Edit::Move { .. } => 2,
            Edit::Permute { .. } => 3,
            Edit::SetRegister { .. }
            | Edit::SetImmediate { .. }
            | Edit::SetAddress { .. }
            | Edit::SetAssembly { .. }
            | Edit::TurnBranch { .. }
            | Edit::SetDebugValue { .. } => 4,
            Edit::Merge { .. } => 5,
            Edit::Delete { .. } => 6,
            Edit::InsertPragma { .. } | Edit::InsertDirective { .. } | Edit::SetAttribute { .. } => 7,
        }
    }
}

impl RegClass {
    /// Returns the bytes of memory that a spilled register of the class takes. `None` for an unknown class. A predicate
    /// is stored to memory as a 16-bit number.
    pub fn spilled_bytes(self) -> Option<u32> {
        match self {
            Self::B1 => Some(2),
            Self::B16 | Self::B32 | Self::B64 | Self::B128 => Some(self.bits() / 8),
            Self::Other => None,
        }
    }
}
