//! The edit language: the only way in which a pass changes a function.
//!
//! New registers, instructions, blocks and slots get the ids after the view's own, in the order of the edits that make
//! them, so that later edits can name them. An [`EditList`] is total (every id is checked), sorted into phases and
//! replayable: applying it to the same view gives the same function, here ([`EditList::apply`]) and in LLVM.
//!
//! [`EditList`]: super::EditList
//! [`EditList::apply`]: super::EditList::apply

use super::{BitPlace, Block, Inst, Opcode, RegClass, SharedArray, Slot, VReg, Value};

/// A place in a block: before an instruction of the view, or at the block's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The block.
    pub block: Block,
    /// The instruction of the view before which the place lies; `None`: after the last instruction of the block that
    /// is not a terminator.
    pub before: Option<Inst>,
}

/// One change to a function. Registers are named as they were before any [`Merge`](Edit::Merge).
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A new register. `reg` is the next free id.
    CreateRegister {
        /// The id it gets.
        reg: VReg,
        /// Its class.
        class: RegClass,
    },
    /// A new slot in local memory. `slot` is the next free id.
    CreateSlot {
        /// The id it gets.
        slot: Slot,
        /// Bytes.
        size: u64,
        /// Bytes, a power of two.
        align: u64,
    },
    /// An array in shared memory, with room for slots of each thread of a block. A kernel gets one at most.
    CreateSharedArray(SharedArray),
    /// A new slot in the shared array, of 2, 4, 8 or 16 bytes. `slot` is the next free id; slots in local memory come first.
    /// It is the only slot of its row, or one of the slots in a row of 8 or 16 bytes for each thread.
    CreateSharedSlot {
        /// The id it gets.
        slot: Slot,
        /// Bytes of each thread.
        size: u32,
        /// Where thread 0's part lies in the array: a multiple of the size, apart from all other slots. The row begins at
        /// a multiple of its bytes.
        offset: u32,
        /// Bytes of each thread's part of the row: the size, or 8 or 16 and more than the size.
        row: u32,
    },
    /// A new slot for a predicate: one bit of a general register. `slot` is the next free id; slots in memory come first.
    CreateBitSlot {
        /// The id it gets.
        slot: Slot,
        /// Which bit: no other slot's, of one of the registers so far or of the next.
        place: BitPlace,
    },
    /// A new, empty block on an edge, laid out after all others, that goes on to `to`. `block` is the next free id.
    SplitEdge {
        /// The id it gets.
        block: Block,
        /// The edge's start.
        from: Block,
        /// The edge's end.
        to: Block,
    },
    /// A new `COPY`. `inst` is the next free id, as in all insertions.
    InsertCopy {
        /// The id it gets.
        inst: Inst,
        /// Where; several insertions at one place keep the order of the list.
        at: Position,
        /// The register written.
        dst: VReg,
        /// The register read.
        src: VReg,
    },
    /// A new `dst = opcode value`, for an immediate or a symbol.
    InsertConstant {
        /// The id it gets.
        inst: Inst,
        /// Where.
        at: Position,
        /// An opcode of role [`Constant`](super::Role::Constant).
        opcode: Opcode,
        /// The register written.
        dst: VReg,
        /// An immediate, a float or a symbol.
        value: Value,
    },
    /// A copy of an instruction of the view that writes `dst` instead of its one definition. It must be pure.
    InsertClone {
        /// The id it gets.
        inst: Inst,
        /// Where.
        at: Position,
        /// The instruction to clone.
        of: Inst,
        /// The register written.
        dst: VReg,
    },
    /// A store of `reg` to a slot; a predicate is stored to memory as a number of 16 bits.
    InsertSpill {
        /// The id it gets.
        inst: Inst,
        /// Where.
        at: Position,
        /// The register stored.
        reg: VReg,
        /// To where.
        slot: Slot,
    },
    /// A load of `reg` from a slot.
    InsertReload {
        /// The id it gets.
        inst: Inst,
        /// Where.
        at: Position,
        /// The register loaded.
        reg: VReg,
        /// From where.
        slot: Slot,
    },
    /// One store of 2 or 4 registers of 4 or 8 bytes to slots beside each other, 8 or 16 bytes in all and aligned to that:
    /// in shared memory, slots of one row; in local memory, slots made one behind the other, the first with that alignment.
    InsertWideSpill {
        /// The id it gets.
        inst: Inst,
        /// Where.
        at: Position,
        /// The registers stored, all of one class, and where to.
        parts: Vec<(VReg, Slot)>,
    },
    /// One load of as many registers, all different, from such slots.
    InsertWideReload {
        /// The id it gets.
        inst: Inst,
        /// Where.
        at: Position,
        /// The registers loaded, and where from.
        parts: Vec<(VReg, Slot)>,
    },
    /// Moves an instruction to another place, in its block or another. PHIs and terminators stay.
    Move {
        /// The instruction.
        inst: Inst,
        /// Where to; the place must not be before a moved instruction.
        at: Position,
    },
    /// A new order of all instructions of a block, insertions and moves included.
    Permute {
        /// The block.
        block: Block,
        /// Every instruction of the block, once.
        order: Vec<Inst>,
    },
    /// Another register in an operand: also how a connected component is split off, and how a PHI is rewritten.
    SetRegister {
        /// The instruction; of a new one, a clone, and an operand that it reads.
        inst: Inst,
        /// The operand's number.
        operand: u32,
        /// The register, of the same class.
        reg: VReg,
    },
    /// An immediate in place of a register operand, with the opcode that takes it.
    SetImmediate {
        /// The instruction.
        inst: Inst,
        /// The operand's number.
        operand: u32,
        /// The opcode that the instruction gets.
        opcode: Opcode,
        /// The immediate.
        value: i64,
    },
    /// The address of an access to shared memory is the sum of another register and another immediate.
    SetAddress {
        /// The instruction.
        inst: Inst,
        /// The number of the operand that is the base, a register that is read. The next operand is the offset, an immediate.
        operand: u32,
        /// The new base, of the class of the old one.
        base: VReg,
        /// The new offset, in bytes.
        offset: i64,
    },
    /// Another text of inline assembly, with the same operands.
    SetAssembly {
        /// The instruction.
        inst: Inst,
        /// The text, with `$N` for its operands.
        text: String,
    },
    /// The two jumps that end a block go where the other went, and the comparison that sets the predicate of the first sets the
    /// complement: see [`TwoJumps`](super::TwoJumps) and [`complement`](super::complement). A block and a comparison are turned
    /// once.
    TurnBranch {
        /// The block.
        block: Block,
        /// The comparison, an instruction of the view.
        comparison: Inst,
    },
    /// `.pragma "nounroll"` in a block ahead of whose label it stands, where ptxas ignores it. Only PTX has that.
    InsertPragma {
        /// The block.
        block: Block,
    },
    /// A debug value describes another register, a number, or nothing: its variable is unknown from there on.
    SetDebugValue {
        /// The debug instruction.
        inst: Inst,
        /// What it describes: [`Value::Reg`], [`Value::Immediate`] or [`Value::NoReg`].
        value: Value,
    },
    /// Renames a register everywhere, after all other edits of operands. `into` is not itself merged.
    Merge {
        /// The register that goes.
        from: VReg,
        /// The register that stays.
        into: VReg,
    },
    /// Deletes an instruction (a PHI too).
    Delete {
        /// The instruction.
        inst: Inst,
    },
    /// A line of PTX at the top of the function: `.pragma "enable_smem_spilling";` or `.pragma "nounroll";`.
    InsertDirective {
        /// The line.
        text: String,
    },
    /// A function attribute: `nvvm.maxnreg`, with a number of registers; or `nvvm.maxntid`, with the threads of the array
    /// in shared memory, in a kernel that does not say how large its blocks are.
    SetAttribute {
        /// Its key.
        key: String,
        /// Its value.
        value: String,
    },
}

impl Edit {
    /// A short name of what the edit does, as statistics count it.
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

    /// Whether LLVM takes the edit whatever it says, so that only the meaning of its list bounds it: a slot lies where
    /// another lies, a line of PTX does what it likes.
    pub(crate) fn is_unbounded_in_llvm(&self) -> bool {
        self.makes_slot() || matches!(self, Edit::InsertDirective { .. } | Edit::SetAttribute { .. })
    }

    /// Whether the edit makes a slot, or the array that slots lie in.
    fn makes_slot(&self) -> bool {
        matches!(
            self,
            Edit::CreateSlot { .. }
                | Edit::CreateSharedArray(_)
                | Edit::CreateSharedSlot { .. }
                | Edit::CreateBitSlot { .. }
        )
    }

    /// Whether the edit makes a slot or accesses one.
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

    /// The phase in which an edit is applied: ids first, then places, then operands, then names, then deletions.
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
    /// How many bytes of memory a spilled register of the class takes; `None` if nothing is known of it. A
    /// predicate is stored to memory as a number of 16 bits.
    pub fn spilled_bytes(self) -> Option<u32> {
        match self {
            Self::B1 => Some(2),
            Self::B16 | Self::B32 | Self::B64 | Self::B128 => Some(self.bits() / 8),
            Self::Other => None,
        }
    }
}
