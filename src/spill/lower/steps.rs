//! What a store to a slot or a load from one consists of, the same for LLVM and for text.

use super::places::{AddressOf, Place};
use crate::function::{AccessRegisters, MachineOp, MemoryAccess, MemorySpace, RegClass, Role};

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arg {
    /// One of the registers that the edit names.
    Register(usize),
    /// A register of the access alone.
    Part(usize),
    /// One of the registers that hold predicates.
    Word(u32),
    /// The register with an address.
    Address(AddressOf),
    Number(i64),
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) op: MachineOp,
    /// The operands that the table does not say.
    pub(crate) args: Vec<Arg>,
    pub(crate) memory: Option<MemoryAccess>,
}

/// A store or a load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// [`Role::Spill`] or [`Role::Reload`].
    pub(crate) role: Role,
    /// The class of the registers that the edit names, and their number.
    pub(crate) registers: AccessRegisters,
    /// Where the first of them goes.
    pub(crate) place: Place,
    /// What a predicate that is stored to a bit is known to be.
    pub(crate) constant: Option<bool>,
}

impl Access {
    fn is_store(&self) -> bool {
        self.role == Role::Spill
    }

    /// The registers that LLVM needs for an access alone: their class and number. They are made before it is known whether a
    /// predicate is a constant, so that the names of registers do not depend on that.
    pub(super) fn parts(&self) -> Option<AccessRegisters> {
        let part = |class, registers| Some(AccessRegisters { class, registers });
        match (self.place, self.registers.class) {
            (Place::Bit(_), _) => part(RegClass::B32, if self.is_store() { 2 } else { 1 }),
            (_, RegClass::B1) => part(RegClass::B16, 1),
            (_, RegClass::B128) => part(RegClass::B64, 2),
            _ => None,
        }
    }

    /// The instructions in their order. LLVM stores predicates as numbers, and 128 bits as two halves; text stores what its
    /// registers have.
    pub(crate) fn steps(&self, is_for_llvm: bool) -> Vec<Step> {
        let Some(conversion) = self.conversion().filter(|_| is_for_llvm) else {
            return if matches!(self.place, Place::Bit(_)) {
                self.bit()
            } else {
                self.memory(self.registers, Arg::Register)
            };
        };
        let access = self.memory(self.parts().unwrap_or(self.registers), Arg::Part);
        if self.is_store() { [&[conversion][..], &access].concat() } else { [&access[..], &[conversion]].concat() }
    }

    /// What converts between the register and what is stored of it: ahead of a store, and behind a load.
    fn conversion(&self) -> Option<Step> {
        let (register, low, high) = (Arg::Register(0), Arg::Part(0), Arg::Part(1));
        let (op, args) = match (self.place, self.registers.class, self.is_store()) {
            (Place::Bit(_), ..) => return None,
            (_, RegClass::B1, true) => {
                (MachineOp::NumberOfPredicate, vec![low, Arg::Number(1), Arg::Number(0), register])
            }
            (_, RegClass::B1, false) => (MachineOp::PredicateOfNumber, vec![register, low, Arg::Number(0)]),
            (_, RegClass::B128, true) => (MachineOp::Halves, vec![low, high, register]),
            (_, RegClass::B128, false) => (MachineOp::Whole, vec![register, low, high]),
            _ => return None,
        };
        Some(Step { op, args, memory: None })
    }

    /// The access to memory itself.
    fn memory(&self, registers: AccessRegisters, register: impl Fn(usize) -> Arg) -> Vec<Step> {
        let is_store = self.is_store();
        // ptxas does not undo a volatile store. Loads may move: ptxas finds a place where a register is free.
        let (space, is_volatile, address, offset) = match self.place {
            Place::Local(offset) => (MemorySpace::Local, false, AddressOf::Local, offset as i64),
            Place::Shared { offset, row } => (MemorySpace::Shared, is_store, AddressOf::Row(row), offset.into()),
            Place::Bit(_) => return Vec::new(),
        };
        let bytes = self.registers.class.spilled_bytes().unwrap_or(0) * u32::from(self.registers.registers);
        let op = if is_store { MachineOp::Store(registers) } else { MachineOp::Load(registers) };
        let mut args: Vec<Arg> = (0..registers.registers.into()).map(register).collect();
        args.extend([Arg::Address(address), Arg::Number(offset)]);
        vec![Step { op, args, memory: Some(MemoryAccess { space, bytes, align: bytes, is_store, is_volatile }) }]
    }

    /// Sets the bit of a slot to a predicate, or a predicate to the bit.
    fn bit(&self) -> Vec<Step> {
        let Place::Bit(place) = self.place else { return Vec::new() };
        let (word, predicate, zero) = (Arg::Word(place.word), Arg::Register(0), Arg::Number(0));
        let [mask, others] = [place.mask(), !place.mask()].map(|mask| Arg::Number(mask.into()));
        let step = |op, args: &[Arg]| Step { op, args: args.to_vec(), memory: None };
        match (self.is_store(), self.constant) {
            (true, Some(true)) => vec![step(MachineOp::Set, &[word, word, mask])],
            (true, Some(false)) => vec![step(MachineOp::And, &[word, word, others])],
            (true, None) => vec![
                step(MachineOp::Select, &[Arg::Part(0), mask, zero, predicate]),
                step(MachineOp::And, &[Arg::Part(1), word, others]),
                step(MachineOp::Or, &[word, Arg::Part(1), Arg::Part(0)]),
            ],
            (false, _) => vec![
                step(MachineOp::And, &[Arg::Part(0), word, mask]),
                step(MachineOp::Test, &[predicate, Arg::Part(0), zero]),
            ],
        }
    }
}
