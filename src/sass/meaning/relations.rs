//! Floating-point comparisons.

use std::cmp::Ordering;

use super::Function;
use super::compare::joined;
use super::float::negation;
use super::number::{Style, number_of};
use super::reading::of_values;
use crate::emulate::number::{BF16, F16, F32};
use crate::emulate::types::Ty;
use crate::sass::instruction::Instruction;
use crate::sass::operand::Operand;

const PRED: Ty = Ty::Pred;

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    match (word, modifiers.as_slice()) {
        ("FSETP", _) => predicates(instruction, Ty::F32, &modifiers),
        ("DSETP", ["MIN", "AND"]) => chosen_double(instruction, true),
        ("DSETP", ["MAX", "AND"]) => chosen_double(instruction, false),
        ("DSETP", _) => predicates(instruction, Ty::F64, &modifiers),
        ("FSET", _) => Some(vec![mask(instruction, &modifiers)?]),
        ("HSETP2", _) => pair_predicates(instruction, &modifiers),
        ("HSET2", _) => Some(vec![pair_mask(instruction, &modifiers)?]),
        _ => None,
    }
}

type Holds = fn(Option<Ordering>) -> bool;

/// Returns the test of an order for a relation. The order is `None` if one number is NaN.
fn relation(name: &str) -> Option<Holds> {
    Some(match name {
        "F" => |_| false,
        "T" => |_| true,
        "LT" => |order| order == Some(Ordering::Less),
        "EQ" => |order| order == Some(Ordering::Equal),
        "LE" => |order| matches!(order, Some(Ordering::Less | Ordering::Equal)),
        "GT" => |order| order == Some(Ordering::Greater),
        "NE" => |order| matches!(order, Some(Ordering::Less | Ordering::Greater)),
        "GE" => |order| matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        "NUM" => |order| order.is_some(),
        "NAN" => |order| order.is_none(),
        "LTU" => |order| matches!(order, None | Some(Ordering::Less)),
        "EQU" => |order| matches!(order, None | Some(Ordering::Equal)),
        "LEU" => |order| order != Some(Ordering::Greater),
        "GTU" => |order| matches!(order, None | Some(Ordering::Greater)),
        "NEU" => |order| order != Some(Ordering::Equal),
        "GEU" => |order| order != Some(Ordering::Less),
        _ => return None,
    })
}

/// The modifiers of a comparison.
struct Comparison {
    holds: Holds,
    join: fn(u64, u64) -> u64,
    flushes: bool,
    gives_float: bool,
    is_bf16: bool,
}

fn comparison(modifiers: &[&str]) -> Option<Comparison> {
    let (mut holds, mut join, mut flushes, mut gives_float, mut is_bf16) = (None, None, false, false, false);
    for &modifier in modifiers {
        match modifier {
            "FTZ" => flushes = true,
            "BF" => gives_float = true,
            "BF16_V2" => is_bf16 = true,
            "AND" | "OR" | "XOR" => join = joined(modifier),
            name => holds = Some(relation(name)?),
        }
    }
    Some(Comparison { holds: holds?, join: join?, flushes, gives_float, is_bf16 })
}

/// `FSETP`, `DSETP`: the result and its opposite, each combined with a predicate.
fn predicates(instruction: &Instruction, ty: Ty, modifiers: &[&str]) -> Option<Vec<Function>> {
    let Comparison { holds, join, flushes, gives_float: false, is_bf16: false } = comparison(modifiers)? else {
        return None;
    };
    let style = Style { flushes, ..Style::of(F32, &[])? };
    let (a, b) = (number_of(instruction, 2, ty)?, number_of(instruction, 3, ty)?);
    let negated = negation(instruction, 4)?;
    let value = move |bits| if ty == Ty::F64 { f64::from_bits(bits) } else { style.value(bits) };
    let function = |result: usize| {
        of_values([(result, PRED)], [(2, ty), (3, ty), (4, PRED)], move |[x, y, other]| {
            let is_so = holds(value(a.low(x)).partial_cmp(&value(b.low(y))));
            [join(u64::from(is_so) ^ result as u64, other ^ negated)]
        })
    };
    (instruction.operands.len() == 5).then(|| vec![function(0), function(1)])
}

/// `DSETP.MIN`, `DSETP.MAX`: whether the first number is the minimum or maximum, and whether both are NaN.
fn chosen_double(instruction: &Instruction, is_least: bool) -> Option<Vec<Function>> {
    let (a, b) = (number_of(instruction, 2, Ty::F64)?, number_of(instruction, 3, Ty::F64)?);
    let is_plain = matches!(instruction.operands.as_slice(), [_, _, _, _, Operand::Predicate(predicate)]
        if predicate.number == crate::sass::operand::PT && !predicate.negated);
    let function = |result: usize| {
        of_values([(result, PRED)], [(2, Ty::F64), (3, Ty::F64)], move |[x, y]| {
            let [x, y] = [a.low(x), b.low(y)].map(f64::from_bits);
            let is_first = match (x.is_nan(), y.is_nan()) {
                (true, _) => false,
                (_, true) => true,
                _ if x == y => x.is_sign_negative() == is_least,
                _ => (x < y) == is_least,
            };
            [u64::from(if result == 0 { is_first } else { x.is_nan() && y.is_nan() })]
        })
    };
    is_plain.then(|| vec![function(0), function(1)])
}

/// `FSET`: all bits, or 1.0 with `.BF`, if the relation holds.
fn mask(instruction: &Instruction, modifiers: &[&str]) -> Option<Function> {
    let Comparison { holds, join, flushes, gives_float, is_bf16: false } = comparison(modifiers)? else { return None };
    let style = Style { flushes, ..Style::of(F32, &[])? };
    let (a, b) = (number_of(instruction, 1, Ty::F32)?, number_of(instruction, 2, Ty::F32)?);
    let negated = negation(instruction, 3)?;
    let from = [(1, Ty::F32), (2, Ty::F32), (3, PRED)];
    let (to, yes) = if gives_float { (Ty::F32, 0x3f80_0000) } else { (Ty::Unsigned(32), 0xffff_ffff) };
    (instruction.operands.len() == 4).then(|| {
        of_values([(0, to)], from, move |[x, y, other]| {
            let is_so = holds(style.value(a.low(x)).partial_cmp(&style.value(b.low(y))));
            [join(is_so.into(), other ^ negated) * yes]
        })
    })
}

/// `HSETP2`: the results for the lower halves and for the upper halves.
fn pair_predicates(instruction: &Instruction, modifiers: &[&str]) -> Option<Vec<Function>> {
    let Comparison { holds, join, flushes, gives_float: false, is_bf16 } = comparison(modifiers)? else { return None };
    let (ty, format) = if is_bf16 { (Ty::BF16x2, BF16) } else { (Ty::F16x2, F16) };
    let style = Style { flushes, ..Style::of(format, &[])? };
    let (a, b) = (number_of(instruction, 2, ty)?, number_of(instruction, 3, ty)?);
    let negated = negation(instruction, 4)?;
    let function = |result: usize| {
        of_values([(result, PRED)], [(2, ty), (3, ty), (4, PRED)], move |[x, y, other]| {
            let [x, y] = if result == 0 { [a.low(x), b.low(y)] } else { [a.high(x), b.high(y)] };
            let is_so = holds(style.value(x).partial_cmp(&style.value(y)));
            [join(is_so.into(), other ^ negated)]
        })
    };
    (instruction.operands.len() == 5).then(|| vec![function(0), function(1)])
}

/// `HSET2`: like `FSET`, for packed halves.
fn pair_mask(instruction: &Instruction, modifiers: &[&str]) -> Option<Function> {
    let Comparison { holds, join, flushes, gives_float, is_bf16 } = comparison(modifiers)?;
    let (ty, format) = if is_bf16 { (Ty::BF16x2, BF16) } else { (Ty::F16x2, F16) };
    let style = Style { flushes, ..Style::of(format, &[])? };
    let (a, b) = (number_of(instruction, 1, ty)?, number_of(instruction, 2, ty)?);
    let negated = negation(instruction, 3)?;
    let yes = match (gives_float, is_bf16) {
        (false, _) => 0xffff,
        (true, false) => 0x3c00,
        (true, true) => 0x3f80,
    };
    (instruction.operands.len() == 4).then(|| {
        of_values([(0, Ty::Unsigned(32))], [(1, ty), (2, ty), (3, PRED)], move |[x, y, other]| {
            let one = |x, y| {
                let is_so = holds(style.value(x).partial_cmp(&style.value(y)));
                join(is_so.into(), other ^ negated) * yes
            };
            [one(a.low(x), b.low(y)) | one(a.high(x), b.high(y)) << 16]
        })
    })
}
