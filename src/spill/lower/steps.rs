//! The steps of a store to a slot or a load from a slot, for LLVM and for PTX.

use super::places::{AddressOf, Place};
use crate::function::{AccessRegisters, MachineOp, MemoryAccess, MemorySpace, RegClass, Role};

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arg {
    /// A register of the edit, by its index.
    Register(usize),
    /// A register that only this access uses, by its index.
    Part(usize),
    /// One of the registers that hold predicates.
    Word(u32),
    /// A register that contains an address.
    Address(AddressOf),
    Number(i64),
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) op: MachineOp,
    /// The operands that the table does not fill in.
    pub(crate) args: Vec<Arg>,
    pub(crate) memory: Option<MemoryAccess>,
}

/// A store or a load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// [`Role::Spill`] or [`Role::Reload`].
    pub(crate) role: Role,
    /// The class of the edit's registers, and their number.
    pub(crate) registers: AccessRegisters,
    /// The location of the first slot.
    pub(crate) place: Place,
    /// The known value of a predicate that is stored to a bit.
    pub(crate) constant: Option<bool>,
}

impl Access {
    fn is_store(&self) -> bool {
        self.role == Role::Spill
    }

    /// Returns the class and number of the additional registers that LLVM needs for this access. The result does not
    /// depend on whether a predicate is constant, because the registers are created and named before that is known.
    pub(super) fn parts(&self) -> Option<AccessRegisters> {
        let part = |class, registers| Some(AccessRegisters { class, registers });
        match (self.place, self.registers.class) {
            (Place::Bit(_), _) => part(RegClass::B32, if self.is_store() { 2 } else { 1 }),
            (_, RegClass::B1) => part(RegClass::B16, 1),
            (_, RegClass::B128) => part(RegClass::B64, 2),
            _ => None,
        }
    }

    /// Returns the instructions in their order. For LLVM, predicates are stored as integers, and 128 bits as two
    /// halves. In PTX, the registers are stored directly.
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

    /// Returns the conversion between a register and its stored form: before a store, and after a load.
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

    /// Returns the memory access itself.
    fn memory(&self, registers: AccessRegisters, register: impl Fn(usize) -> Arg) -> Vec<Step> {
        let is_store = self.is_store();
        // ptxas does not remove a volatile store. Loads are not volatile, so ptxas can move them to a place with a free
        // register.
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

    /// Sets the bit of a slot to the value of a predicate, or a predicate to the value of the bit.
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
