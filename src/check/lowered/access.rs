//! The check of one store to slots, or of one load from slots.

use std::collections::BTreeMap;

use super::{Kind, Purpose, Walk};
use crate::function::{
    AccessRegisters, Insertion, Inst, LoweredEdit, MachineOp, MemoryAccess, MemorySpace, Operand, Origin, Position,
    RegClass, Role, Slot, VReg,
};

impl Walk<'_> {
    pub(super) fn access(
        &mut self,
        role: Role,
        (inst, at): (Inst, Position),
        parts: &[(VReg, Slot)],
    ) -> Result<(), String> {
        let start = self.next;
        let &(reg, slot) = parts.first().ok_or("an access to no slot")?;
        let class = self.class(reg).ok_or("an access by an unknown register")?;
        let is_store = role == Role::Spill;
        match (self.slot(slot)?, class) {
            (Kind::Bit { word, mask }, _) => self.bit(is_store, (inst, at), reg, (word, mask))?,
            (_, RegClass::B1) => {
                let conversion = if is_store { MachineOp::NumberOfPredicate } else { MachineOp::PredicateOfNumber };
                self.converted(is_store, at, (conversion, RegClass::B16, 1), (reg, slot))?;
            }
            (_, RegClass::B128) => {
                let conversion = if is_store { MachineOp::Halves } else { MachineOp::Whole };
                self.converted(is_store, at, (conversion, RegClass::B64, 2), (reg, slot))?;
            }
            _ => {
                let registers: Vec<VReg> = parts.iter().map(|part| part.0).collect();
                let found = self.insertion(at)?;
                self.memory(&found, is_store, class, &registers, parts)?;
            }
        }
        self.became.push(start..self.next);
        Ok(())
    }

    /// Takes the next lowered edit, which must insert an instruction at a position.
    fn insertion(&mut self, at: Position) -> Result<Insertion, String> {
        match self.take()? {
            LoweredEdit::Insert(insertion) if insertion.inst.0 == self.next && insertion.at == at => {
                self.next += 1;
                Ok(insertion.clone())
            }
            other => Err(format!("{other:?}, expected an instruction at {at:?}")),
        }
    }

    /// Checks that an instruction has an opcode and operands, and accesses no memory.
    fn expect(found: &Insertion, op: MachineOp, operands: &[Operand]) -> Result<(), String> {
        if found.op == op && found.operands == operands && found.memory.is_none() {
            Ok(())
        } else {
            Err(format!("{found:?}, expected {op:?} of {operands:?}"))
        }
    }

    /// Checks an access to one slot through converted registers, together with the conversion.
    fn converted(
        &mut self,
        is_store: bool,
        at: Position,
        (op, class, number): (MachineOp, RegClass, usize),
        (reg, slot): (VReg, Slot),
    ) -> Result<(), String> {
        let first = self.insertion(at)?;
        let second = self.insertion(at)?;
        let (conversion, access) = if is_store { (first, second) } else { (second, first) };
        let registers: Vec<VReg> = access.operands.iter().take(number).filter_map(|operand| operand.reg()).collect();
        for &part in &registers {
            self.give_purpose(part, class, Purpose::Part)?;
        }
        let written = registers.iter().map(|&part| Operand::write(part));
        let read = registers.iter().map(|&part| Operand::read(part));
        let numbers = |numbers: &[i64]| numbers.iter().map(|&number| Operand::immediate(number)).collect::<Vec<_>>();
        let operands: Vec<Operand> = match op {
            MachineOp::NumberOfPredicate => written.chain(numbers(&[1, 0])).chain([Operand::read(reg)]).collect(),
            MachineOp::PredicateOfNumber => {
                [Operand::write(reg)].into_iter().chain(read).chain(numbers(&[0, 1])).collect()
            }
            MachineOp::Halves => written.chain([Operand::read(reg)]).collect(),
            _ => [Operand::write(reg)].into_iter().chain(read).collect(),
        };
        Self::expect(&conversion, op, &operands)?;
        self.memory(&access, is_store, class, &registers, &[(reg, slot)])
    }

    /// Checks one access by registers of one class to adjacent slots.
    fn memory(
        &mut self,
        found: &Insertion,
        is_store: bool,
        class: RegClass,
        registers: &[VReg],
        parts: &[(VReg, Slot)],
    ) -> Result<(), String> {
        let bytes = class.bits() / 8;
        let all = bytes * registers.len() as u32;
        let of_slot = u64::from(all) / parts.len() as u64;
        let wrong = |what: &str| Err(format!("{found:?}: {what}"));
        let Some(&[address, offset]) = found.operands.last_chunk() else { return wrong("no address") };
        let (Some(address), Some(offset)) = (address.read_reg(), offset.as_immediate()) else {
            return wrong("no address");
        };
        let space = match (self.slot(parts[0].1)?, self.purposes.get(&address)) {
            (Kind::Shared { offset: wanted, row }, Some(&Purpose::RowAddress(found))) => {
                if row != found || i64::from(wanted) != offset {
                    return wrong("another offset in shared memory");
                }
                MemorySpace::Shared
            }
            (Kind::Local(_), Some(Purpose::LocalAddress)) => {
                let Ok(offset) = u64::try_from(offset) else { return wrong("a negative offset") };
                if !offset.is_multiple_of(all.into()) {
                    return wrong("not aligned");
                }
                self.local_alignment = self.local_alignment.max(all.into());
                for (&(_, slot), number) in parts.iter().zip(0..) {
                    let at = offset + number * of_slot;
                    if *self.local.entry(slot).or_insert(at) != at {
                        return wrong("another offset in local memory");
                    }
                }
                MemorySpace::Local
            }
            _ => return wrong("not the address of the slot"),
        };
        let is_volatile = is_store && space == MemorySpace::Shared;
        // Immediates after the registers. A store has: volatile, scope, space, bits. A load has: volatile, scope,
        // space, type, bits, mask of the used bytes.
        let modes = match is_store {
            true => vec![if is_volatile { 8 } else { 0 }, 0, space as i64, class.bits().into()],
            false => vec![0, 0, space as i64, 3, class.bits().into(), -1],
        };
        let register = |&reg: &VReg| if is_store { Operand::read(reg) } else { Operand::write(reg) };
        let mut operands: Vec<Operand> = registers.iter().map(register).collect();
        operands.extend(modes.into_iter().map(Operand::immediate));
        operands.extend([Operand::read(address), Operand::immediate(offset)]);
        let moved = AccessRegisters { class, registers: registers.len() as u8 };
        let op = if is_store { MachineOp::Store(moved) } else { MachineOp::Load(moved) };
        let memory = MemoryAccess { space, bytes: all, align: all, is_store, is_volatile };
        if found.op != op || found.operands != operands || found.memory != Some(memory) {
            return Err(format!("{found:?}, expected {op:?} of {operands:?} and {memory:?}"));
        }
        Ok(())
    }

    /// Checks a store of a predicate to a bit, or a load of a predicate from a bit.
    fn bit(
        &mut self,
        is_store: bool,
        (inst, at): (Inst, Position),
        predicate: VReg,
        (word, mask): (u32, i32),
    ) -> Result<(), String> {
        let &word = self.words.get(word as usize).ok_or("an access to a bit that the entry does not clear")?;
        let number = |number: i32| Operand::immediate(number.into());
        let (reads, writes) = (Operand::read(word), Operand::write(word));
        let first = self.insertion(at)?;
        let part = first.operands.first().and_then(Operand::def).ok_or("an access to a bit without a result")?;
        if !is_store {
            self.give_purpose(part, RegClass::B32, Purpose::Part)?;
            Self::expect(&first, MachineOp::And, &[Operand::write(part), reads, number(mask)])?;
            let test = [Operand::write(predicate), Operand::read(part), number(0), number(1)];
            return Self::expect(&self.insertion(at)?, MachineOp::Test, &test);
        }
        if part == word {
            return match self.constant(inst) {
                Some(true) => Self::expect(&first, MachineOp::Set, &[writes, reads, number(mask)]),
                Some(false) => Self::expect(&first, MachineOp::And, &[writes, reads, number(!mask)]),
                None => Err("a constant bit for a predicate that is not constant".into()),
            };
        }
        self.give_purpose(part, RegClass::B32, Purpose::Part)?;
        let select = [Operand::write(part), number(mask), number(0), Operand::read(predicate)];
        Self::expect(&first, MachineOp::Select, &select)?;
        let second = self.insertion(at)?;
        let rest = second.operands.first().and_then(Operand::def).ok_or("an access to a bit without a result")?;
        self.give_purpose(rest, RegClass::B32, Purpose::Part)?;
        Self::expect(&second, MachineOp::And, &[Operand::write(rest), reads, number(!mask)])?;
        Self::expect(&self.insertion(at)?, MachineOp::Or, &[writes, Operand::read(rest), Operand::read(part)])
    }

    /// Returns the value of the predicate that an inserted store writes, if a constant is assigned directly before the
    /// store.
    fn constant(&mut self, inst: Inst) -> Option<bool> {
        let (before, edits) = (self.before, self.edits);
        let constants = self.constants.get_or_insert_with(|| {
            let Ok(applied) = edits.apply(before) else { return BTreeMap::new() };
            let after = &applied.function;
            let stores = after.insts().filter(|&inst| after.role(inst) == Role::Spill);
            let known = stores.filter_map(|store| {
                let predicate = after.operands(store).first()?.read_reg()?;
                let Origin::Inserted(number) = applied.origin[store] else { return None };
                Some((number, after.constant_ahead(store, predicate)?))
            });
            known.collect()
        });
        constants.get(&inst).copied()
    }
}
