//! Matrix products of a warp group, in which each warp computes its own rows.

use super::super::instruction::Instruction;
use super::super::operand::{Factors, Operand, PT, RZ, Register};
use super::Refusal;
use super::lowerer::Lowerer;
use super::matrix::further;
use crate::emulate::program::{GroupMultiply, LeftFactor, Op, Row, SINK, WarpOp, ZERO};
use crate::emulate::types::Ty;

impl Lowerer<'_> {
    /// Lowers an instruction of this family. Returns whether the instruction belongs to the family.
    ///
    /// A product is complete at once, so waits have no effect.
    pub(super) fn group(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        match instruction.word() {
            "HGMMA" | "IGMMA" | "QGMMA" => {
                let multiply = self.group_multiply(instruction)?;
                let mask = self.constant(0xffff_ffff, 32);
                self.emit(Op::Warp { op: WarpOp::GroupMultiply(Box::new(multiply)), mask });
            }
            "WARPGROUP" => self.emit(Op::Fence),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn group_multiply(&mut self, instruction: &Instruction) -> Result<GroupMultiply, Refusal> {
        let modifiers: Vec<&str> = instruction.modifiers().filter(|modifier| *modifier != "SAT").collect();
        let ([columns, depth], types) = form(instruction.word(), &modifiers).ok_or("unknown form")?;
        let unknown = || "unknown operands";
        let [Operand::Register(to, _), rest @ ..] = instruction.operands.as_slice() else {
            return Err(unknown().into());
        };
        let (left, rest) = match rest {
            [Operand::Register(left, changes), rest @ ..] => (Some((*left, changes.negated)), rest),
            rest => (None, rest),
        };
        let [Operand::Factors(factors), Operand::Register(sum, _), rest @ ..] = rest else {
            return Err(unknown().into());
        };
        let adds = match rest {
            [Operand::Predicate(by), ..] if by.number == PT && by.negated => ZERO,
            [Operand::Predicate(by), ..] if sum.number != RZ => self.truth(*by),
            _ if sum.number == RZ => ZERO,
            _ => self.constant(1, 1),
        };
        if sum.number != RZ && sum.number != to.number {
            return Err("an addend in other registers than the result".into());
        }
        let mut rows: Vec<Row> = Vec::new();
        for number in 0..columns * types[0].bits() / 64 {
            let row = self.written_register(further(*to, number as u8));
            rows.push(if row == SINK { self.temporary(32) } else { row });
        }
        let Factors { register, negated, transposed } = *factors;
        let descriptor = |number| Register { number, is_uniform: true };
        let (left, is_negative) = match left {
            Some((left, is_negative)) => {
                let rows = (0..4).map(|number| self.read_register(further(left, number)));
                (LeftFactor::Registers(rows.collect()), is_negative)
            }
            None => (LeftFactor::Shared(self.pair(descriptor(register))), negated[0]),
        };
        let second = if register == RZ { RZ } else { register.saturating_add(2) };
        let right = self.pair(descriptor(second));
        let saturates = instruction.has("SAT");
        let is_negative = is_negative != negated[1];
        Ok(GroupMultiply {
            columns,
            depth,
            types,
            to: rows,
            left,
            right,
            adds,
            is_negative,
            saturates,
            order: transposed,
        })
    }
}

/// Returns the columns and depth of a product, and the types of the result and the factors.
fn form(word: &str, modifiers: &[&str]) -> Option<([u32; 2], [Ty; 3])> {
    let (shape, types) = modifiers.split_first()?;
    let mut sizes = shape.split('x').map(|size| size.parse::<u32>().ok());
    let (Some(Some(64)), Some(Some(columns)), Some(Some(depth))) = (sizes.next(), sizes.next(), sizes.next()) else {
        return None;
    };
    let of = |name: &str| {
        Some(match name {
            "F32" => Ty::F32,
            "F16" => Ty::F16,
            "E4M3" => Ty::E4M3,
            "E5M2" => Ty::E5M2,
            "S8" => Ty::Signed(8),
            "U8" => Ty::Unsigned(8),
            _ => return None,
        })
    };
    let types = match (word, types) {
        ("HGMMA", [result]) => [of(result)?, Ty::F16, Ty::F16],
        ("HGMMA", ["F32", "BF16"]) => [Ty::F32, Ty::BF16, Ty::BF16],
        ("HGMMA", ["F32", "TF32"]) => [Ty::F32, Ty::TF32, Ty::TF32],
        ("IGMMA", [left, right]) => [Ty::Signed(32), of(left)?, of(right)?],
        ("QGMMA", [result, left, right]) => [of(result)?, of(left)?, of(right)?],
        _ => return None,
    };
    let is_known = columns.is_multiple_of(8) && columns <= 256 && depth * types[1].bits() == 256;
    is_known.then_some(([columns, depth], types))
}
