//! MUFU: functions that the hardware approximates. PTX bounds the error of a result. An [`Approximation`] chooses the
//! error of a run.

use super::Function;
use super::number::{Number, number_of};
use super::reading::of_values;
use crate::emulate::number::{BF16, F16, F32, Format, Rounding};
use crate::emulate::types::{Ty, mixed};
use crate::sass::instruction::Instruction;

/// The choice among the permitted results of an approximate function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approximation {
    /// The result nearest to the exact one.
    #[default]
    Exact,
    /// One unit in the last place lower.
    Lowest,
    /// One unit in the last place higher.
    Highest,
    /// One of the three, chosen by a hash of the seed and the argument.
    Drawn(u64),
}

impl Approximation {
    /// Returns the error of a result in units in the last place.
    fn steps(self, argument: u64) -> i64 {
        match self {
            Self::Exact => 0,
            Self::Lowest => -1,
            Self::Highest => 1,
            Self::Drawn(seed) => (mixed(seed ^ argument) % 3) as i64 - 1,
        }
    }

    /// Applies the error to a result, given as the bits of a format whose finite magnitudes are below `limit`. Zero,
    /// infinity and NaN are exact.
    fn off(self, bits: u64, argument: u64, sign: u64, limit: u64) -> u64 {
        let magnitude = bits & !sign;
        if magnitude == 0 || magnitude >= limit {
            return bits;
        }
        let steps = if bits & sign == 0 { self.steps(argument) } else { -self.steps(argument) };
        let moved = magnitude.wrapping_add_signed(steps);
        bits & sign | if moved >= limit { magnitude } else { moved }
    }
}

pub(super) fn find(instruction: &Instruction, word: &str, approximation: Approximation) -> Option<Vec<Function>> {
    if word != "MUFU" {
        return None;
    }
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    let found = match modifiers.as_slice() {
        ["RCP64H"] => upper(instruction, approximation, |value| 1.0 / value)?,
        ["RSQ64H"] => upper(instruction, approximation, |value| 1.0 / value.sqrt())?,
        [name] => of_format(instruction, name, F32, Ty::F32, approximation)?,
        [name, "F16"] => of_format(instruction, name, F16, Ty::F16x2, approximation)?,
        [name, "BF16" | "BF16_V2"] => of_format(instruction, name, BF16, Ty::BF16x2, approximation)?,
        _ => return None,
    };
    Some(vec![found])
}

/// A function of one number.
type Real = fn(f64) -> f64;

/// Returns a function by its name, and whether its subnormal arguments and results are flushed to zero.
fn named(name: &str) -> Option<(Real, bool)> {
    Some(match name {
        "RCP" => (|value| 1.0 / value, true),
        "RSQ" => (reciprocal_root, true),
        "SQRT" => (f64::sqrt, true),
        "EX2" => (f64::exp2, true),
        "LG2" => (f64::log2, true),
        // The argument is a number of full turns.
        "SIN" => (|value| (value.fract() * std::f64::consts::TAU).sin(), true),
        "COS" => (|value| (value.fract() * std::f64::consts::TAU).cos(), true),
        "TANH" => (f64::tanh, false),
        _ => return None,
    })
}

fn reciprocal_root(value: f64) -> f64 {
    // The square root of minus zero is minus zero.
    1.0 / value.sqrt()
}

fn of_format(
    instruction: &Instruction,
    name: &str,
    format: Format,
    ty: Ty,
    approximation: Approximation,
) -> Option<Function> {
    let (function, flushes) = named(name)?;
    let is_reciprocal = name == "RCP";
    let flushes = flushes && format == F32;
    let number: Number = number_of(instruction, 1, ty)?;
    let sign = if format == F32 { 1 << 31 } else { 1 << 15 };
    let limit = if format == F16 { 0x7c00 } else { 0x7f80 << if format == F32 { 16 } else { 0 } };
    let fraction = match format {
        F16 => 0x3ff,
        BF16 => 0x7f,
        _ => 0x7f_ffff,
    };
    let least = f64::from(f32::MIN_POSITIVE);
    let flushed = move |value: f64| if flushes && value.abs() < least { 0.0f64.copysign(value) } else { value };
    (instruction.operands.len() == 2).then(|| {
        of_values([(0, ty)], [(1, ty)], move |[a]| {
            let argument = number.low(a);
            let exact = format.round(function(flushed(format.value(argument))), Rounding::Nearest, false);
            // The reciprocals of a power of two and of the largest number below one are exact. ptxas's code for
            // `rcp.rz`, `rcp.rm` and `rcp.rp` depends on this.
            let is_exact = is_reciprocal && [0, fraction].contains(&(argument & fraction));
            let off = if is_exact { exact } else { approximation.off(exact, argument, sign, limit) };
            [format.round(flushed(format.value(off)), Rounding::Nearest, false)]
        })
    })
}

/// Returns the upper word of a double function's result, from the upper word of the argument.
fn upper(instruction: &Instruction, approximation: Approximation, function: fn(f64) -> f64) -> Option<Function> {
    let number = number_of(instruction, 1, Ty::F32)?;
    let flushed = |value: f64| if value.is_subnormal() { 0.0f64.copysign(value) } else { value };
    (instruction.operands.len() == 2).then(|| {
        of_values([(0, Ty::Unsigned(32))], [(1, Ty::Unsigned(32))], move |[a]| {
            let argument = number.low(a);
            let exact = flushed(function(flushed(f64::from_bits(argument << 32))));
            let exact = if exact.is_nan() { 0x7fff_ffff } else { exact.to_bits() >> 32 };
            [approximation.off(exact, argument, 1 << 31, 0x7ff0_0000)]
        })
    })
}
