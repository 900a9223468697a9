//! Matrices in the registers of a warp: loads, stores, transpositions, products.
//!
//! Fragments have the layout that PTX defines for `mma` and `ldmatrix`, because ptxas passes the registers on
//! unchanged.

use super::super::instruction::Instruction;
use super::super::operand::{Operand, RZ, Register};
use super::Refusal;
use super::lowerer::Lowerer;
use super::operands::Wide;
use crate::emulate::program::{Multiply, Op, Row, SINK, Space, WarpOp};
use crate::emulate::types::Ty;

impl Lowerer<'_> {
    /// Lowers an instruction of this family. Returns whether the instruction belongs to the family.
    pub(super) fn matrix(&mut self, instruction: &Instruction) -> Result<bool, Refusal> {
        match instruction.word() {
            "LDSM" | "STSM" => self.move_matrices(instruction)?,
            "MOVM" => match *instruction.operands.as_slice() {
                [Operand::Register(to, _), Operand::Register(from, _)] if instruction.mnemonic.ends_with("16.MT88") => {
                    let (to, from) = (self.written_register(to), self.read_register(from));
                    self.of_all(WarpOp::MoveMatrix { to, from });
                }
                _ => return Err("unknown form".into()),
            },
            "HMMA" | "IMMA" | "DMMA" | "QMMA" => self.multiply(instruction)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn of_all(&mut self, op: WarpOp) {
        let mask = self.constant(0xffff_ffff, 32);
        self.emit(Op::Warp { op, mask });
    }

    /// Lowers `LDSM` and `STSM`: one matrix, two or four.
    fn move_matrices(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let (mut count, mut is_transposed) = (1, false);
        for modifier in instruction.modifiers() {
            match modifier {
                "16" | "M88" => {}
                "MT88" => is_transposed = true,
                "2" => count = 2,
                "4" => count = 4,
                other => return Err(format!("the modifier {other}")),
            }
        }
        match *instruction.operands.as_slice() {
            [Operand::Register(to, _), Operand::Address(place)] => {
                let address = self.place(place, Space::Shared);
                let rows = (0..count).map(|number| self.written_register(further(to, number)));
                let mut to: Vec<Row> = rows.collect();
                to.iter_mut().filter(|row| **row == SINK).for_each(|row| *row = self.temporary(32));
                let carried = vec![None; to.len()];
                self.of_all(WarpOp::LoadMatrix { to, address, is_transposed, carried });
            }
            [Operand::Address(place), Operand::Register(from, _)] => {
                let address = self.place(place, Space::Shared);
                let from: Vec<Row> = (0..count).map(|number| self.read_register(further(from, number))).collect();
                let kinds = vec![crate::emulate::types::Kind::default(); from.len()];
                self.of_all(WarpOp::StoreMatrix { from, address, is_transposed, kinds });
            }
            _ => return Err("unknown operands".into()),
        }
        Ok(())
    }

    /// Lowers a matrix product with an addend.
    fn multiply(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let modifiers: Vec<&str> = instruction.modifiers().filter(|modifier| *modifier != "SAT").collect();
        let saturates = instruction.has("SAT");
        let (shape, types) = form(instruction.word(), &modifiers).ok_or("unknown form")?;
        let [m, n, k] = shape;
        let [
            Operand::Register(to, _),
            Operand::Register(left, _),
            Operand::Register(right, _),
            Operand::Register(sum, _),
        ] = *instruction.operands.as_slice()
        else {
            return Err("unknown operands".into());
        };
        let sizes = [m * n, m * k, k * n, m * n];
        let count = |which: usize| (sizes[which] * types[which].bits() / (32 * types[which].bits().max(32))) as u8;
        let mut rows: [Vec<Row>; 4] = Default::default();
        for (which, register) in [(1, left), (2, right), (3, sum)] {
            rows[which] = (0..count(which)).map(|number| self.part(register, number, types[which])).collect();
        }
        let mut wides: Vec<Option<Wide>> = Vec::new();
        for number in 0..count(0) {
            rows[0].push(if types[0] == Ty::F64 {
                let (row, wide) = self.wide_result(further(to, 2 * number));
                wides.push(wide);
                row
            } else {
                self.written_register(further(to, number))
            });
        }
        self.of_all(WarpOp::Multiply(Box::new(Multiply { shape, types, rows, is_tile: false, saturates })));
        wides.into_iter().for_each(|wide| self.settle(wide));
        Ok(())
    }

    fn part(&mut self, first: Register, number: u8, ty: Ty) -> Row {
        if ty == Ty::F64 { self.pair(further(first, 2 * number)) } else { self.read_register(further(first, number)) }
    }
}

/// Returns the register that is `number` registers after a register.
pub(super) fn further(register: Register, number: u8) -> Register {
    let further = register.number.saturating_add(number);
    Register { number: if register.number == RZ { RZ } else { further }, ..register }
}

/// Returns the shape of a product and the types of the result, the factors and the addend.
fn form(word: &str, modifiers: &[&str]) -> Option<([u32; 3], [Ty; 4])> {
    let (&shape, types) = modifiers.split_first()?;
    let shape = match shape {
        "884" | "8x8x4" => [8, 8, 4],
        "1684" | "16x8x4" => [16, 8, 4],
        "1688" | "16x8x8" => [16, 8, 8],
        "16816" | "16x8x16" => [16, 8, 16],
        "16832" => [16, 8, 32],
        _ => return None,
    };
    let depth = shape[2];
    let sum = |name| match name {
        "F32" => Some(Ty::F32),
        "F16" => Some(Ty::F16),
        _ => None,
    };
    let small = |name| match name {
        "E4M3" => Some(Ty::E4M3),
        "E5M2" => Some(Ty::E5M2),
        "S8" => Some(Ty::Signed(8)),
        "U8" => Some(Ty::Unsigned(8)),
        _ => None,
    };
    let (result, left, right) = match (word, types) {
        ("DMMA", []) if shape == [8, 8, 4] || shape[0] == 16 => (Ty::F64, Ty::F64, Ty::F64),
        ("HMMA", [result]) if matches!(depth, 8 | 16) && shape[0] == 16 => (sum(result)?, Ty::F16, Ty::F16),
        ("HMMA", ["F32", "BF16"]) if matches!(depth, 8 | 16) && shape[0] == 16 => (Ty::F32, Ty::BF16, Ty::BF16),
        ("HMMA", ["F32", "TF32"]) if matches!(depth, 4 | 8) && shape[0] == 16 => (Ty::F32, Ty::TF32, Ty::TF32),
        ("IMMA", [left, right]) if matches!(depth, 16 | 32) => {
            let (left, right) = (small(left)?, small(right)?);
            (left.is_integer() && right.is_integer()).then_some((Ty::Signed(32), left, right))?
        }
        ("QMMA", [result, left, right]) if depth == 32 => {
            let (left, right) = (small(left)?, small(right)?);
            (left.is_float() && right.is_float()).then_some((sum(result)?, left, right))?
        }
        _ => return None,
    };
    Some((shape, [result, left, right, result]))
}
