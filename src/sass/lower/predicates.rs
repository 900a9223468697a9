//! All predicates of a thread at once, as bits of a register.

use super::super::instruction::Instruction;
use super::super::operand::{Operand, PT, Predicate};
use super::Refusal;
use super::lowerer::Lowerer;
use crate::emulate::program::Op;
use crate::emulate::pure::Pure;
use crate::emulate::types::Ty;

const U32: Ty = Ty::Unsigned(32);

impl Lowerer<'_> {
    /// Lowers an instruction of this family. Returns whether the instruction belongs to the family.
    pub(super) fn predicates(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        let byte = |changes: super::super::operand::Changes| u32::from(changes.byte.unwrap_or(0)) * 8;
        match (instruction.word(), instruction.operands.as_slice()) {
            (
                "P2R" | "UP2UR",
                [Operand::Register(to, _), Operand::Predicates { is_uniform }, Operand::Register(from, _), mask],
            ) => {
                let Operand::Immediate(mask) = *mask else { return Err("unknown mask".into()) };
                let shift = match instruction.modifiers().next() {
                    None | Some("B0") => 0,
                    Some("B1") => 8,
                    Some("B2") => 16,
                    Some("B3") => 24,
                    Some(other) => return Err(format!("the modifier {other}")),
                };
                self.is_uniform = to.is_uniform;
                let mut value = self.read_register(*from);
                let numbers: Vec<u8> = (0..PT).filter(|number| mask >> number & 1 == 1).collect();
                let cleared = u64::from(mask) << shift;
                let last = numbers.len();
                for (done, number) in numbers.into_iter().enumerate() {
                    let predicate = Predicate { number, is_uniform: *is_uniform, negated: false };
                    let predicate = self.read_predicate(predicate);
                    let next = if done + 1 == last { self.written_register(*to) } else { self.temporary(32) };
                    let keep = if done == 0 { !cleared } else { u64::MAX };
                    let join = Pure::new(U32, move |[value, truth]: [u64; 2]| {
                        [value & keep | truth << (u32::from(number) + shift)]
                    })
                    .sources(&[U32, Ty::Pred]);
                    self.emit_pure(join, &[next], &[value, predicate]);
                    value = next;
                }
                if last == 0 {
                    let to = self.written_register(*to);
                    self.emit(Op::Move { to, from: value });
                }
            }
            ("R2P" | "UR2UP", [Operand::Predicates { is_uniform }, Operand::Register(from, changes), mask]) => {
                let Operand::Immediate(mask) = *mask else { return Err("unknown mask".into()) };
                let (source, shift) = (self.read_register(*from), byte(*changes));
                self.keep_guard();
                self.is_uniform = *is_uniform;
                for number in (0..PT).filter(|number| mask >> number & 1 == 1) {
                    let predicate = Predicate { number, is_uniform: *is_uniform, negated: false };
                    let to = self.written_predicate(predicate);
                    let bit = Pure::new(U32, move |[value]: [u64; 1]| [value >> (u32::from(number) + shift) & 1])
                        .results(&[Ty::Pred]);
                    self.emit_pure(bit, &[to], &[source]);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
