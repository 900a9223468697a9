//! `wgmma`: matrix products by four warps. Each warp computes its own rows.

use super::decoder::{Decoder, Refusal};
use crate::emulate::mnemonic::Mnemonic;
use crate::emulate::program::{GroupMultiply, LeftFactor, Op, WarpOp};
use crate::emulate::types::Ty;
use crate::ptx::Operand;

impl Decoder<'_, '_> {
    /// Decodes a warp-group instruction. `None` for other instructions.
    pub(super) fn group(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<Option<()>, Refusal> {
        if mnemonic.word != "wgmma" {
            return Ok(None);
        }
        match mnemonic.modifiers.first() {
            // A product completes at once, so later instructions see it in program order.
            Some(&("fence" | "commit_group" | "wait_group")) => self.emit(Op::Fence),
            Some(&"mma_async") => {
                let multiply = self.group_multiply(mnemonic, operands)?;
                let mask = self.constant(0xffff_ffff, 32);
                self.emit(Op::Warp { op: WarpOp::GroupMultiply(Box::new(multiply)), mask });
            }
            _ => return Err("the operation".into()),
        }
        Ok(Some(()))
    }

    fn group_multiply(&mut self, mnemonic: &Mnemonic<'_>, operands: &[Operand]) -> Result<GroupMultiply, Refusal> {
        let shape = mnemonic.modifiers.iter().find_map(|word| super::matrix::shape(word)).ok_or("no shape")?;
        let saturates = mnemonic.has("satfinite");
        let types: [Ty; 3] = mnemonic.types().try_into().map_err(|_| "the types")?;
        let [to_ty, a_ty, b_ty] = types;
        let [m, n, k] = shape;
        let is_known = m == 64
            && n.is_multiple_of(8)
            && n <= 256
            && k * a_ty.bits() == 256
            && a_ty.bits() == b_ty.bits()
            && match to_ty {
                Ty::F32 | Ty::F16 => matches!(a_ty, Ty::F16 | Ty::BF16 | Ty::TF32 | Ty::E4M3 | Ty::E5M2),
                Ty::Signed(32) => [a_ty, b_ty].iter().all(|ty| ty.is_integer()),
                _ => false,
            }
            && mnemonic.modifiers.len() == 7 + usize::from(saturates);
        if !is_known {
            return Err("the shape or the types".into());
        }
        let [to, left, right, scale, rest @ ..] = operands else { return Err("four operands".into()) };
        let to = self.results(to)?;
        if to.len() as u32 != n * to_ty.bits() / 64 {
            return Err("the number of registers".into());
        }
        let left = match left {
            Operand::Vector(parts) if parts.len() == 4 => {
                let parts = parts.iter().map(|part| self.source(part, Ty::Unsigned(32)));
                LeftFactor::Registers(parts.collect::<Result<_, _>>()?)
            }
            Operand::Vector(_) => return Err("the number of registers".into()),
            other => LeftFactor::Shared(self.source(other, Ty::Unsigned(64))?),
        };
        let right = self.source(right, Ty::Unsigned(64))?;
        let adds = self.source(scale, Ty::Pred)?;
        let mut numbers = Vec::new();
        for operand in rest {
            let Operand::Number(number) = operand else { return Err("an operand that is not a number".into()) };
            numbers.push(self.constant_number(number, Ty::Unsigned(64))? as i64);
        }
        let is_half = a_ty.bits() == 16;
        let (signs, order) = match (numbers.as_slice(), is_half, &left) {
            ([], false, _) if a_ty.is_integer() => ([1, 1], [false, false]),
            ([a, b], false, _) => ([*a, *b], [false, false]),
            ([a, b, of_b], true, LeftFactor::Registers(_)) => ([*a, *b], [false, *of_b != 0]),
            ([a, b, of_a, of_b], true, LeftFactor::Shared(_)) => ([*a, *b], [*of_a != 0, *of_b != 0]),
            _ => return Err("the number of operands".into()),
        };
        if signs.iter().any(|sign| sign.abs() != 1) {
            return Err("a scale that is not 1 or -1".into());
        }
        let is_negative = signs[0] * signs[1] < 0;
        Ok(GroupMultiply { columns: n, depth: k, types, to, left, right, adds, is_negative, saturates, order })
    }
}
