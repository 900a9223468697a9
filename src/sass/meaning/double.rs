//! Sums and products of doubles.

use super::Function;
use super::number::{Number, number_of, rounding};
use super::reading::of_values;
use crate::emulate::number::{Rounding, double_add, double_fma, double_mul};
use crate::emulate::types::Ty;
use crate::sass::instruction::Instruction;

const DOUBLE: Ty = Ty::F64;

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    let how = || {
        let mut modifiers = instruction.modifiers();
        match (modifiers.next(), modifiers.next()) {
            (None, _) => Some(Rounding::Nearest),
            (Some(name), None) => rounding(name),
            _ => None,
        }
    };
    let number = |at| number_of(instruction, at, DOUBLE);
    let count = instruction.operands.len();
    let found = match word {
        "DADD" | "DMUL" if count == 3 => {
            let (how, a, b) = (how()?, number(1)?, number(2)?);
            let function = if word == "DADD" { double_add } else { double_mul };
            of_values([(0, DOUBLE)], [(1, DOUBLE), (2, DOUBLE)], move |[x, y]| {
                [bits(function(value(a, x), value(b, y), how))]
            })
        }
        "DFMA" if count == 4 => {
            let (how, a, b, c) = (how()?, number(1)?, number(2)?, number(3)?);
            of_values([(0, DOUBLE)], [(1, DOUBLE), (2, DOUBLE), (3, DOUBLE)], move |[x, y, z]| {
                [bits(double_fma(value(a, x), value(b, y), value(c, z), how))]
            })
        }
        _ => return None,
    };
    Some(vec![found])
}

fn value(number: Number, bits: u64) -> f64 {
    f64::from_bits(number.low(bits))
}

fn bits(value: f64) -> u64 {
    if value.is_nan() { 0x7ff8 << 48 } else { value.to_bits() }
}
