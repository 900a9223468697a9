//! Packed pairs of f16 and bf16.

use super::Function;
use super::float::negation;
use super::number::{ExtremeForm, Number, Style, number_of};
use super::reading::of_values;
use crate::emulate::number::{BF16, F16, F32, Rounding, add, fma, mul};
use crate::emulate::types::Ty;
use crate::sass::instruction::Instruction;

const PRED: Ty = Ty::Pred;

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    let all: Vec<&str> = instruction.modifiers().collect();
    // `.MMA` selects the unit that computes.
    let is_type = |modifier: &&str| matches!(*modifier, "BF16_V2" | "BF16" | "MMA");
    let ty = if all.iter().any(|modifier| modifier.starts_with("BF16")) { Ty::BF16x2 } else { Ty::F16x2 };
    let modifiers: Vec<&str> = all.iter().copied().filter(|modifier| !is_type(modifier)).collect();
    let pair = Pair { instruction, ty };
    let found = match word {
        "HADD2" | "HADD2_32I" if modifiers == ["F32"] => pair.widened()?,
        "HADD2" | "HADD2_32I" => {
            let style = pair.style(&modifiers)?;
            pair.two(move |a, b| style.bits(add(style.value(a), style.value(b), style.rounding)))?
        }
        "HMUL2" | "HMUL2_32I" => {
            let style = pair.style(&modifiers)?;
            pair.two(move |a, b| style.bits(mul(style.value(a), style.value(b))))?
        }
        "HFMA2" | "HFMA2_32I" => {
            let style = pair.style(&modifiers)?;
            pair.three(move |a, b, c| style.bits(fma(style.value(a), style.value(b), style.value(c), style.rounding)))?
        }
        "HMNMX2" => pair.extreme(&modifiers)?,
        _ => return None,
    };
    Some(vec![found])
}

/// An instruction on packed pairs of 16-bit numbers.
struct Pair<'i> {
    instruction: &'i Instruction,
    ty: Ty,
}

impl Pair<'_> {
    fn style(&self, modifiers: &[&str]) -> Option<Style> {
        let style = Style::of(if self.ty == Ty::BF16x2 { BF16 } else { F16 }, modifiers)?;
        (style.rounding == Rounding::Nearest).then_some(style)
    }

    fn numbers<const N: usize>(&self, count: usize) -> Option<[Number; N]> {
        let all: Vec<Number> = (1..=N).map(|at| number_of(self.instruction, at, self.ty)).collect::<Option<_>>()?;
        (self.instruction.operands.len() == count).then(|| all.try_into().ok())?
    }

    fn two(&self, compute: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Option<Function> {
        let [a, b] = self.numbers(3)?;
        Some(of_values([(0, self.ty)], [(1, self.ty), (2, self.ty)], move |[x, y]| {
            [compute(a.low(x), b.low(y)) | compute(a.high(x), b.high(y)) << 16]
        }))
    }

    fn three(&self, compute: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> Option<Function> {
        let [a, b, c] = self.numbers(4)?;
        let from = [(1, self.ty), (2, self.ty), (3, self.ty)];
        Some(of_values([(0, self.ty)], from, move |[x, y, z]| {
            [compute(a.low(x), b.low(y), c.low(z)) | compute(a.high(x), b.high(y), c.high(z)) << 16]
        }))
    }

    /// `HADD2.F32`: the sum of two f16 as a float.
    fn widened(&self) -> Option<Function> {
        let (style, wide) = (self.style(&[])?, Style::of(F32, &[])?);
        let [a, b] = self.numbers(3)?;
        Some(of_values([(0, Ty::F32)], [(1, self.ty), (2, self.ty)], move |[x, y]| {
            [wide.bits(add(style.value(a.low(x)), style.value(b.low(y)), wide.rounding))]
        }))
    }

    /// `HMNMX2`: like `FMNMX`.
    fn extreme(&self, modifiers: &[&str]) -> Option<Function> {
        let ExtremeForm { flushes, keeps_nan, joins_signs } = ExtremeForm::of(modifiers)?;
        let style = Style { flushes, ..self.style(&[])? };
        let [a, b] = self.numbers(4)?;
        let negated = negation(self.instruction, 3)?;
        let from = [(1, self.ty), (2, self.ty), (3, PRED)];
        let one = move |a: u64, b: u64, sign: u64, is_least: bool| {
            let result = style.extreme([style.value(a), style.value(b)], is_least, keeps_nan);
            if joins_signs { result & 0x7fff | sign } else { result }
        };
        Some(of_values([(0, self.ty)], from, move |[x, y, by]| {
            let is_least = by != negated;
            let low = one(a.low(x), b.low(y), a.sign(x) ^ b.sign(y), is_least);
            let high = one(a.high(x), b.high(y), a.high_sign(x) ^ b.high_sign(y), is_least);
            [low | high << 16]
        }))
    }
}
