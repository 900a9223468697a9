//! A list of edits, and the ids of the entities that they create.

use super::{BitPlace, Block, Edit, Function, Inst, Opcode, Position, RegClass, SharedPlace, Slot, VReg, Value};
use crate::index::EntityIndex;

/// Edits in the order of their phases; within a phase, in the order of their creation.
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
    /// Returns an empty list for a function. New ids follow the function's ids.
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

    /// Returns the edits, sorted by phase.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether there are no edits.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Returns the number of edits.
    pub fn len(&self) -> usize {
        self.edits.len()
    }

    /// Adds an edit that creates no id.
    pub fn push(&mut self, edit: Edit) {
        self.edits.push(edit);
    }

    /// Sorts the edits into phases. The sort is stable, so that insertions at one position keep their order. Call it
    /// once, after all edits are added.
    pub fn finish(&mut self) {
        self.edits.sort_by_key(Edit::phase);
    }

    /// Creates a register of a class.
    pub fn create_register(&mut self, class: RegClass) -> VReg {
        let reg = next(&mut self.next_reg);
        self.created.push(class);
        self.edits.push(Edit::CreateRegister { reg, class });
        reg
    }

    /// Returns the class of a register of the function or of these edits. O(1).
    pub fn class(&self, function: &Function, reg: VReg) -> Option<RegClass> {
        match reg.index().checked_sub(function.num_regs()) {
            None => Some(function.class(reg)),
            Some(created) => self.created.get(created).copied(),
        }
    }

    /// Creates a stack slot.
    pub fn create_slot(&mut self, size: u64, align: u64) -> Slot {
        let slot = next(&mut self.next_slot);
        self.edits.push(Edit::CreateSlot { slot, size, align });
        slot
    }

    /// Creates a slot in the shared array, with its own row.
    pub fn create_shared_slot(&mut self, size: u32, offset: u32) -> Slot {
        self.create_slot_of_row(size, SharedPlace { offset, row: size })
    }

    /// Creates a slot in the shared array that shares its row with others.
    pub fn create_slot_of_row(&mut self, size: u32, SharedPlace { offset, row }: SharedPlace) -> Slot {
        let slot = next(&mut self.next_slot);
        self.edits.push(Edit::CreateSharedSlot { slot, size, offset, row });
        slot
    }

    /// Creates a slot that is one bit of a general register.
    pub fn create_bit_slot(&mut self, place: BitPlace) -> Slot {
        let slot = next(&mut self.next_slot);
        self.edits.push(Edit::CreateBitSlot { slot, place });
        slot
    }

    /// Creates a block on an edge.
    pub fn split_edge(&mut self, from: Block, to: Block) -> Block {
        let block = next(&mut self.next_block);
        self.edits.push(Edit::SplitEdge { block, from, to });
        block
    }

    /// Inserts a copy.
    pub fn insert_copy(&mut self, at: Position, dst: VReg, src: VReg) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertCopy { inst, at, dst, src });
        inst
    }

    /// Inserts `dst = opcode value`.
    pub fn insert_constant(&mut self, at: Position, opcode: Opcode, dst: VReg, value: Value) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertConstant { inst, at, opcode, dst, value });
        inst
    }

    /// Inserts a clone of a pure instruction.
    pub fn insert_clone(&mut self, at: Position, of: Inst, dst: VReg) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertClone { inst, at, of, dst });
        inst
    }

    /// Inserts a store to a slot.
    pub fn insert_spill(&mut self, at: Position, reg: VReg, slot: Slot) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertSpill { inst, at, reg, slot });
        inst
    }

    /// Inserts a load from a slot.
    pub fn insert_reload(&mut self, at: Position, reg: VReg, slot: Slot) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertReload { inst, at, reg, slot });
        inst
    }

    /// Inserts one store to adjacent slots.
    pub fn insert_wide_spill(&mut self, at: Position, parts: Vec<(VReg, Slot)>) -> Inst {
        let inst = next(&mut self.next_inst);
        self.edits.push(Edit::InsertWideSpill { inst, at, parts });
        inst
    }

    /// Inserts one load from adjacent slots.
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
