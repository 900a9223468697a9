//! Integers of 64 bits in register pairs, and two-operand sums. Both exist since sm_100.

use super::Function;
use super::reading::{Reading, function, last_predicates, of_values, readings, results};
use crate::emulate::types::{Ty, low, signed};
use crate::sass::instruction::Instruction;
use crate::sass::operand::{Operand, PT, RZ};

const U64: Ty = Ty::Unsigned(64);
/// An immediate of one word is sign-extended.
const S64: Ty = Ty::Signed(64);
const U32: Ty = Ty::Unsigned(32);
const PRED: Ty = Ty::Pred;

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    match (word, modifiers.as_slice()) {
        ("IADD", []) => sum(instruction, U32, U32, false),
        ("IADD", ["X"]) => sum(instruction, U32, U32, true),
        ("IADD", ["64"]) => sum(instruction, U64, S64, false),
        ("IADD", ["64", "X"]) => sum(instruction, U64, S64, true),
        ("IADD3", ["64"]) => sum_of_three(instruction),
        ("IMNMX", [sign @ ("S64" | "U64")]) => Some(vec![extreme(instruction, *sign == "S64")?]),
        _ => None,
    }
}

/// `IADD`: two summands and a carry input. A predicate result receives the carry output.
fn sum(instruction: &Instruction, ty: Ty, read_as: Ty, adds_carry: bool) -> Option<Vec<Function>> {
    let first = results(instruction);
    let bits = ty.bits();
    let from = [(first, read_as), (first + 1, read_as)];
    let readings = readings(instruction, from)?;
    let total = move |a: u64, b: u64, carry: u64| -> u128 {
        let parts = [(0, a), (1, b)].map(|(at, value): (usize, u64)| readings[at].summand(low(value, bits)));
        parts.iter().map(|&(value, one)| u128::from(value) + u128::from(one)).sum::<u128>() + u128::from(carry)
    };
    let carries = last_predicates(instruction);
    let mut functions = Vec::new();
    for result in 0..first {
        let pick = move |total: u128| if result == 0 { low(total as u64, bits) } else { u64::from(total >> bits != 0) };
        let to = [(result, if result == 0 { ty } else { PRED })];
        functions.push(match (adds_carry, carries.as_slice()) {
            (true, &[carry]) if carry == first + 2 => {
                let reading = Reading::new(&instruction.operands[carry], PRED);
                of_values(to, [from[0], from[1], (carry, PRED)], move |[a, b, c]| [pick(total(a, b, reading.read(c)))])
            }
            (false, []) => of_values(to, from, move |[a, b]| [pick(total(a, b, 0))]).adding(),
            _ => return None,
        });
    }
    (first <= 2).then_some(functions)
}

/// `UIADD3.64`: three summands, or two if the third register is zero. Only forms without carry outputs are known.
fn sum_of_three(instruction: &Instruction) -> Option<Vec<Function>> {
    let first = results(instruction);
    if !matches!(instruction.operands[1..first], [] | [Operand::Predicate(_), Operand::Predicate(_)])
        || instruction.operands.len() != first + 3
        || !instruction.operands[1..first].iter().all(goes_nowhere)
    {
        return None;
    }
    let from = [(first, S64), (first + 1, S64), (first + 2, S64)];
    let is_zero = matches!(instruction.operands[first + 2], Operand::Register(register, _) if register.number == RZ);
    let add = if is_zero {
        function(instruction, [(0, U64)], [from[0], from[1]], |[a, b]| [a.wrapping_add(b)])?
    } else {
        function(instruction, [(0, U64)], from, |[a, b, c]| [a.wrapping_add(b).wrapping_add(c)])?
    };
    Some(vec![add.adding()])
}

fn goes_nowhere(operand: &Operand) -> bool {
    matches!(operand, Operand::Predicate(predicate) if predicate.number == PT && !predicate.negated)
}

/// `IMNMX.S64`: the minimum of two numbers if the predicate is true, and the maximum otherwise. The forms that continue
/// a comparison of lower words are unknown.
fn extreme(instruction: &Instruction, has_sign: bool) -> Option<Function> {
    let [first, second, Operand::Register(..), _, _, Operand::Predicate(_), Operand::Predicate(lower)] =
        instruction.operands.as_slice()
    else {
        return None;
    };
    let is_alone = goes_nowhere(first) && goes_nowhere(second) && lower.number == PT && lower.negated;
    is_alone.then_some(())?;
    function(instruction, [(2, U64)], [(3, S64), (4, S64), (5, PRED)], move |[a, b, is_least]| {
        let is_less = if has_sign { signed(a, 64) < signed(b, 64) } else { a < b };
        [if is_less == (is_least != 0) { a } else { b }]
    })
}
