//! Values of operands.

use super::super::instruction::Instruction;
use super::super::operand::{Operand, Predicate, RZ, Register};
use super::Refusal;
use super::lowerer::Lowerer;
use crate::emulate::program::{Op, Row, SINK, ZERO};
use crate::emulate::pure::Pure;
use crate::emulate::types::Ty;

/// A result of more than 32 bits before it is moved to registers: its row, and the rows of the registers.
pub(super) struct Wide {
    from: Row,
    parts: Vec<Row>,
}

impl Lowerer<'_> {
    /// Returns the row with the value of an operand, before its modifiers are applied.
    pub(super) fn source(&mut self, instruction: &Instruction, at: usize, ty: Ty) -> Result<Row, Refusal> {
        let bits = ty.bits();
        let operand = instruction.operands.get(at).ok_or("too few operands")?;
        match *operand {
            Operand::Register(register, _) if bits == 64 => Ok(self.pair(register)),
            Operand::Register(register, _) if bits > 1 => Ok(self.read_register(register)),
            Operand::Predicate(predicate) if bits == 1 => Ok(self.read_predicate(predicate)),
            Operand::Immediate(value) => {
                let value = match ty {
                    // The immediate is the upper half of a double.
                    Ty::F64 => u64::from(value) << 32,
                    Ty::Signed(64) => i64::from(value as i32) as u64,
                    _ => value.into(),
                };
                Ok(self.constant(value, bits.max(32)))
            }
            Operand::Constant(constant, _) if constant.index.is_none() => {
                self.bank_word(constant.bank, constant.offset as u32, bits.max(32))
            }
            _ => Err(format!("operand {} is not of {bits} bits", at + 1)),
        }
    }

    /// Returns a row with two registers as one number.
    pub(super) fn pair(&mut self, register: Register) -> Row {
        if register.number == RZ {
            return ZERO;
        }
        let parts = vec![self.read_register(register), self.read_register(next(register))];
        let row = self.temporary(64);
        self.emit(Op::Pack { to: row, parts, bits: 32 });
        row
    }

    /// Returns the row that takes a result of a type, and the move that must follow the operation.
    pub(super) fn result(
        &mut self,
        instruction: &Instruction,
        at: usize,
        ty: Ty,
    ) -> Result<(Row, Option<Wide>), Refusal> {
        match instruction.operands.get(at) {
            Some(Operand::Register(register, _)) if ty.bits() == 64 => Ok(self.wide_result(*register)),
            Some(Operand::Register(register, _)) if ty.bits() > 1 => Ok((self.written_register(*register), None)),
            Some(Operand::Predicate(predicate)) if ty.bits() == 1 => Ok((self.written_predicate(*predicate), None)),
            _ => Err(format!("operand {} takes no result of {} bits", at + 1, ty.bits())),
        }
    }

    /// Returns a row of 64 bits whose halves are moved to two registers.
    pub(super) fn wide_result(&mut self, register: Register) -> (Row, Option<Wide>) {
        if register.number == RZ {
            return (SINK, None);
        }
        let parts = vec![self.written_register(register), self.written_register(next(register))];
        let from = self.temporary(64);
        (from, Some(Wide { from, parts }))
    }

    /// Moves a wide result to its registers.
    pub(super) fn settle(&mut self, wide: Option<Wide>) {
        if let Some(Wide { from, parts }) = wide {
            self.emit(Op::Unpack { parts, from, bits: 32 });
        }
    }

    /// Returns the row of a predicate, with its negation applied.
    pub(super) fn truth(&mut self, predicate: Predicate) -> Row {
        let row = self.read_predicate(predicate);
        if !predicate.negated {
            return row;
        }
        let to = self.temporary(1);
        self.emit_pure(Pure::new(Ty::Pred, |[a]| [a ^ 1]), &[to], &[row]);
        to
    }
}

/// Returns the next register. The zero register is its own successor.
pub(super) fn next_of(register: Register) -> Register {
    if register.number == RZ { register } else { next(register) }
}

/// Returns the next register.
pub(super) fn next(register: Register) -> Register {
    Register { number: register.number.saturating_add(1), ..register }
}
