//! Operands and their modifiers.

use super::Function;
use crate::emulate::pure::Pure;
use crate::emulate::types::{Ty, low, signed};
use crate::sass::instruction::Instruction;
use crate::sass::operand::{Changes, Operand};

/// The reading of an operand: the modifiers before and after it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    changes: Changes,
    bits: u32,
    /// Whether it is a floating-point number: its highest bit is the sign.
    is_float: bool,
    is_predicate: bool,
}

impl Reading {
    pub(crate) fn new(operand: &Operand, ty: Ty) -> Self {
        let changes = match *operand {
            Operand::Register(_, changes) | Operand::Constant(_, changes) => changes,
            Operand::Predicate(predicate) => Changes { negated: predicate.negated, ..Changes::default() },
            _ => Changes::default(),
        };
        Self { changes, bits: ty.bits(), is_float: ty.is_float(), is_predicate: ty == Ty::Pred }
    }

    /// Returns the value of an integer, a predicate, or a floating-point number in one register or two.
    pub(crate) fn read(self, value: u64) -> u64 {
        let Changes { negated, absolute, inverted, byte, .. } = self.changes;
        if self.is_predicate {
            return value ^ u64::from(negated);
        }
        let sign = 1 << (self.bits - 1);
        let mut value = low(value, self.bits);
        if let Some(byte) = byte {
            value = value >> (8 * byte) & 0xff;
        }
        if self.is_float {
            value &= if absolute { !sign } else { u64::MAX };
            return value ^ if negated { sign } else { 0 };
        }
        if absolute {
            value = signed(value, self.bits).unsigned_abs();
        }
        if inverted {
            value = !value;
        }
        low(if negated { value.wrapping_neg() } else { value }, self.bits)
    }

    /// Whether [`Self::read`] inverts or negates the value. A sum needs the carry of the negation.
    pub(crate) fn is_negated(self) -> bool {
        self.changes.negated
    }

    /// Returns the value as a summand. A negation becomes the complement and a one. The sum's carry is then the carry
    /// into the next word of a longer number.
    pub(crate) fn summand(self, value: u64) -> (u64, u64) {
        let plain = Self { changes: Changes { negated: false, ..self.changes }, ..self }.read(value);
        if self.is_negated() { (low(!plain, self.bits), 1) } else { (plain, 0) }
    }
}

/// Creates a function of operands that are read with their modifiers.
pub(crate) fn function<const N: usize, const M: usize>(
    instruction: &Instruction,
    to: [(usize, Ty); M],
    from: [(usize, Ty); N],
    compute: impl Fn([u64; N]) -> [u64; M] + Send + Sync + 'static,
) -> Option<Function> {
    let readings = readings(instruction, from)?;
    Some(of_values(to, from, move |values| compute(std::array::from_fn(|at| readings[at].read(values[at])))))
}

/// Returns the readings of operands. `None` if the instruction has fewer operands.
pub(crate) fn readings<const N: usize>(instruction: &Instruction, from: [(usize, Ty); N]) -> Option<[Reading; N]> {
    let mut readings = [Reading::default(); N];
    for (reading, (operand, ty)) in readings.iter_mut().zip(from) {
        *reading = Reading::new(instruction.operands.get(operand)?, ty);
    }
    Some(readings)
}

/// Creates a function of the raw values of operands.
pub(crate) fn of_values<const N: usize, const M: usize>(
    to: [(usize, Ty); M],
    from: [(usize, Ty); N],
    compute: impl Fn([u64; N]) -> [u64; M] + Send + Sync + 'static,
) -> Function {
    let pure = Pure::new(Ty::Unsigned(32), compute).results(&to.map(|to| to.1)).sources(&from.map(|from| from.1));
    Function { to: to.map(|to| to.0).to_vec(), from: from.map(|from| from.0).to_vec(), pure }
}

/// Returns the number of leading results: a predicate, or a register and the predicates after it.
pub(crate) fn results(instruction: &Instruction) -> usize {
    let is_result = |operand: &Operand| matches!(operand, Operand::Predicate(predicate) if !predicate.negated);
    match instruction.operands.first() {
        Some(Operand::Register(..)) => {
            1 + instruction.operands[1..].iter().take_while(|operand| is_result(operand)).count()
        }
        Some(Operand::Predicate(_)) => 1,
        _ => 0,
    }
}

/// Returns the trailing predicates.
pub(crate) fn last_predicates(instruction: &Instruction) -> Vec<usize> {
    let is_predicate = |operand: &Operand| matches!(operand, Operand::Predicate(_));
    let count = instruction.operands.iter().rev().take_while(|operand| is_predicate(operand)).count();
    (instruction.operands.len() - count..instruction.operands.len()).collect()
}
