//! Conversions of one value.

use super::Function;
use super::number::{Number, number_of, rounding};
use super::reading::of_values;
use crate::emulate::number::{BF16, F16, F32, Format, Rounding, double_of_integer, of_integer};
use crate::emulate::types::{Ty, low, signed};
use crate::sass::instruction::Instruction;
use crate::sass::operand::{Changes, Half, Operand};

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    if instruction.operands.len() != 2 {
        return None;
    }
    let found = match word {
        "F2F" | "FRND" => floats(instruction, word == "FRND")?,
        "F2I" => to_integer(instruction)?,
        "I2F" | "I2FP" => from_integer(instruction)?,
        "I2I" => saturated(instruction)?,
        _ => return None,
    };
    Some(vec![found])
}

/// Returns a floating-point type. A type of 16 bits is in the lower half of its register.
pub(super) fn float_type(name: &str) -> Option<Ty> {
    Some(match name {
        "F16" => Ty::F16x2,
        "BF16" => Ty::BF16x2,
        "F32" => Ty::F32,
        "F64" => Ty::F64,
        _ => return None,
    })
}

/// Returns the bits of an integer type, and whether it is signed.
fn integer_type(name: &str) -> Option<(u32, bool)> {
    let bits = name[1..].parse().ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?;
    match &name[..1] {
        "S" => Some((bits, true)),
        "U" => Some((bits, false)),
        _ => None,
    }
}

pub(super) fn format_of(ty: Ty) -> Option<Format> {
    match ty {
        Ty::F16x2 => Some(F16),
        Ty::BF16x2 => Some(BF16),
        Ty::F32 => Some(F32),
        _ => None,
    }
}

/// Returns the value of a number of a type.
fn value_of(ty: Ty, number: Number, bits: u64) -> f64 {
    format_of(ty).map_or_else(|| f64::from_bits(number.low(bits)), |format| format.value(number.low(bits)))
}

pub(super) fn to_whole(modifier: &str) -> Option<Rounding> {
    Some(match modifier {
        "TRUNC" => Rounding::Zero,
        "FLOOR" => Rounding::Down,
        "CEIL" => Rounding::Up,
        _ => return None,
    })
}

fn flushed(value: f64) -> f64 {
    if value.abs() < f64::from(f32::MIN_POSITIVE) { 0.0f64.copysign(value) } else { value }
}

/// `F2F` converts between types. `FRND` rounds to an integral value of the same type.
fn floats(instruction: &Instruction, is_whole: bool) -> Option<Function> {
    let (mut types, mut how, mut whole, mut flushes, mut saturates) = (Vec::new(), None, None, false, false);
    for modifier in instruction.modifiers() {
        match modifier {
            "FTZ" => flushes = true,
            "SAT" => saturates = true,
            name if is_whole && to_whole(name).is_some() => whole = to_whole(name),
            name if float_type(name).is_some() => types.extend(float_type(name)),
            name => how = Some(rounding(name)?),
        }
    }
    let (to, from) = match (is_whole, types.as_slice()) {
        (true, []) => (Ty::F32, Ty::F32),
        (true, &[ty]) => (ty, ty),
        (false, &[to, from]) => (to, from),
        _ => return None,
    };
    if is_whole && how.is_some() {
        return None;
    }
    let number = number_of(instruction, 1, from)?;
    let whole = if is_whole { Some(whole.unwrap_or(Rounding::Nearest)) } else { None };
    let how = how.unwrap_or(Rounding::Nearest);
    Some(of_values([(0, to)], [(1, from)], move |[a]| {
        let value = value_of(from, number, a);
        let value = if flushes && from == Ty::F32 { flushed(value) } else { value };
        let value = whole.map_or(value, |whole| whole.integer(value));
        let value = match saturates {
            true if value > 0.0 => value.min(1.0),
            true => 0.0,
            false => value,
        };
        let Some(format) = format_of(to) else {
            return [if value.is_nan() { 0x7ff8 << 48 } else { value.to_bits() }];
        };
        let bits = format.round(value, how, false);
        [if flushes && to == Ty::F32 { format.round(flushed(format.value(bits)), how, false) } else { bits }]
    }))
}

/// `F2I`: NaN becomes the highest bit, or zero with `.NTZ`. A value that is too large becomes the largest integer.
fn to_integer(instruction: &Instruction) -> Option<Function> {
    let (mut to, mut from, mut how, mut flushes, mut nan_is_zero) =
        ((32, true), Ty::F32, Rounding::Nearest, false, false);
    for modifier in instruction.modifiers() {
        match modifier {
            "FTZ" => flushes = true,
            "NTZ" => nan_is_zero = true,
            name if to_whole(name).is_some() => how = to_whole(name)?,
            name if float_type(name).is_some() => from = float_type(name)?,
            name => to = integer_type(name)?,
        }
    }
    let number = number_of(instruction, 1, from)?;
    let (bits, has_sign) = to;
    let (least, most) = limits(bits, has_sign);
    let result = if bits == 64 { Ty::Unsigned(64) } else { Ty::Unsigned(32) };
    Some(of_values([(0, result)], [(1, from)], move |[a]| {
        let value = value_of(from, number, a);
        let value = if flushes && from == Ty::F32 { flushed(value) } else { value };
        let integer = match (value.is_nan(), nan_is_zero) {
            (true, true) => 0,
            (true, false) => 1 << (bits - 1),
            _ => (how.integer(value) as i128).clamp(least, most),
        };
        let kept = low(integer as u64, bits);
        let filled = if has_sign { signed(kept, bits) as u64 } else { kept };
        [low(filled, result.bits())]
    }))
}

pub(super) fn limits(bits: u32, has_sign: bool) -> (i128, i128) {
    if has_sign { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Returns the reading of an integer operand.
fn integer_of(
    instruction: &Instruction,
    at: usize,
    bits: u32,
    has_sign: bool,
) -> Option<impl Fn(u64) -> i128 + Copy + Send + Sync + use<>> {
    let changes = match *instruction.operands.get(at)? {
        Operand::Register(_, changes) | Operand::Constant(_, changes) => changes,
        Operand::Immediate(_) => Changes::default(),
        _ => return None,
    };
    // An immediate of 64 bits is the upper half, as for doubles.
    let above = if bits == 64 && matches!(instruction.operands[at], Operand::Immediate(_)) { 32 } else { 0 };
    let is_plain = !changes.inverted && changes.half.is_none_or(|half| half != Half::Float);
    is_plain.then_some(move |value: u64| {
        let shift = match (changes.byte, changes.half) {
            (Some(byte), _) => 8 * u32::from(byte),
            (_, Some(Half::High)) => 16,
            _ => 0,
        };
        let kept = low((value << above) >> shift, bits);
        let of = |kept: u64| if has_sign { i128::from(signed(kept, bits)) } else { i128::from(kept) };
        let value = if changes.absolute { of(kept).abs() } else { of(kept) };
        // The negative of the least integer is the least integer, as in PTX's `neg`.
        if changes.negated { of(low(-value as u64, bits)) } else { value }
    })
}

/// `I2F`, `I2FP`: conversion from integer to floating point.
fn from_integer(instruction: &Instruction) -> Option<Function> {
    let (mut to, mut from, mut how) = (Ty::F32, (32, true), Rounding::Nearest);
    for modifier in instruction.modifiers() {
        match modifier {
            name if float_type(name).is_some() => to = float_type(name)?,
            name if rounding(name).is_some() => how = rounding(name)?,
            name => from = integer_type(name)?,
        }
    }
    let (bits, has_sign) = from;
    let integer = integer_of(instruction, 1, bits, has_sign)?;
    let source = if bits == 64 { Ty::Unsigned(64) } else { Ty::Unsigned(32) };
    Some(of_values([(0, to)], [(1, source)], move |[a]| {
        let integer = integer(a);
        match format_of(to) {
            Some(format) => [format.round(of_integer(integer), how, false)],
            None => [double_of_integer(integer, how).to_bits()],
        }
    }))
}

/// `I2I`: an integer, saturated to a smaller type.
fn saturated(instruction: &Instruction) -> Option<Function> {
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    let [to, from, "SAT"] = *modifiers.as_slice() else { return None };
    let ((bits, has_sign), (32, from_sign)) = (integer_type(to)?, integer_type(from)?) else { return None };
    let integer = integer_of(instruction, 1, 32, from_sign)?;
    let (least, most) = limits(bits, has_sign);
    Some(of_values([(0, Ty::Unsigned(32))], [(1, Ty::Unsigned(32))], move |[a]| {
        [low(integer(a).clamp(least, most) as u64, 32)]
    }))
}

/// `I2IP`, for packed conversions: a 32-bit integer, saturated to a type, in the lowest bits.
pub(super) fn limited(
    instruction: &Instruction,
    at: usize,
    to: &str,
    from: &str,
) -> Option<(u32, impl Fn(u64) -> u64 + Copy + Send + Sync + use<>)> {
    let ((bits, has_sign), (32, from_sign)) = (integer_type(to)?, integer_type(from)?) else { return None };
    let integer = integer_of(instruction, at, 32, from_sign)?;
    let (least, most) = limits(bits, has_sign);
    Some((bits, move |value| low(integer(value).clamp(least, most) as u64, bits)))
}
