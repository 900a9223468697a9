//! The check of spill code: compares a lowered list of edits with the list that it was made from.
//!
//! The meaning of the original list was proven before lowering. Lowering must not change it:
//! * An edit without slots is unchanged, except for the new numbers of instructions.
//! * A store to a slot, or a load from a slot, is one access with the right registers, width, memory and offset. Its
//!   conversions are directly beside it.
//! * The entry computes the addresses and clears the bits before all other code.
//! * The offsets of slots in local memory are read from the accesses. Slots do not overlap, and lie within the array.
//!
//! The check shares no code with the lowering. It trusts the table of instruction names. Of the code that computes
//! addresses, it checks only which register receives which address.

mod access;
mod assembly;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::function::{
    Block, Edit, EditList, Function, Insertion, Inst, LoweredEdit, MachineOp, Operand, Position, RegClass, Role, Slot,
    VReg, Value,
};
use crate::index::EntityIndex;

/// The memory of a slot.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Local memory, with a size in bytes.
    Local(u64),
    /// Shared memory: an offset, and the size in bytes of each thread's part of the row.
    Shared {
        offset: u32,
        row: u32,
    },
    Bit {
        word: u32,
        mask: i32,
    },
}

/// The use of a register that the lowering created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    LocalAddress,
    RowAddress(u32),
    /// A register that holds predicates as bits, with its number.
    Word(u32),
    /// A temporary register of one access.
    Part,
}

/// Compares a lowered list with the list of edits that it was made from. O(size).
///
/// # Errors
/// The first difference.
pub fn check(before: &Function, edits: &EditList, lowered: &[LoweredEdit]) -> Result<(), String> {
    let mut walk = Walk::new(before, edits, lowered);
    let mut entered = false;
    for edit in edits.edits() {
        let is_slot = walk.note(edit);
        let makes_ids = is_slot || matches!(edit, Edit::CreateRegister { .. } | Edit::SplitEdge { .. });
        if !makes_ids && !std::mem::replace(&mut entered, true) {
            walk.entry()?;
        }
        walk.edit(edit).map_err(|reason| format!("{} became {reason}", edit.kind()))?;
    }
    if !entered {
        walk.entry()?;
    }
    if let Some(rest) = walk.lowered.get(walk.at) {
        return Err(format!("{rest:?} belongs to no edit"));
    }
    walk.check_local_slots()
}

struct Walk<'a> {
    before: &'a Function,
    edits: &'a EditList,
    lowered: &'a [LoweredEdit],
    /// The number of the next lowered edit, and the number of the next instruction.
    at: usize,
    next: u32,
    slots: Vec<Kind>,
    array: Option<u32>,
    /// The classes of the registers that the edits create.
    created: Vec<RegClass>,
    /// The number of the first register that the lowering created, and the classes of all these registers.
    own: u32,
    classes: Vec<RegClass>,
    purposes: BTreeMap<VReg, Purpose>,
    words: Vec<VReg>,
    entry_code: Range<u32>,
    /// For each instruction that the edits insert, its lowered instructions.
    became: Vec<Range<u32>>,
    /// The offsets of slots in local memory, and the size in bytes and alignment of their array.
    local: BTreeMap<Slot, u64>,
    local_array: Option<(u64, u64)>,
    /// The largest alignment that an access to local memory assumes.
    local_alignment: u64,
    /// Predicates with a constant value before their store, computed on first use.
    constants: Option<BTreeMap<Inst, bool>>,
}

impl<'a> Walk<'a> {
    fn new(before: &'a Function, edits: &'a EditList, lowered: &'a [LoweredEdit]) -> Self {
        let created = edits.edits().iter().filter(|edit| matches!(edit, Edit::CreateRegister { .. })).count();
        let first = before.num_insts() as u32;
        Self {
            before,
            edits,
            lowered,
            at: 0,
            next: first,
            slots: Vec::new(),
            array: None,
            own: (before.num_regs() + created) as u32,
            created: Vec::new(),
            classes: Vec::new(),
            purposes: BTreeMap::new(),
            words: Vec::new(),
            entry_code: first..first,
            became: Vec::new(),
            local: BTreeMap::new(),
            local_array: None,
            local_alignment: 1,
            constants: None,
        }
    }

    /// Records the slot, array or register that an edit creates. Returns whether the edit creates a slot or the array.
    fn note(&mut self, edit: &Edit) -> bool {
        match *edit {
            Edit::CreateSlot { size, .. } => self.slots.push(Kind::Local(size)),
            Edit::CreateSharedSlot { offset, row, .. } => self.slots.push(Kind::Shared { offset, row }),
            Edit::CreateBitSlot { place, .. } => self.slots.push(Kind::Bit { word: place.word, mask: place.mask() }),
            Edit::CreateSharedArray(array) => self.array = Some(array.bytes),
            Edit::CreateRegister { class, .. } => {
                self.created.push(class);
                return false;
            }
            _ => return false,
        }
        true
    }

    /// Returns the class of a register of the function or of the edits. `None` for other registers.
    fn class(&self, reg: VReg) -> Option<RegClass> {
        match reg.index().checked_sub(self.before.num_regs()) {
            None => Some(self.before.class(reg)),
            Some(number) => self.created.get(number).copied(),
        }
    }

    fn slot(&self, slot: Slot) -> Result<Kind, String> {
        let number = slot.index().checked_sub(self.before.num_slots());
        let kind = number.and_then(|number| self.slots.get(number));
        kind.copied().ok_or_else(|| format!("an access to {slot}, which no edit makes"))
    }

    /// Skips the registers that the lowering creates, and records their classes.
    fn own_registers(&mut self) -> Result<(), String> {
        while let Some(LoweredEdit::Kept(Edit::CreateRegister { reg, class })) = self.lowered.get(self.at)
            && reg.0 >= self.own
        {
            if reg.0 != self.own + self.classes.len() as u32 {
                return Err(format!("a register out of order: {reg}"));
            }
            self.classes.push(*class);
            self.at += 1;
        }
        Ok(())
    }

    fn take(&mut self) -> Result<&'a LoweredEdit, String> {
        self.at += 1;
        self.lowered.get(self.at - 1).ok_or_else(|| "nothing".to_owned())
    }

    fn edit(&mut self, edit: &Edit) -> Result<(), String> {
        // The registers of the lowering come after the registers of the edits.
        if !matches!(edit, Edit::CreateRegister { .. }) {
            self.own_registers()?;
        }
        match *edit {
            Edit::InsertSpill { inst, at, reg, slot } => self.access(Role::Spill, (inst, at), &[(reg, slot)]),
            Edit::InsertReload { inst, at, reg, slot } => self.access(Role::Reload, (inst, at), &[(reg, slot)]),
            Edit::InsertWideSpill { inst, at, ref parts } => self.access(Role::Spill, (inst, at), parts),
            Edit::InsertWideReload { inst, at, ref parts } => self.access(Role::Reload, (inst, at), parts),
            Edit::CreateSlot { .. }
            | Edit::CreateSharedArray(_)
            | Edit::CreateSharedSlot { .. }
            | Edit::CreateBitSlot { .. } => Ok(()),
            _ => {
                let expected = LoweredEdit::Kept(self.renumbered(edit));
                let found = self.take()?;
                if *found == expected { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
            }
        }
    }

    /// Returns an edit with the new numbers of instructions.
    fn renumbered(&mut self, edit: &Edit) -> Edit {
        let mut edit = edit.clone();
        match &mut edit {
            Edit::InsertCopy { inst, .. } | Edit::InsertConstant { inst, .. } | Edit::InsertClone { inst, .. } => {
                *inst = Inst(self.next);
                self.became.push(self.next..self.next + 1);
                self.next += 1;
            }
            Edit::SetRegister { inst, .. } => {
                if let Some(range) = self.of_edit(*inst) {
                    *inst = Inst(range.start);
                }
            }
            Edit::Permute { block, order } => {
                let old = std::mem::take(order);
                if *block == Block(0) {
                    order.extend(self.entry_code.clone().map(Inst));
                }
                for inst in old {
                    order.extend(self.of_edit(inst).unwrap_or(inst.0..inst.0 + 1).map(Inst));
                }
            }
            _ => {}
        }
        edit
    }

    /// Returns the lowered instructions of an instruction that the edits insert. `None` for an instruction of the
    /// function.
    fn of_edit(&self, inst: Inst) -> Option<Range<u32>> {
        let number = inst.index().checked_sub(self.before.num_insts())?;
        self.became.get(number).cloned()
    }

    /// Returns the position before the first instruction of the entry that no edit moves.
    fn entry_place(&self) -> Position {
        let moves = self.edits.edits().iter().filter_map(|edit| match edit {
            Edit::Move { inst, .. } => Some(*inst),
            _ => None,
        });
        let moved: BTreeSet<Inst> = moves.collect();
        let entry = self.before.blocks().next().map_or(Inst(0)..Inst(0), |entry| self.before.block_range(entry));
        let before = (entry.start.0..entry.end.0).map(Inst).find(|inst| !moved.contains(inst));
        Position { block: Block(0), before }
    }

    /// Checks the code at the entry, which computes addresses and clears bits. All other insertions at this position
    /// come later.
    fn entry(&mut self) -> Result<(), String> {
        self.own_registers()?;
        let place = self.entry_place();
        loop {
            let (inst, at) = match self.lowered.get(self.at) {
                Some(LoweredEdit::InsertAssembly { inst, at, text, results }) => {
                    self.assembly(text, results)?;
                    (*inst, *at)
                }
                Some(LoweredEdit::Insert(Insertion { inst, at, op: MachineOp::Clear, operands, memory: None })) => {
                    let [Operand { value: Value::Reg(word), .. }, _] = operands[..] else {
                        return Err(format!("clears {operands:?}"));
                    };
                    if *operands != [Operand::write(word), Operand::immediate(0)] {
                        return Err(format!("clears by {operands:?}"));
                    }
                    let number = self.words.len() as u32;
                    self.give_purpose(word, RegClass::B32, Purpose::Word(number))?;
                    self.words.push(word);
                    (*inst, *at)
                }
                _ => break,
            };
            if inst.0 != self.next || at != place {
                return Err(format!("{inst} at the entry at {at:?}, expected {place:?}"));
            }
            self.next += 1;
            self.at += 1;
        }
        self.entry_code.end = self.next;
        Ok(())
    }

    /// Assigns a use to a register that the lowering created. A register has only one use.
    fn give_purpose(&mut self, reg: VReg, class: RegClass, purpose: Purpose) -> Result<(), String> {
        let number = reg.0.checked_sub(self.own).ok_or_else(|| format!("{reg}, which belongs to the function"))?;
        if self.classes.get(number as usize) != Some(&class) {
            return Err(format!("{reg}, which does not have class {}", class.name()));
        }
        match self.purposes.insert(reg, purpose) {
            None => Ok(()),
            Some(other) => Err(format!("{reg} for {purpose:?}, which is already used for {other:?}")),
        }
    }

    /// Checks that slots in local memory do not overlap and lie in the array, and that the array has the alignment that
    /// accesses assume.
    fn check_local_slots(&self) -> Result<(), String> {
        let Some((bytes, alignment)) = self.local_array else { return Ok(()) };
        if !alignment.is_multiple_of(self.local_alignment) {
            return Err(format!("an array aligned to {alignment}, but accesses assume {}", self.local_alignment));
        }
        let mut places: Vec<(u64, u64)> = Vec::new();
        for (&slot, &offset) in &self.local {
            let Kind::Local(size) = self.slot(slot)? else { continue };
            places.push((offset, offset + size));
        }
        places.sort_unstable();
        if places.windows(2).any(|pair| pair[0].1 > pair[1].0) || places.last().is_some_and(|last| last.1 > bytes) {
            return Err(format!("slots that overlap, or exceed {bytes} bytes: {places:?}"));
        }
        Ok(())
    }
}
