//! Integer sums, products, minima, maxima and bit counts.

use super::Function;
use super::reading::{function, last_predicates, of_values, readings, results};
use crate::emulate::types::{Ty, low, signed};
use crate::sass::instruction::Instruction;
use crate::sass::operand::{Changes, Operand, PT, RZ};

const U32: Ty = Ty::Unsigned(32);
const S32: Ty = Ty::Signed(32);
const U64: Ty = Ty::Unsigned(64);
const PRED: Ty = Ty::Pred;

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    match (word, modifiers.as_slice()) {
        ("IMAD", _) => product(instruction, &modifiers),
        ("IADD3", [] | ["X"]) => sum(instruction, !modifiers.is_empty()),
        ("VIADD", []) => Some(vec![add(instruction)?]),
        ("LEA", _) => address(instruction, &modifiers),
        ("IMNMX" | "VIMNMX", [] | ["U32"] | ["S32"]) => Some(vec![extreme(instruction, modifiers.contains(&"U32"))?]),
        ("VIMNMX3", [] | ["U32"]) => Some(vec![extreme_of_three(instruction, modifiers.contains(&"U32"))?]),
        ("VIADDMNMX", [] | ["U32"]) => Some(vec![extreme_of_sum(instruction, modifiers.contains(&"U32"))?]),
        ("IABS", []) => {
            let absolute = |[a]: [u64; 1]| [u64::from((a as i32).unsigned_abs())];
            Some(vec![function(instruction, [(0, U32)], [(1, S32)], absolute)?])
        }
        ("POPC", []) => {
            Some(vec![function(instruction, [(0, U32)], [(1, U32)], |[a]| [a.count_ones().into()])?.taking_apart()])
        }
        ("IDP", [dims, left, right]) => Some(vec![dot_product(instruction, dims, None, left, right)?]),
        ("IDP", [dims, half, left, right]) => Some(vec![dot_product(instruction, dims, Some(half), left, right)?]),
        _ => None,
    }
}

impl Function {
    pub(super) fn taking_apart(mut self) -> Self {
        self.pure = self.pure.taking_apart();
        self
    }

    /// Declares that each bit of the result is a function of bits of these sources.
    pub(super) fn bit_by_bit(mut self, sources: &[u32]) -> Self {
        self.pure = self.pure.bit_by_bit(sources);
        self
    }

    pub(super) fn adding(mut self) -> Self {
        self.pure.may_be_address = true;
        self
    }
}

fn add(instruction: &Instruction) -> Option<Function> {
    Some(function(instruction, [(0, U32)], [(1, U32), (2, U32)], |[a, b]| [a.wrapping_add(b)])?.adding())
}

/// `IMAD`: a product and a sum. `.MOV`, `.SHL` and `.IADD` describe the factors. The operation is the same.
fn product(instruction: &Instruction, modifiers: &[&str]) -> Option<Vec<Function>> {
    let mut is_unsigned = false;
    let [mut is_wide, mut is_high, mut adds_carry] = [false; 3];
    for &modifier in modifiers {
        match modifier {
            "MOV" | "SHL" | "IADD" => {}
            "U32" => is_unsigned = true,
            "WIDE" => is_wide = true,
            "HI" => is_high = true,
            "X" => adds_carry = true,
            _ => return None,
        }
    }
    let first = results(instruction);
    let factor = if is_unsigned { U32 } else { S32 };
    let (summand, result) = if is_wide {
        (U64, U64)
    } else if is_high {
        (U64, U32)
    } else {
        (U32, U32)
    };
    let from = [(first, factor), (first + 1, factor), (first + 2, summand)];
    let readings = readings(instruction, from)?;
    let total = move |values: &[u64], carry: u64| -> u128 {
        let part = |at: usize| {
            let value = readings[at].read(values[at]);
            if is_unsigned { value } else { signed(value, 32) as u64 }
        };
        let product = part(0).wrapping_mul(part(1));
        let (summand, one) = readings[2].summand(values[2]);
        // For unsigned factors, the product of two words plus two carries is below 2^64, and the summand is below 2^64.
        u128::from(product) + u128::from(summand) + u128::from(one) + u128::from(carry)
    };
    let value = move |total: u128| if is_high { (total >> 32) as u64 } else { total as u64 };
    let carries = last_predicates(instruction);
    let mut functions = Vec::new();
    match (adds_carry, carries.as_slice()) {
        (true, &[carry]) if carry == first + 3 => {
            let negated = super::reading::Reading::new(&instruction.operands[carry], PRED);
            let from = [from[0], from[1], from[2], (carry, PRED)];
            let all = move |values: [u64; 4]| total(&values[..3], negated.read(values[3]));
            functions.push(of_values([(0, result)], from, move |values| [value(all(values))]));
            if first > 1 {
                functions.push(of_values([(1, PRED)], from, move |values| [carry_of(all(values), summand)]));
            }
        }
        (false, []) => {
            let mut product = of_values([(0, result)], from, move |values| [value(total(&values, 0))]).adding();
            if !is_high && shifts(instruction, first) {
                product.pure = product.pure.bit_by_bit(&[0]);
            }
            functions.push(product);
            if first > 1 {
                functions.push(of_values([(1, PRED)], from, move |values| [carry_of(total(&values, 0), summand)]));
            }
        }
        _ => return None,
    }
    (first <= 2).then_some(functions)
}

/// Whether a product is a shift: a register without modifiers times a power of two, with a zero addend.
fn shifts(instruction: &Instruction, first: usize) -> bool {
    let zero = |operand: &Operand| matches!(operand, Operand::Register(register, _) if register.number == RZ);
    match instruction.operands.get(first..) {
        Some([Operand::Register(_, changes), Operand::Immediate(factor), sum]) => {
            *changes == Changes::default() && factor.is_power_of_two() && zero(sum)
        }
        _ => false,
    }
}

fn carry_of(total: u128, ty: Ty) -> u64 {
    u64::from(total >> ty.bits() != 0)
}

/// The bits of an instruction with the predicates of the carry outputs.
const FIRST_CARRY: u32 = 81;
const SECOND_CARRY: u32 = 84;

/// `IADD3`: three summands, up to two carry inputs and outputs. Together, the carry outputs are the bits beyond 32.
fn sum(instruction: &Instruction, adds_carries: bool) -> Option<Vec<Function>> {
    let first = results(instruction);
    let from = [(first, U32), (first + 1, U32), (first + 2, U32)];
    let readings = readings(instruction, from)?;
    let total = move |values: &[u64]| -> u64 {
        readings
            .iter()
            .zip(values)
            .map(|(reading, &value)| reading.summand(value))
            .map(|(value, one)| value + one)
            .sum()
    };
    let carries = last_predicates(instruction);
    let carry = |at: usize| (*carries.get(at).unwrap_or(&0), PRED);
    let is_carried = match (adds_carries, carries.as_slice()) {
        (false, []) => false,
        (true, [_] | [_, _]) if carries[0] == first + 3 => true,
        _ => return None,
    };
    let two = carries.len() == 2;
    let negated = carries.iter().map(|&at| super::reading::Reading::new(&instruction.operands[at], PRED));
    let negated: Vec<_> = negated.collect();
    // The disassembler omits a carry output to PT, so a single carry may be the second.
    let goes_nowhere = |from: u32| instruction.bits >> from & 7 == u128::from(PT);
    let is_second_alone = first == 2 && goes_nowhere(FIRST_CARRY) && !goes_nowhere(SECOND_CARRY);
    let mut functions = Vec::new();
    for result in 0..first {
        let pick = move |total: u64| match result {
            0 => low(total, 32),
            // The first overflow sets one carry output, the second overflow the other.
            carry => u64::from(total >> 32 >= carry as u64 + u64::from(is_second_alone)),
        };
        let to = [(result, if result == 0 { U32 } else { PRED })];
        let of = negated.clone();
        functions.push(if is_carried && two {
            let from = [from[0], from[1], from[2], carry(0), carry(1)];
            of_values(to, from, move |values| {
                [pick(total(&values[..3]) + of[0].read(values[3]) + of[1].read(values[4]))]
            })
        } else if is_carried {
            let from = [from[0], from[1], from[2], carry(0)];
            of_values(to, from, move |values| [pick(total(&values[..3]) + of[0].read(values[3]))])
        } else {
            of_values(to, from, move |values| [pick(total(&values))]).adding()
        });
    }
    (first <= 3).then_some(functions)
}

/// `LEA`: a shifted summand. With `.HI`, the summand is the upper word of a shifted register pair. With `.HI.SX32`, it
/// is the upper word of a shifted, sign-extended register.
fn address(instruction: &Instruction, modifiers: &[&str]) -> Option<Vec<Function>> {
    let (mut is_high, mut adds_carry, mut has_sign) = (false, false, false);
    for &modifier in modifiers {
        match modifier {
            "HI" => is_high = true,
            "X" => adds_carry = true,
            "SX32" => has_sign = true,
            _ => return None,
        }
    }
    let first = results(instruction);
    let has_upper = is_high && !has_sign;
    let from = [(first, U32), (first + 1, U32), (if has_upper { first + 2 } else { first }, U32)];
    let amount = first + 2 + usize::from(has_upper);
    let readings = readings(instruction, from)?;
    let predicates = last_predicates(instruction);
    if adds_carry != (predicates.len() == 1) || predicates.len() > 1 {
        return None;
    }
    let carry_at = if adds_carry { predicates[0] } else { 0 };
    if instruction.operands.len() != amount + 1 + predicates.len() {
        return None;
    }
    let negated = adds_carry.then(|| super::reading::Reading::new(&instruction.operands[carry_at], PRED));
    let total = move |values: [u64; 5]| -> u64 {
        let [a, b, c, amount, carry] = values;
        let amount = amount & 31;
        let upper = if has_upper {
            low(c, 32)
        } else if has_sign {
            low(signed(a, 32) as u64 >> 32, 32)
        } else {
            0
        };
        let wide = low(a, 32) | upper << 32;
        // The negation applies to the whole shifted number.
        let wide = if readings[0].is_negated() { wide.wrapping_neg() } else { readings[0].read(a) | upper << 32 };
        let shifted = low(if is_high { (wide << amount) >> 32 } else { wide << amount }, 32);
        let (summand, one) = readings[1].summand(b);
        // The carry of a difference is the carry of the complement plus one. ptxas subtracts the upper word with this
        // carry.
        let is_nothing_less = !is_high && readings[0].is_negated() && shifted == 0;
        shifted + (u64::from(is_nothing_less) << 32) + summand + one + negated.map_or(0, |reading| reading.read(carry))
    };
    let mut functions = Vec::new();
    for result in 0..first {
        let pick = move |total: u64| if result == 0 { low(total, 32) } else { u64::from(total >> 32 != 0) };
        let to = [(result, if result == 0 { U32 } else { PRED })];
        functions.push(if adds_carry {
            of_values(to, [from[0], from[1], from[2], (amount, U32), (carry_at, PRED)], move |values| {
                [pick(total(values))]
            })
        } else {
            of_values(to, [from[0], from[1], from[2], (amount, U32)], move |[a, b, c, amount]| {
                [pick(total([a, b, c, amount, 0]))]
            })
            .adding()
        });
    }
    (first <= 2).then_some(functions)
}

/// `IMNMX`, `VIMNMX`: the minimum of two numbers if the predicate is true, and the maximum otherwise.
fn extreme(instruction: &Instruction, is_unsigned: bool) -> Option<Function> {
    let ty = if is_unsigned { U32 } else { S32 };
    let first = first_source(instruction, 3)?;
    function(instruction, [(0, U32)], [(first, ty), (first + 1, ty), (first + 2, PRED)], move |[a, b, is_least]| {
        [chosen(a, b, is_least != 0, is_unsigned)]
    })
}

/// Returns the position of the first of `sources` sources. Since sm_100, two predicates with unknown purpose precede
/// the sources.
pub(super) fn first_source(instruction: &Instruction, sources: usize) -> Option<usize> {
    let takes_nothing =
        |operand: &Operand| matches!(operand, Operand::Predicate(one) if one.number == PT && !one.negated);
    match instruction.operands.len().checked_sub(sources)? {
        1 => Some(1),
        3 if instruction.operands[1..3].iter().all(takes_nothing) => Some(3),
        _ => None,
    }
}

/// `VIMNMX3`: the minimum of three numbers if the predicate is true, and the maximum otherwise.
fn extreme_of_three(instruction: &Instruction, is_unsigned: bool) -> Option<Function> {
    let from = [(1, U32), (2, U32), (3, U32), (4, PRED)];
    (instruction.operands.len() == 5).then_some(())?;
    function(instruction, [(0, U32)], from, move |[a, b, c, is_least]| {
        [chosen(chosen(a, b, is_least != 0, is_unsigned), c, is_least != 0, is_unsigned)]
    })
}

fn chosen(a: u64, b: u64, is_least: bool, is_unsigned: bool) -> u64 {
    let is_less = if is_unsigned { low(a, 32) < low(b, 32) } else { signed(a, 32) < signed(b, 32) };
    if is_less == is_least { a } else { b }
}

/// `VIADDMNMX`: the minimum or maximum of a sum and a number.
fn extreme_of_sum(instruction: &Instruction, is_unsigned: bool) -> Option<Function> {
    let from = [(1, U32), (2, U32), (3, U32), (4, PRED)];
    function(instruction, [(0, U32)], from, move |[a, b, c, is_least]| {
        [chosen(low(a.wrapping_add(b), 32), c, is_least != 0, is_unsigned)]
    })
}

/// `IDP`: a sum of products, of four bytes each or of two halves and two bytes.
fn dot_product(instruction: &Instruction, dims: &str, half: Option<&str>, left: &str, right: &str) -> Option<Function> {
    let bits = |name: &str| match name {
        "U8" => Some((8, false)),
        "S8" => Some((8, true)),
        "U16" => Some((16, false)),
        "S16" => Some((16, true)),
        _ => None,
    };
    let ((left, left_sign), (right, right_sign)) = (bits(left)?, bits(right)?);
    let skipped = match (dims, half) {
        ("4A", None) if left == 8 => 0,
        ("2A", Some("LO")) if left == 16 => 0,
        ("2A", Some("HI")) if left == 16 => 16,
        _ => return None,
    };
    let count = 32 / left;
    let found = function(instruction, [(0, U32)], [(1, U32), (2, U32), (3, U32)], move |[a, b, c]| {
        let part = |value: u64, at: u32, bits: u32, has_sign: bool| {
            let value = low(value >> at, bits);
            if has_sign { signed(value, bits) } else { value as i64 }
        };
        let products = (0..count).map(|number| {
            part(a, number * left, left, left_sign) * part(b, skipped + number * right, right, right_sign)
        });
        [low(c.wrapping_add(products.sum::<i64>() as u64), 32)]
    })?;
    Some(found.taking_apart())
}
