//! Conversions of several numbers into one register.

use super::Function;
use super::convert::limited;
use super::number::{number_of, rounding};
use super::reading::of_values;
use crate::emulate::number::{BF16, E4M3, E5M2, F16, F32, Format, Rounding, TF32};
use crate::emulate::types::{Ty, low};
use crate::sass::instruction::Instruction;
use crate::sass::operand::{Changes, Half, Operand, RZ};

const U32: Ty = Ty::Unsigned(32);

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    let found = match word {
        "F2FP" => floats(instruction)?,
        "I2IP" => integers(instruction)?,
        _ => return None,
    };
    Some(vec![found])
}

fn format(name: &str) -> Option<Format> {
    Some(match name {
        "F16" => F16,
        "BF16" => BF16,
        "F32" => F32,
        "TF32" => TF32,
        "E4M3" => E4M3,
        "E5M2" => E5M2,
        _ => return None,
    })
}

/// Whether the last operand is zero. The semantics of a merge with other values is unknown.
fn merges_nothing(instruction: &Instruction) -> bool {
    matches!(instruction.operands.last(), Some(Operand::Register(register, _)) if register.number == RZ)
}

fn is_plain_register(instruction: &Instruction, at: usize) -> bool {
    matches!(instruction.operands.get(at), Some(Operand::Register(_, changes)) if *changes == Changes::default())
}

/// `F2FP`: two numbers, the first in the upper half, or two numbers in one register.
fn floats(instruction: &Instruction) -> Option<Function> {
    let (mut formats, mut how, mut relu, mut is_finite, mut form) = (Vec::new(), Rounding::Nearest, false, false, None);
    for modifier in instruction.modifiers() {
        match modifier {
            "RELU" => relu = true,
            "SATFINITE" => is_finite = true,
            "PACK_AB" | "PACK_B" | "MERGE_C" | "PACK_AB_MERGE_C" | "UNPACK_B" | "UNPACK_B_MERGE_C" => {
                form = Some(modifier);
            }
            name if format(name).is_some() => formats.extend(format(name)),
            name => how = rounding(name)?,
        }
    }
    let (to, from) = match formats.as_slice() {
        [] => (F16, F32),
        &[to] => (to, F32),
        &[to, from] => (to, from),
        _ => return None,
    };
    let convert = move |value: f64| {
        let value = if relu && value <= 0.0 { 0.0 } else { value };
        to.round(value, how, is_finite)
    };
    let is_small = matches!(to, E4M3 | E5M2);
    let of_float = |at| number_of(instruction, at, Ty::F32);
    let float = Ty::F32;
    let count = instruction.operands.len();
    match form? {
        "PACK_AB" if count == 3 && !is_small && from == F32 => {
            let (a, b) = (of_float(1)?, of_float(2)?);
            Some(of_values([(0, U32)], [(1, float), (2, float)], move |[x, y]| {
                [convert(F32.value(a.low(x))) << 16 | convert(F32.value(b.low(y)))]
            }))
        }
        "PACK_AB_MERGE_C" if count == 4 && is_small && from == F32 && merges_nothing(instruction) => {
            let (a, b) = (of_float(1)?, of_float(2)?);
            Some(of_values([(0, U32)], [(1, float), (2, float)], move |[x, y]| {
                [convert(F32.value(a.low(x))) << 8 | convert(F32.value(b.low(y)))]
            }))
        }
        // The old contents move to the upper bits.
        "PACK_AB_MERGE_C" if count == 4 && is_small && from == F32 && is_plain_register(instruction, 3) => {
            let (a, b) = (of_float(1)?, of_float(2)?);
            Some(of_values([(0, U32)], [(1, float), (2, float), (3, U32)], move |[x, y, z]| {
                [low(z << 16 | convert(F32.value(a.low(x))) << 8 | convert(F32.value(b.low(y))), 32)]
            }))
        }
        "MERGE_C" if count == 3 && !is_small && from == F32 && merges_nothing(instruction) => {
            let a = of_float(1)?;
            Some(of_values([(0, U32)], [(1, float)], move |[x]| [convert(F32.value(a.low(x)))]))
        }
        "PACK_B" if count == 2 && to == TF32 && from == F32 => {
            let a = of_float(1)?;
            Some(of_values([(0, U32)], [(1, float)], move |[x]| [convert(F32.value(a.low(x)))]))
        }
        "UNPACK_B_MERGE_C" if count == 3 && is_small && from == F16 && merges_nothing(instruction) => {
            let a = number_of(instruction, 1, Ty::F16x2)?;
            Some(of_values([(0, U32)], [(1, Ty::F16x2)], move |[x]| {
                [convert(F16.value(a.high(x))) << 8 | convert(F16.value(a.low(x)))]
            }))
        }
        "UNPACK_B" if count == 2 && to == F16 && matches!(from, E4M3 | E5M2) => {
            let shift = match *instruction.operands.get(1)? {
                Operand::Register(_, changes) | Operand::Constant(_, changes) => {
                    let rest = Changes { half: None, ..changes };
                    (rest == Changes::default()).then_some(if changes.half == Some(Half::High) { 16 } else { 0 })?
                }
                Operand::Immediate(_) => 0,
                _ => return None,
            };
            Some(of_values([(0, Ty::F16x2)], [(1, U32)], move |[x]| {
                let one = |at: u32| convert(from.value(x >> (shift + at) & 0xff));
                [one(8) << 16 | one(0)]
            }))
        }
        _ => None,
    }
}

/// `I2IP`: two integers, saturated to a type, the first in the upper position. For bytes, the merged contents move to
/// the upper bits.
fn integers(instruction: &Instruction) -> Option<Function> {
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    let [to, from, "SAT"] = *modifiers.as_slice() else { return None };
    let ((bits, a), (_, b)) = (limited(instruction, 1, to, from)?, limited(instruction, 2, to, from)?);
    let pack = move |x, y| a(x) << bits | b(y);
    let merged_half = match instruction.operands.get(3) {
        Some(Operand::Register(_, Changes { half: Some(Half::High), .. })) => 16,
        _ => 0,
    };
    match instruction.operands.len() {
        3 => Some(of_values([(0, U32)], [(1, U32), (2, U32)], move |[x, y]| [pack(x, y)])),
        4 => Some(of_values([(0, U32)], [(1, U32), (2, U32), (3, U32)], move |[x, y, z]| {
            [low((z >> merged_half) << (2 * bits) | pack(x, y), 32)]
        })),
        _ => None,
    }
}
