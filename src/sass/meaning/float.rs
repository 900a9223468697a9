//! Floats: sums, products, minima and maxima, selections, and the check before a division.

use super::Function;
use super::number::{ExtremeForm, Number, Style, number_of};
use super::reading::of_values;
use crate::emulate::number::{F32, add, fma, mul};
use crate::emulate::types::Ty;
use crate::sass::instruction::Instruction;
use crate::sass::operand::Operand;

const FLOAT: Ty = Ty::F32;
const PRED: Ty = Ty::Pred;

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    let found = match word {
        "FADD" | "FADD32I" => {
            let style = Style::of(F32, &modifiers)?;
            two(instruction, move |a, b| style.bits(add(style.value(a), style.value(b), style.rounding)))?
        }
        "FMUL" | "FMUL32I" => product(instruction, &modifiers)?,
        "FFMA" | "FFMA32I" => {
            let style = Style::of(F32, &modifiers)?;
            three(instruction, move |a, b, c| {
                style.bits(fma(style.value(a), style.value(b), style.value(c), style.rounding))
            })?
        }
        "FMNMX" => extreme(instruction, &modifiers)?,
        "FMNMX3" => extreme_of_three(instruction, &modifiers)?,
        "FSEL" => choice(instruction, &modifiers)?,
        "FCHK" if modifiers.is_empty() || modifiers == ["DIVIDE"] => {
            let [a, b] = numbers(instruction, [1, 2])?;
            of_values([(0, PRED)], [(1, FLOAT), (2, FLOAT)], move |[x, y]| [is_delicate(a.low(x), b.low(y)).into()])
        }
        _ => return None,
    };
    Some(vec![found])
}

fn numbers<const N: usize>(instruction: &Instruction, at: [usize; N]) -> Option<[Number; N]> {
    let all: Vec<Number> = at.iter().map(|&at| number_of(instruction, at, FLOAT)).collect::<Option<_>>()?;
    all.try_into().ok()
}

fn two(instruction: &Instruction, compute: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Option<Function> {
    let [a, b] = numbers(instruction, [1, 2])?;
    let from = [(1, FLOAT), (2, FLOAT)];
    (instruction.operands.len() == 3)
        .then(|| of_values([(0, FLOAT)], from, move |[x, y]| [compute(a.low(x), b.low(y))]))
}

fn three(
    instruction: &Instruction,
    compute: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static,
) -> Option<Function> {
    let [a, b, c] = numbers(instruction, [1, 2, 3])?;
    let from = [(1, FLOAT), (2, FLOAT), (3, FLOAT)];
    (instruction.operands.len() == 4)
        .then(|| of_values([(0, FLOAT)], from, move |[x, y, z]| [compute(a.low(x), b.low(y), c.low(z))]))
}

/// `FMUL`: with `.D2` and similar modifiers, the product is divided before it is rounded. With `.M2` and similar
/// modifiers, it is multiplied.
fn product(instruction: &Instruction, modifiers: &[&str]) -> Option<Function> {
    let scale = |modifier: &&str| match *modifier {
        "D2" => Some(0.5),
        "D4" => Some(0.25),
        "D8" => Some(0.125),
        "M2" => Some(2.0),
        "M4" => Some(4.0),
        "M8" => Some(8.0),
        _ => None,
    };
    let factor: f64 = modifiers.iter().find_map(scale).unwrap_or(1.0);
    let rest: Vec<&str> = modifiers.iter().copied().filter(|modifier| scale(modifier).is_none()).collect();
    let style = Style::of(F32, &rest)?;
    two(instruction, move |a, b| style.bits(mul(style.value(a), style.value(b)) * factor))
}

/// `FMNMX`: the minimum if the predicate is true, and the maximum otherwise. With `.XORSIGN`, the sign is the sign of
/// the product.
fn extreme(instruction: &Instruction, modifiers: &[&str]) -> Option<Function> {
    let ExtremeForm { flushes, keeps_nan, joins_signs } = ExtremeForm::of(modifiers)?;
    let style = Style { flushes, ..Style::of(F32, &[])? };
    let [a, b] = numbers(instruction, [1, 2])?;
    let negated = negation(instruction, 3)?;
    let from = [(1, FLOAT), (2, FLOAT), (3, PRED)];
    (instruction.operands.len() == 4).then(|| {
        of_values([(0, FLOAT)], from, move |[x, y, is_least]| {
            let values = [style.value(a.low(x)), style.value(b.low(y))];
            let result = style.extreme(values, is_least != negated, keeps_nan);
            [if joins_signs { result & 0x7fff_ffff | a.sign(x) ^ b.sign(y) } else { result }]
        })
    })
}

/// `FMNMX3`: the minimum of three numbers if the predicate is true, and the maximum otherwise.
fn extreme_of_three(instruction: &Instruction, modifiers: &[&str]) -> Option<Function> {
    let ExtremeForm { flushes, keeps_nan, joins_signs: false } = ExtremeForm::of(modifiers)? else { return None };
    let style = Style { flushes, ..Style::of(F32, &[])? };
    let [a, b, c] = numbers(instruction, [1, 2, 3])?;
    let negated = negation(instruction, 4)?;
    let from = [(1, FLOAT), (2, FLOAT), (3, FLOAT), (4, PRED)];
    (instruction.operands.len() == 5).then(|| {
        of_values([(0, FLOAT)], from, move |[x, y, z, is_least]| {
            let least_first = |values| style.extreme(values, is_least != negated, keeps_nan);
            let of_two = least_first([style.value(a.low(x)), style.value(b.low(y))]);
            [least_first([style.value(of_two), style.value(c.low(z))])]
        })
    })
}

/// Returns 1 if a predicate is negated.
pub(super) fn negation(instruction: &Instruction, at: usize) -> Option<u64> {
    match instruction.operands.get(at)? {
        Operand::Predicate(predicate) => Some(predicate.negated.into()),
        _ => None,
    }
}

/// `FSEL`: the first source if the predicate is true, and the second otherwise.
fn choice(instruction: &Instruction, modifiers: &[&str]) -> Option<Function> {
    let style = match modifiers {
        [] => None,
        ["FTZ"] => Some(Style::of(F32, modifiers)?),
        _ => return None,
    };
    let [a, b] = numbers(instruction, [1, 2])?;
    let negated = negation(instruction, 3)?;
    let from = [(1, FLOAT), (2, FLOAT), (3, PRED)];
    (instruction.operands.len() == 4).then(|| {
        of_values([(0, FLOAT)], from, move |[x, y, by]| {
            let chosen = if by != negated { a.low(x) } else { b.low(y) };
            [style.filter(|_| chosen & 0x7f80_0000 == 0).map_or(chosen, |_| chosen & 0x8000_0000)]
        })
    })
}

/// Whether a quotient cannot be computed from the divisor's reciprocal. This is the case if an argument is zero,
/// infinite or subnormal, or if the quotient or a remainder may be.
fn is_delicate(dividend: u64, divisor: u64) -> bool {
    let [above, below] = [dividend, divisor].map(|bits| (bits >> 23 & 0xff) as i64);
    let distance = above - below;
    !(26..=252).contains(&above) || !(3..=250).contains(&below) || !(-120..=120).contains(&distance)
}
