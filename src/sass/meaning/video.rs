//! Arithmetic on halves and bytes of registers, and absolute differences.

use super::Function;
use super::convert::{limits, to_whole};
use super::integer::first_source;
use super::number::number_of;
use super::reading::{function, of_values};
use crate::emulate::number::{F32, Rounding};
use crate::emulate::types::{Ty, low, signed};
use crate::sass::instruction::Instruction;
use crate::sass::operand::{Changes, Operand, RZ};

const U32: Ty = Ty::Unsigned(32);

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    let found = match (word, modifiers.as_slice()) {
        ("VABSDIFF", [] | ["U32"]) => difference(instruction, modifiers.is_empty())?,
        ("VABSDIFF4", _) => differences(instruction, &modifiers)?,
        ("VIADD", ["16x2"]) => function(instruction, [(0, U32)], [(1, U32), (2, U32)], |[a, b]| {
            [low(a.wrapping_add(b), 16) | low((a >> 16).wrapping_add(b >> 16), 16) << 16]
        })?,
        ("VIMNMX", ["RELU"]) => extremes(instruction, 32, true, true)?,
        ("VIMNMX", ["U16x2"]) => extremes(instruction, 16, false, false)?,
        ("VIMNMX", ["S16x2", rest @ ..]) if matches!(rest, [] | ["RELU"]) => {
            extremes(instruction, 16, true, !rest.is_empty())?
        }
        ("VIMNMX3", _) => extremes_of_three(instruction, &modifiers, false)?,
        ("VIADDMNMX", _) => extremes_of_three(instruction, &modifiers, true)?,
        ("F2IP", ["U8", "F32", rest @ ..]) => bytes_of_floats(instruction, rest)?,
        _ => return None,
    };
    Some(vec![found])
}

fn part(value: u64, at: u32, bits: u32, has_sign: bool) -> i64 {
    let value = low(value >> at, bits);
    if has_sign { signed(value, bits) } else { value as i64 }
}

/// `VABSDIFF`: the absolute difference of two numbers, plus a summand.
fn difference(instruction: &Instruction, has_sign: bool) -> Option<Function> {
    (instruction.operands.len() == 4).then_some(())?;
    function(instruction, [(0, U32)], [(1, U32), (2, U32), (3, U32)], move |[a, b, c]| {
        let apart = (part(a, 0, 32, has_sign) - part(b, 0, 32, has_sign)).unsigned_abs();
        [low(apart.wrapping_add(c), 32)]
    })
}

/// `VABSDIFF4`: the absolute differences of the bytes of two registers. With `.ACC`, their sum.
fn differences(instruction: &Instruction, modifiers: &[&str]) -> Option<Function> {
    let (mut has_sign, mut sums) = (true, false);
    for &modifier in modifiers {
        match modifier {
            "U8" => has_sign = false,
            "ACC" => sums = true,
            _ => return None,
        }
    }
    (instruction.operands.len() == 4).then_some(())?;
    function(instruction, [(0, U32)], [(1, U32), (2, U32), (3, U32)], move |[a, b, c]| {
        let apart = |at: u32| (part(a, at, 8, has_sign) - part(b, at, 8, has_sign)).unsigned_abs();
        let places = [0, 8, 16, 24];
        [if sums {
            low(places.into_iter().map(apart).sum::<u64>().wrapping_add(c), 32)
        } else {
            places.into_iter().fold(0, |all, at| all | low(apart(at), 8) << at)
        }]
    })
}

/// `VIMNMX` on parts: the minima if the predicate is true, and the maxima otherwise. With `.RELU`, negative results
/// become zero.
fn extremes(instruction: &Instruction, bits: u32, has_sign: bool, relu: bool) -> Option<Function> {
    let first = first_source(instruction, 3)?;
    let from = [(first, U32), (first + 1, U32), (first + 2, Ty::Pred)];
    function(instruction, [(0, U32)], from, move |[a, b, is_least]| {
        let one = |at: u32| {
            let [a, b] = [a, b].map(|value| part(value, at, bits, has_sign));
            let chosen = if is_least != 0 { a.min(b) } else { a.max(b) };
            low(if relu { chosen.max(0) } else { chosen } as u64, bits) << at
        };
        [(0..32 / bits).fold(0, |all, number| all | one(number * bits))]
    })
}

/// `VIMNMX3`, `VIADDMNMX`: the minimum of three numbers, or of a sum and a number, if the predicate is true, and the
/// maximum otherwise. With `.RELU`, negative results become zero.
fn extremes_of_three(instruction: &Instruction, modifiers: &[&str], adds: bool) -> Option<Function> {
    let (form, relu) = match modifiers {
        [form @ .., "RELU"] => (form, true),
        form => (form, false),
    };
    let (bits, has_sign) = match form {
        [] | ["S32"] => (32, true),
        ["U32"] => (32, false),
        ["S16x2"] => (16, true),
        ["U16x2"] => (16, false),
        _ => return None,
    };
    // The sign of a half is not the sign of its register.
    let is_plain = |operand: &Operand| match operand {
        Operand::Register(_, changes) | Operand::Constant(_, changes) => *changes == Changes::default(),
        _ => true,
    };
    (instruction.operands.len() == 5 && (bits == 32 || instruction.operands.iter().all(is_plain))).then_some(())?;
    let from = [(1, U32), (2, U32), (3, U32), (4, Ty::Pred)];
    function(instruction, [(0, U32)], from, move |[a, b, c, is_least]| {
        let one = |at: u32| {
            let value = |value: u64| part(value, at, bits, has_sign);
            let all = if adds {
                let sum = (a >> at).wrapping_add(b >> at);
                [part(sum, 0, bits, has_sign), value(c), value(c)]
            } else {
                [value(a), value(b), value(c)]
            };
            let [first, second, third] = all;
            let chosen = if is_least != 0 { first.min(second).min(third) } else { first.max(second).max(third) };
            low(if relu { chosen.max(0) } else { chosen } as u64, bits) << at
        };
        [(0..32 / bits).fold(0, |all, number| all | one(number * bits))]
    })
}

/// `F2IP`: two floats as bytes, the first in the upper byte.
fn bytes_of_floats(instruction: &Instruction, modifiers: &[&str]) -> Option<Function> {
    let (mut how, mut nan_is_zero) = (Rounding::Nearest, false);
    for &modifier in modifiers {
        match modifier {
            "NTZ" => nan_is_zero = true,
            name => how = to_whole(name)?,
        }
    }
    let merges_nothing =
        matches!(instruction.operands.get(3), Some(Operand::Register(register, _)) if register.number == RZ);
    if !nan_is_zero || !merges_nothing || instruction.operands.len() != 4 {
        return None;
    }
    let (a, b) = (number_of(instruction, 1, Ty::F32)?, number_of(instruction, 2, Ty::F32)?);
    let (least, most) = limits(8, false);
    let byte = move |bits: u64| {
        let value = F32.value(bits);
        if value.is_nan() { 0 } else { (how.integer(value) as i128).clamp(least, most) as u64 }
    };
    Some(of_values([(0, U32)], [(1, Ty::F32), (2, Ty::F32)], move |[x, y]| [byte(a.low(x)) << 8 | byte(b.low(y))]))
}
