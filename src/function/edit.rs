//! The edit language: the only way in which a pass changes a function.
//!
//! New registers, instructions, blocks and slots get the ids after the view's own, in the order of the edits that make
//! them, so that later edits can name them. An [`EditList`] is total (every id is checked), sorted into phases and
//! replayable: applying it to the same view gives the same function, here ([`EditList::apply`]) and in LLVM.

use super::{Block, Function, Inst, Opcode, RegClass, SharedArray, SharedPlace, Slot, VReg, Value};
use crate::index::EntityIndex;

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
    /// A new slot in the shared array, of 2, 4 or 8 bytes. `slot` is the next free id; slots in local memory come first.
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
    /// A store of `reg` to a slot; a predicate is stored as a number of 16 bits.
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
        /// The instruction.
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
            Edit::SetDebugValue { .. } => "set-debug-value",
            Edit::Merge { .. } => "merge",
            Edit::Delete { .. } => "delete",
            Edit::InsertDirective { .. } => "insert-directive",
            Edit::SetAttribute { .. } => "set-attribute",
        }
    }

    /// The phase in which an edit is applied: ids first, then places, then operands, then names, then deletions.
    pub(super) fn phase(&self) -> u8 {
        match self {
            Edit::CreateRegister { .. }
            | Edit::CreateSlot { .. }
            | Edit::CreateSharedArray(_)
            | Edit::CreateSharedSlot { .. }
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
            Edit::SetRegister { .. } | Edit::SetImmediate { .. } | Edit::SetDebugValue { .. } => 4,
            Edit::Merge { .. } => 5,
            Edit::Delete { .. } => 6,
            Edit::InsertDirective { .. } | Edit::SetAttribute { .. } => 7,
        }
    }
}

impl RegClass {
    /// How many bytes of memory a spilled register of the class takes; `None` if PTX does not store it at once. A
    /// predicate is stored as a number of 16 bits.
    pub fn spilled_bytes(self) -> Option<u32> {
        match self {
            Self::B1 => Some(2),
            Self::B16 | Self::B32 | Self::B64 => Some(self.bits() / 8),
            Self::B128 | Self::Other => None,
        }
    }
}

/// Edits in the order of their phases; within a phase in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditList {
    edits: Vec<Edit>,
    next_reg: u32,
    /// The classes of the registers that the edits create.
    created: Vec<RegClass>,
    next_inst: u32,
    next_block: u32,
    next_slot: u32,
}

impl EditList {
    /// No edits yet, to a function whose ids they continue.
    pub fn new(function: &Function) -> Self {
        Self {
            edits: Vec::new(),
            next_reg: function.num_regs() as u32,
            created: Vec::new(),
            next_inst: function.num_insts() as u32,
            next_block: function.num_blocks() as u32,
            next_slot: function.num_slots() as u32,
        }
    }

    /// The edits, sorted by phase.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.edits.len()
    }

    /// Adds an edit that makes no new id.
    pub fn push(&mut self, edit: Edit) {
        self.edits.push(edit);
    }

    /// Sorts into phases; stable, so that insertions at one place keep their order. Call once, when all are made.
    pub fn finish(&mut self) {
        self.edits.sort_by_key(Edit::phase);
    }

    /// A new register of a class.
    pub fn create_register(&mut self, class: RegClass) -> VReg {
        let reg = next(&mut self.next_reg);
        self.created.push(class);
        self.edits.push(Edit::CreateRegister { reg, class });
        reg
    }

    /// The class of a register of the function or of these edits. O(1).
    pub fn class(&self, function: &Function, reg: VReg) -> Option<RegClass> {
        match reg.index().checked_sub(function.num_regs()) {
            None => Some(function.class(reg)),
            Some(created) => self.created.get(created).copied(),
        }
    }

    /// A new stack slot.
    pub fn create_slot(&mut self, size: u64, align: u64) -> Slot {
        let slot = next(&mut self.next_slot);
        self.edits.push(Edit::CreateSlot { slot, size, align });
        slot
    }

    /// A new slot in the shared array, with a row of its own.
    pub fn create_shared_slot(&mut self, size: u32, offset: u32) -> Slot {
        self.create_slot_of_row(size, SharedPlace { offset, row: size })
    }

    /// A new slot in the shared array, beside others of its row.
    pub fn create_slot_of_row(&mut self, size: u32, SharedPlace { offset, row }: SharedPlace) -> Slot {
        let slot = next(&mut self.next_slot);
        self.edits.push(Edit::CreateSharedSlot { slot, size, offset, row });
        slot
    }

    /// A new block on an edge.
    pub fn split_edge(&mut self, from: Block, to: Block) -> Block {
        let block = next(&mut self.next_block);
        self.edits.push(Edit::SplitEdge { block, from, to });
        block
    }

    /// A copy at a place.
    pub fn insert_copy(&mut self, at: Position, dst: VReg, src: VReg) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertCopy { inst, at, dst, src });
        inst
    }

    /// `dst = opcode value` at a place.
    pub fn insert_constant(&mut self, at: Position, opcode: Opcode, dst: VReg, value: Value) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertConstant { inst, at, opcode, dst, value });
        inst
    }

    /// A clone of a pure instruction at a place.
    pub fn insert_clone(&mut self, at: Position, of: Inst, dst: VReg) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertClone { inst, at, of, dst });
        inst
    }

    /// A store to a slot at a place.
    pub fn insert_spill(&mut self, at: Position, reg: VReg, slot: Slot) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertSpill { inst, at, reg, slot });
        inst
    }

    /// A load from a slot at a place.
    pub fn insert_reload(&mut self, at: Position, reg: VReg, slot: Slot) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertReload { inst, at, reg, slot });
        inst
    }

    /// One store to slots beside each other at a place.
    pub fn insert_wide_spill(&mut self, at: Position, parts: Vec<(VReg, Slot)>) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertWideSpill { inst, at, parts });
        inst
    }

    /// One load from slots beside each other at a place.
    pub fn insert_wide_reload(&mut self, at: Position, parts: Vec<(VReg, Slot)>) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertWideReload { inst, at, parts });
        inst
    }
}

fn next<I: EntityIndex>(counter: &mut u32) -> I {
    let id = I::new(*counter as usize);
    *counter += 1;
    id
}
