//! Operands with what is done to them ahead of an operation.

use super::Function;
use crate::emulate::pure::Pure;
use crate::emulate::types::{Ty, low, signed};
use crate::sass::instruction::Instruction;
use crate::sass::operand::{Changes, Operand};

/// How the value of an operand is read: what stands before or behind it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    changes: Changes,
    bits: u32,
    /// It is a floating-point number: its sign is its highest bit.
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

    /// The value of an integer, a predicate, or a floating-point number of one register or two.
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

    /// Whether a value is inverted or negated, as [`Self::read`] does it: a sum needs the carry of that.
    pub(crate) fn is_negated(self) -> bool {
        self.changes.negated
    }

    /// The value as a summand of so many bits, with its complement and one in place of its negation: the sum's carry is
    /// then what the next word of a longer number needs.
    pub(crate) fn summand(self, value: u64) -> (u64, u64) {
        let plain = Self { changes: Changes { negated: false, ..self.changes }, ..self }.read(value);
        if self.is_negated() { (low(!plain, self.bits), 1) } else { (plain, 0) }
    }
}

/// A function of operands, whose values are read as they stand there.
pub(crate) fn function<const N: usize, const M: usize>(
    instruction: &Instruction,
    to: [(usize, Ty); M],
    from: [(usize, Ty); N],
    compute: impl Fn([u64; N]) -> [u64; M] + Send + Sync + 'static,
) -> Option<Function> {
    let readings = readings(instruction, from)?;
    Some(of_values(to, from, move |values| compute(std::array::from_fn(|at| readings[at].read(values[at])))))
}

/// How so many operands are read; `None` where there are fewer.
pub(crate) fn readings<const N: usize>(instruction: &Instruction, from: [(usize, Ty); N]) -> Option<[Reading; N]> {
    let mut readings = [Reading::default(); N];
    for (reading, (operand, ty)) in readings.iter_mut().zip(from) {
        *reading = Reading::new(instruction.operands.get(operand)?, ty);
    }
    Some(readings)
}

/// A function of the values that operands hold.
pub(crate) fn of_values<const N: usize, const M: usize>(
    to: [(usize, Ty); M],
    from: [(usize, Ty); N],
    compute: impl Fn([u64; N]) -> [u64; M] + Send + Sync + 'static,
) -> Function {
    let pure = Pure::new(Ty::Unsigned(32), compute).results(&to.map(|to| to.1)).sources(&from.map(|from| from.1));
    Function { to: to.map(|to| to.0).to_vec(), from: from.map(|from| from.0).to_vec(), pure }
}

/// How many operands from the first on are results: a register, or predicates, and predicates behind the register.
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

/// The predicates that stand last.
pub(crate) fn last_predicates(instruction: &Instruction) -> Vec<usize> {
    let is_predicate = |operand: &Operand| matches!(operand, Operand::Predicate(_));
    let count = instruction.operands.iter().rev().take_while(|operand| is_predicate(operand)).count();
    (instruction.operands.len() - count..instruction.operands.len()).collect()
}
