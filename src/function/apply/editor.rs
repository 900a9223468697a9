//! Accepts edits one by one, checks each, and records its changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::ids::{Reason, next_id};
use super::layout::Layout;
use super::shared_slots::SharedSlots;
use super::split::SplitEdges;
use super::{ApplyError, Origin};
use crate::function::assembly::{ASSEMBLY_SIGN, assembly_text, changeable_text};
use crate::function::directives::{check_attribute, check_directive};
use crate::function::shared_address::access;
use crate::function::{
    BitPlace, Block, Edit, Effects, Function, Inst, MemorySpace, Opcode, Operand, OperandFlags, Position, RegClass,
    RegData, Role, SharedArray, SharedPlace, Slot, SlotData, Symbol, SymbolData, VReg, Value,
};
use crate::index::{EntityIndex, IndexVec};

/// A function that is being edited.
pub(super) struct Editor<'f> {
    pub(super) before: &'f Function,
    /// The opcode of inserted copies; `None` if the table lacks it.
    pub(super) copy: Option<Opcode>,
    /// A copy of the function. Inserted instructions follow the function's own and are not yet in a block.
    pub(super) work: Function,
    pub(super) origin: IndexVec<Inst, Origin>,
    pub(super) splits: SplitEdges,
    pub(super) layout: Layout,
    /// For each register, the register that replaces it and the index of the edit.
    pub(super) merged: IndexVec<VReg, Option<(VReg, usize)>>,
    pub(super) deleted: IndexVec<Inst, bool>,
    pub(super) shared: SharedSlots,
    /// The bits of general registers that are already slots.
    bits: BTreeSet<BitPlace>,
    /// The blocks and the comparisons that earlier [`TurnBranch`](Edit::TurnBranch) edits have changed.
    pub(super) turned: BTreeSet<(Option<Block>, Option<Inst>)>,
    /// The symbols by their text. Built at the first lookup.
    symbols: Option<FxHashMap<String, Symbol>>,
}

impl<'f> Editor<'f> {
    pub(super) fn new(before: &'f Function, num_edits: usize) -> Self {
        Self {
            before,
            copy: before.opcodes().copy(),
            work: copy_with_room(before, num_edits),
            origin: before.insts().map(Origin::Kept).collect(),
            splits: SplitEdges::default(),
            layout: Layout::new(before, num_edits),
            merged: IndexVec::filled(None, before.num_regs()),
            deleted: IndexVec::filled(false, before.num_insts()),
            shared: SharedSlots::default(),
            bits: BTreeSet::new(),
            turned: BTreeSet::new(),
            symbols: None,
        }
    }

    /// Applies `edit`, which is number `index` of the list.
    pub(super) fn edit(&mut self, index: usize, edit: &Edit) -> Result<(), Reason> {
        match *edit {
            Edit::CreateRegister { reg, class } => self.create_register(reg, class),
            Edit::CreateSlot { slot, size, align } => self.create_slot(slot, size, align),
            Edit::CreateSharedArray(array) => self.create_shared_array(array),
            Edit::CreateSharedSlot { slot, size, offset, row } => {
                self.create_shared_slot(slot, size, SharedPlace { offset, row })
            }
            Edit::CreateBitSlot { slot, place } => self.create_bit_slot(slot, place),
            Edit::SplitEdge { block, from, to } => self.splits.add(self.before, index, block, from, to),
            Edit::InsertCopy { inst, at, dst, src } => self.insert_copy(inst, at, dst, src),
            Edit::InsertConstant { inst, at, opcode, dst, value } => self.insert_constant(inst, at, opcode, dst, value),
            Edit::InsertClone { inst, at, of, dst } => self.insert_clone(inst, at, of, dst),
            Edit::InsertSpill { inst, at, reg, slot } => self.insert_spill(inst, at, reg, slot),
            Edit::InsertReload { inst, at, reg, slot } => self.insert_reload(inst, at, reg, slot),
            Edit::InsertWideSpill { inst, at, ref parts } => self.insert_wide((inst, at), parts, Role::Spill),
            Edit::InsertWideReload { inst, at, ref parts } => self.insert_wide((inst, at), parts, Role::Reload),
            Edit::Move { inst, at } => self.move_inst(index, inst, at),
            Edit::Permute { block, ref order } => self.layout.permute(self.num_blocks(), index, block, order),
            Edit::SetRegister { inst, operand, reg } => self.set_register(inst, operand, reg),
            Edit::SetImmediate { inst, operand, opcode, value } => self.set_immediate(inst, operand, opcode, value),
            Edit::SetAddress { inst, operand, base, offset } => self.set_address(inst, operand, base, offset),
            Edit::SetAssembly { inst, ref text } => self.set_assembly(inst, text),
            Edit::TurnBranch { block, comparison } => self.turn_branch(block, comparison),
            Edit::InsertPragma { block } => self.insert_pragma(block),
            Edit::SetDebugValue { inst, value } => self.set_debug_value(inst, value),
            Edit::Merge { from, into } => self.merge(index, from, into),
            Edit::Delete { inst } => self.delete(inst),
            Edit::InsertDirective { ref text } => check_directive(text),
            Edit::SetAttribute { ref key, ref value } => {
                let is_unbounded = self.before.kernel().is_some_and(|bounds| bounds.threads().is_none());
                check_attribute(key, value, self.shared.threads().filter(|_| is_unbounded))?;
                if let Some(bounds) = &mut self.work.kernel {
                    bounds.set_attribute(key, value);
                }
                Ok(())
            }
        }
    }

    /// Checks that no register is merged into a register that is merged itself. This depends on the whole list.
    pub(super) fn check_merges(&self) -> Result<(), ApplyError> {
        for reg in self.merged.ids() {
            if let Some((into, index)) = self.merged[reg]
                && self.merged[into].is_some()
            {
                let reason = format!("{into} is merged itself: merge {reg} into the register that remains");
                return Err(ApplyError { index, reason });
            }
        }
        Ok(())
    }

    pub(super) fn num_blocks(&self) -> usize {
        self.before.num_blocks() + self.splits.len()
    }

    pub(super) fn known_reg(&self, reg: VReg) -> Result<RegClass, Reason> {
        match self.work.regs.get(reg) {
            None => Err(format!("there is no register {reg}: the function has {}", self.work.num_regs())),
            Some(RegData { class: RegClass::Other, .. }) => Err(format!("{reg} is of a class that is left to LLVM")),
            Some(data) => Ok(data.class),
        }
    }

    pub(super) fn same_class(&self, left: VReg, right: VReg) -> Result<RegClass, Reason> {
        let (left_class, right_class) = (self.known_reg(left)?, self.known_reg(right)?);
        if left_class != right_class {
            let (left_name, right_name) = (left_class.name(), right_class.name());
            return Err(format!("{left} has class {left_name} and {right} has class {right_name}: use one class"));
        }
        Ok(left_class)
    }

    fn known_inst(&self, inst: Inst) -> Result<(), Reason> {
        if inst.index() < self.work.num_insts() {
            Ok(())
        } else {
            Err(format!("there is no instruction {inst}: the function has {}", self.work.num_insts()))
        }
    }

    pub(super) fn known_opcode(&self, opcode: Opcode) -> Result<Role, Reason> {
        if opcode.index() < self.work.opcodes.len() {
            Ok(self.work.opcodes.role(opcode))
        } else {
            Err(format!("there is no opcode {opcode}: the table has {}", self.work.opcodes.len()))
        }
    }

    fn create_register(&mut self, reg: VReg, class: RegClass) -> Result<(), Reason> {
        next_id(reg, self.work.regs.next_id())?;
        if class == RegClass::Other {
            return Err(format!("{reg} cannot be of class other: name one of PTX's classes"));
        }
        self.work.regs.push(RegData { class, name: None });
        self.merged.push(None);
        Ok(())
    }

    fn create_slot(&mut self, slot: Slot, size: u64, align: u64) -> Result<(), Reason> {
        next_id(slot, self.work.slots.next_id())?;
        // LLVM addresses frames by 32-bit offsets.
        if size == 0 || i32::try_from(size).is_err() || !align.is_power_of_two() {
            return Err(format!(
                "{slot} has size {size}, alignment {align}: need 1 to {} bytes and a power of two",
                i32::MAX
            ));
        }
        if self.shared.has_slots() || !self.bits.is_empty() {
            return Err(format!("{slot} is in local memory: create such slots before all others"));
        }
        self.work.slots.push(SlotData { size, align, name: None, line: 0, shared: None, bit: None });
        Ok(())
    }

    fn create_shared_array(&mut self, array: SharedArray) -> Result<(), Reason> {
        if self.before.kernel().is_none() {
            return Err("only a kernel can have an array in shared memory".into());
        }
        self.shared.set_array(array)
    }

    fn create_shared_slot(&mut self, slot: Slot, size: u32, place: SharedPlace) -> Result<(), Reason> {
        next_id(slot, self.work.slots.next_id())?;
        if !self.bits.is_empty() {
            return Err(format!("{slot} is in memory: create such slots before bits"));
        }
        self.shared.add(size, place).map_err(|reason| format!("{slot} {reason}"))?;
        let size = u64::from(size);
        self.work.slots.push(SlotData { size, align: size, name: None, line: 0, shared: Some(place), bit: None });
        Ok(())
    }

    fn create_bit_slot(&mut self, slot: Slot, place: BitPlace) -> Result<(), Reason> {
        next_id(slot, self.work.slots.next_id())?;
        let words = self.bits.last().map_or(0, |place| place.word + 1);
        let BitPlace { word, bit } = place;
        if bit >= u32::BITS || word > words {
            return Err(format!(
                "{slot} is bit {bit} of word {word}: use one of the 32 bits of the {words} existing words, \
                 or of the next word"
            ));
        }
        if !self.bits.insert(place) {
            return Err(format!("{slot} is bit {bit} of word {word}, which another slot uses"));
        }
        self.work.slots.push(SlotData { size: 1, align: 1, name: None, line: 0, shared: None, bit: Some(place) });
        Ok(())
    }

    /// Returns the opcode with that name and role, and adds it to the table if it is missing.
    pub(super) fn intern(&mut self, name: &str, role: Role) -> Result<Opcode, Reason> {
        let opcode = match self.work.opcodes.find(name) {
            Some(opcode) => opcode,
            None => Arc::make_mut(&mut self.work.opcodes).intern(name, role),
        };
        if self.work.opcodes.role(opcode) == role {
            Ok(opcode)
        } else {
            Err(format!("opcode {name} has another role in this table: it must be {role:?}"))
        }
    }

    /// Adds an instruction that is not yet in a block.
    pub(super) fn add_inst(
        &mut self,
        opcode: Opcode,
        operands: &[Operand],
        effects: Effects,
        space: MemorySpace,
        origin: Origin,
    ) -> Inst {
        let inst = self.work.inst_opcode.push(opcode);
        self.work.inst_effects.push(effects);
        self.work.inst_space.push(space);
        self.work.inst_line.push(0);
        self.work.operands.extend_from_slice(operands);
        self.work.operand_start.push(self.work.operands.len() as u32);
        self.origin.push(origin);
        self.deleted.push(false);
        inst
    }

    fn move_inst(&mut self, index: usize, inst: Inst, at: Position) -> Result<(), Reason> {
        if inst.index() >= self.before.num_insts() {
            return Err(format!("{inst} is not an instruction of the view: insert it at its final position"));
        }
        if self.before.role(inst) == Role::Phi || self.before.effects(inst).contains(Effects::TERMINATOR) {
            return Err(format!("{inst} is a PHI or a terminator, which cannot be moved"));
        }
        self.layout.check_place(self.before, self.num_blocks(), at)?;
        self.layout.move_inst(index, inst, at)
    }

    pub(super) fn operand_mut(&mut self, inst: Inst, operand: u32) -> Result<&mut Operand, Reason> {
        self.known_inst(inst)?;
        let range = self.work.operand_start[inst.index()]..self.work.operand_start[inst.index() + 1];
        if operand >= range.end - range.start {
            return Err(format!("{inst} has no operand {operand}: it has {}", range.end - range.start));
        }
        Ok(&mut self.work.operands[(range.start + operand) as usize])
    }

    fn set_register(&mut self, inst: Inst, operand: u32, reg: VReg) -> Result<(), Reason> {
        let Some(old) = self.operand_mut(inst, operand)?.reg() else {
            return Err(format!("operand {operand} of {inst} is not a virtual register"));
        };
        let is_def = self.operand_mut(inst, operand)?.is_def();
        let may_be_set = match self.origin[inst] {
            Origin::Kept(_) => true,
            Origin::Clone(_) => !is_def,
            Origin::Inserted(_) => false,
        };
        if !may_be_set {
            return Err(format!("{inst} is new: only registers that a clone reads can be replaced"));
        }
        self.same_class(old, reg)?;
        self.operand_mut(inst, operand)?.value = Value::Reg(reg);
        Ok(())
    }

    fn set_immediate(&mut self, inst: Inst, operand: u32, opcode: Opcode, value: i64) -> Result<(), Reason> {
        self.known_opcode(opcode)?;
        let place = self.operand_mut(inst, operand)?;
        if place.read_reg().is_none() || place.tied.is_some() {
            return Err(format!("operand {operand} of {inst} is not an untied register that is read"));
        }
        *place = Operand::immediate(value);
        self.work.inst_opcode[inst] = opcode;
        Ok(())
    }

    fn set_address(&mut self, inst: Inst, operand: u32, base: VReg, offset: i64) -> Result<(), Reason> {
        self.known_inst(inst)?;
        if assembly_text(&self.work, inst).is_some() {
            return Err(format!("{inst} is inline assembly, which has its offset in its text"));
        }
        let Some(old) = access(&self.work, inst).filter(|access| access.number == operand) else {
            return Err(format!("{inst} is not known to access shared memory at operand {operand}"));
        };
        if i32::try_from(offset).is_err() {
            return Err(format!("an offset of {offset} has more than 32 bits"));
        }
        self.same_class(old.base, base)?;
        self.operand_mut(inst, operand + 1)?.value = Value::Immediate(offset);
        self.operand_mut(inst, operand)?.value = Value::Reg(base);
        Ok(())
    }

    fn set_assembly(&mut self, inst: Inst, text: &str) -> Result<(), Reason> {
        self.known_inst(inst)?;
        if changeable_text(&self.work, inst).is_none() {
            return Err(format!("{inst} is not inline assembly of LLVM"));
        }
        if text.contains('\0') {
            return Err("the text contains a NUL character, at which LLVM would truncate it".into());
        }
        let symbol = self.symbol(format!("{ASSEMBLY_SIGN}{text}"));
        self.operand_mut(inst, 0)?.value = Value::Symbol(symbol);
        Ok(())
    }

    /// Returns the symbol with that text, and adds it if it is missing.
    fn symbol(&mut self, text: String) -> Symbol {
        let symbols = &mut self.work.symbols;
        let by_text = self
            .symbols
            .get_or_insert_with(|| symbols.ids().map(|symbol| (symbols[symbol].text.to_string(), symbol)).collect());
        *by_text.entry(text).or_insert_with_key(|text| {
            symbols.push(SymbolData { text: text.as_str().into(), shared_bytes: 0, is_dynamic_shared: false })
        })
    }

    fn set_debug_value(&mut self, inst: Inst, value: Value) -> Result<(), Reason> {
        self.known_inst(inst)?;
        if self.work.role(inst) != Role::Debug {
            return Err(format!("{inst} is not a debug instruction"));
        }
        let range = self.work.operand_start[inst.index()] as usize..self.work.operand_start[inst.index() + 1] as usize;
        let regs: Vec<usize> = range.filter(|&index| self.work.operands[index].reg().is_some()).collect();
        if !matches!(value, Value::NoReg | Value::Reg(_) | Value::Immediate(_)) {
            return Err(format!("{inst} can describe a register, a number or nothing"));
        }
        if value != Value::NoReg && regs.len() != 1 {
            return Err(format!("{inst} has {} registers: use SetRegister for each, or no register", regs.len()));
        }
        if let (Value::Reg(reg), [only]) = (value, &regs[..])
            && let Some(old) = self.work.operands[*only].reg()
        {
            self.same_class(old, reg)?;
        }
        for index in regs {
            let operand = &mut self.work.operands[index];
            operand.value = value;
            operand.flags.remove(OperandFlags::KILL | OperandFlags::UNDEF);
        }
        Ok(())
    }

    fn merge(&mut self, index: usize, from: VReg, into: VReg) -> Result<(), Reason> {
        self.same_class(from, into)?;
        if from == into {
            return Err(format!("{from} is merged into itself"));
        }
        if self.merged[from].is_some() {
            return Err(format!("{from} is merged twice"));
        }
        self.merged[from] = Some((into, index));
        Ok(())
    }

    fn delete(&mut self, inst: Inst) -> Result<(), Reason> {
        self.known_inst(inst)?;
        if self.deleted[inst] {
            return Err(format!("{inst} is deleted twice"));
        }
        if self.layout.is_moved(inst) {
            return Err(format!("{inst} is both moved and deleted"));
        }
        self.deleted[inst] = true;
        Ok(())
    }
}

/// Copies a function. Reserves memory for one more instruction per edit, with about two operands each.
fn copy_with_room(function: &Function, num_edits: usize) -> Function {
    fn copy<T: Clone>(from: &[T], room: usize) -> Vec<T> {
        let mut copy = Vec::with_capacity(from.len() + room);
        copy.extend_from_slice(from);
        copy
    }
    Function {
        name: function.name.clone(),
        kernel: function.kernel,
        file: function.file.clone(),
        opcodes: function.opcodes.clone(),
        blocks: function.blocks.clone(),
        succs: function.succs.clone(),
        inst_opcode: copy(function.inst_opcode.as_slice(), num_edits).into(),
        inst_effects: copy(function.inst_effects.as_slice(), num_edits).into(),
        inst_space: copy(function.inst_space.as_slice(), num_edits).into(),
        inst_line: copy(function.inst_line.as_slice(), num_edits).into(),
        operand_start: copy(&function.operand_start, num_edits),
        operands: copy(&function.operands, 2 * num_edits),
        regs: copy(function.regs.as_slice(), num_edits).into(),
        slots: function.slots.clone(),
        symbols: function.symbols.clone(),
    }
}
