//! Edits that insert an instruction.

use super::Origin;
use super::editor::Editor;
use super::ids::{Reason, next_id};
use crate::function::{Effects, Inst, MemorySpace, Opcode, Operand, Position, RegClass, Role, Slot, VReg, Value};
use crate::index::EntityIndex;

impl Editor<'_> {
    /// Checks an insertion's id and position before anything is added.
    fn begin_insert(&self, inst: Inst, at: Position) -> Result<(), Reason> {
        next_id(inst, self.work.inst_opcode.next_id())?;
        self.layout.check_place(self.before, self.num_blocks(), at)
    }

    pub(super) fn insert_copy(&mut self, inst: Inst, at: Position, dst: VReg, src: VReg) -> Result<(), Reason> {
        self.begin_insert(inst, at)?;
        self.same_class(dst, src)?;
        let opcode = match self.copy {
            Some(opcode) if self.work.opcodes.role(opcode) == Role::Copy => opcode,
            _ => self.intern("COPY", Role::Copy)?,
        };
        let operands = [Operand::write(dst), Operand::read(src)];
        self.add_inst(opcode, &operands, Effects::empty(), MemorySpace::Generic, Origin::Inserted(inst));
        self.layout.place(inst, at);
        Ok(())
    }

    pub(super) fn insert_constant(
        &mut self,
        inst: Inst,
        at: Position,
        opcode: Opcode,
        dst: VReg,
        value: Value,
    ) -> Result<(), Reason> {
        self.begin_insert(inst, at)?;
        self.known_reg(dst)?;
        if self.known_opcode(opcode)? != Role::Constant {
            return Err(format!("opcode {} does not make constants", self.work.opcodes.name(opcode)));
        }
        match value {
            Value::Immediate(_) | Value::Float(_) => {}
            Value::Symbol(symbol) if symbol.index() < self.work.symbols.len() => {}
            other => return Err(format!("{other:?} is not a constant: use an immediate, a float or a known symbol")),
        }
        let operands = [Operand::write(dst), Operand::plain(value)];
        self.add_inst(opcode, &operands, Effects::empty(), MemorySpace::Generic, Origin::Inserted(inst));
        self.layout.place(inst, at);
        Ok(())
    }

    pub(super) fn insert_clone(&mut self, inst: Inst, at: Position, of: Inst, dst: VReg) -> Result<(), Reason> {
        self.begin_insert(inst, at)?;
        if of.index() >= self.before.num_insts() {
            return Err(format!("{of} is not an instruction of the view"));
        }
        if !self.before.effects(of).is_pure() || matches!(self.before.role(of), Role::Phi | Role::Debug) {
            return Err(format!("{of} is not pure: only pure instructions are cloned"));
        }
        let mut operands = self.before.operands(of).to_vec();
        if operands.iter().any(|operand| operand.tied.is_some()) {
            return Err(format!("{of} has tied operands, which a clone cannot keep"));
        }
        let mut defs = operands.iter_mut().filter(|operand| operand.is_def());
        let (Some(def), None) = (defs.next(), defs.next()) else {
            return Err(format!("{of} must have one definition to be cloned"));
        };
        let Some(original) = def.reg() else {
            return Err(format!("{of} does not define a virtual register"));
        };
        self.same_class(dst, original)?;
        def.value = Value::Reg(dst);
        let (opcode, effects, space) = (self.before.opcode(of), self.before.effects(of), self.before.memory_space(of));
        let clone = self.add_inst(opcode, &operands, effects, space, Origin::Clone(of));
        self.work.inst_line[clone] = self.before.line(of);
        self.layout.place(inst, at);
        Ok(())
    }

    /// Checks the register and the slot of a spill or reload. The slot must be large enough. An edit must have created
    /// the slot, because other code then cannot write to it.
    fn check_slot(&self, reg: VReg, slot: Slot) -> Result<(), Reason> {
        let class = self.known_reg(reg)?;
        let Some(bytes) = class.spilled_bytes() else {
            return Err(format!("{reg} is of class {}, which PTX cannot store at once: spill its parts", class.name()));
        };
        let Some(data) = self.work.slots.get(slot) else {
            return Err(format!("there is no slot {slot}: the function has {}", self.work.num_slots()));
        };
        if slot.index() < self.before.num_slots() {
            return Err(format!("{slot} belongs to the function: spill to slots made by CreateSlot"));
        }
        if data.bit.is_some() {
            let name = class.name();
            return if class == RegClass::B1 {
                Ok(())
            } else {
                Err(format!("{slot} is one bit, but {reg} has class {name}"))
            };
        }
        if data.size < u64::from(bytes) {
            return Err(format!("{slot} has {} bytes, too few for {reg} of class {}", data.size, class.name()));
        }
        if data.shared.is_some() && data.size != u64::from(bytes) {
            return Err(format!(
                "{slot} is in shared memory and has {} bytes, which is not the size of {reg}",
                data.size
            ));
        }
        Ok(())
    }

    pub(super) fn insert_spill(&mut self, inst: Inst, at: Position, reg: VReg, slot: Slot) -> Result<(), Reason> {
        self.begin_insert(inst, at)?;
        self.check_slot(reg, slot)?;
        let opcode = self.intern("SPILL", Role::Spill)?;
        let operands = [Operand::read(reg), Operand::plain(Value::Slot(slot))];
        self.add_inst(opcode, &operands, Effects::WRITE, MemorySpace::Local, Origin::Inserted(inst));
        self.layout.place(inst, at);
        Ok(())
    }

    pub(super) fn insert_reload(&mut self, inst: Inst, at: Position, reg: VReg, slot: Slot) -> Result<(), Reason> {
        self.begin_insert(inst, at)?;
        self.check_slot(reg, slot)?;
        let opcode = self.intern("RELOAD", Role::Reload)?;
        let operands = [Operand::write(reg), Operand::plain(Value::Slot(slot))];
        self.add_inst(opcode, &operands, Effects::READ, MemorySpace::Local, Origin::Inserted(inst));
        self.layout.place(inst, at);
        Ok(())
    }

    /// Inserts one access to adjacent slots. The operands of the access are the registers, each followed by its slot.
    pub(super) fn insert_wide(
        &mut self,
        (inst, at): (Inst, Position),
        parts: &[(VReg, Slot)],
        role: Role,
    ) -> Result<(), Reason> {
        self.begin_insert(inst, at)?;
        for &(reg, slot) in parts {
            self.check_slot(reg, slot)?;
        }
        self.check_beside(parts)?;
        let is_spill = role == Role::Spill;
        let is_twice = |number: usize| parts[..number].iter().any(|part| part.0 == parts[number].0);
        if !is_spill && let Some(number) = (1..parts.len()).find(|&number| is_twice(number)) {
            return Err(format!("one access loads {} twice", parts[number].0));
        }
        let opcode = self.intern(if is_spill { "SPILL" } else { "RELOAD" }, role)?;
        let register = |reg| if is_spill { Operand::read(reg) } else { Operand::write(reg) };
        let operands: Vec<Operand> =
            parts.iter().flat_map(|&(reg, slot)| [register(reg), Operand::plain(Value::Slot(slot))]).collect();
        let effects = if is_spill { Effects::WRITE } else { Effects::READ };
        self.add_inst(opcode, &operands, effects, MemorySpace::Local, Origin::Inserted(inst));
        self.layout.place(inst, at);
        Ok(())
    }

    /// Checks that the slots are adjacent, so that one access of 8 or 16 bytes covers them all.
    fn check_beside(&self, parts: &[(VReg, Slot)]) -> Result<(), Reason> {
        let Some((&(first_reg, first_slot), rest)) = parts.split_first() else {
            return Err("the access has no slots".into());
        };
        let class = self.known_reg(first_reg)?;
        let bytes = class.spilled_bytes().filter(|&bytes| bytes >= 4).unwrap_or(0);
        let all = bytes * parts.len() as u32;
        if !matches!(all, 8 | 16) || rest.is_empty() {
            let (number, name) = (parts.len(), class.name());
            return Err(format!(
                "{number} registers of class {name} in one access: use registers of 4 or 8 bytes, \
                 8 or 16 bytes in total"
            ));
        }
        let first = self.work.slot(first_slot);
        for (number, &(reg, slot)) in (1..).zip(rest) {
            self.same_class(first_reg, reg)?;
            let data = self.work.slot(slot);
            let is_behind = match (first.shared, data.shared) {
                (Some(first), Some(place)) => {
                    place.row == first.row && place.offset == first.offset + number * bytes && all <= place.row
                }
                (None, None) => {
                    slot.0 == first_slot.0 + number
                        && [data.size, first.size] == [u64::from(bytes); 2]
                        && u64::from(number * bytes).is_multiple_of(data.align)
                }
                _ => false,
            };
            if !is_behind {
                return Err(format!("{slot} is not {} bytes after {first_slot}", number * bytes));
            }
        }
        let is_aligned = match first.shared {
            Some(place) => place.offset.is_multiple_of(all),
            None => first.align.is_multiple_of(u64::from(all)),
        };
        if is_aligned { Ok(()) } else { Err(format!("{first_slot} is not aligned to {all} bytes")) }
    }
}
