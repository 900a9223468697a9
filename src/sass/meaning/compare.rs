//! Integer comparisons.

use std::cmp::Ordering;

use super::Function;
use super::reading::function;
use crate::emulate::types::{Ty, low, signed};
use crate::sass::instruction::Instruction;

const PRED: Ty = Ty::Pred;

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    match (word, modifiers.as_slice()) {
        ("ISETP", [relation, rest @ ..]) => integers(instruction, relation, rest),
        _ => None,
    }
}

/// Returns the function that combines the result of a comparison with a predicate.
pub(super) fn joined(name: &str) -> Option<fn(u64, u64) -> u64> {
    Some(match name {
        "AND" => |a, b| a & b,
        "OR" => |a, b| a | b,
        "XOR" => |a, b| a ^ b,
        _ => return None,
    })
}

/// Returns the test of an order for a relation.
fn holds(relation: &str) -> Option<fn(Ordering) -> bool> {
    Some(match relation {
        "F" => |_| false,
        "T" => |_| true,
        "LT" => Ordering::is_lt,
        "LE" => Ordering::is_le,
        "GT" => Ordering::is_gt,
        "GE" => Ordering::is_ge,
        "EQ" => Ordering::is_eq,
        "NE" => Ordering::is_ne,
        _ => return None,
    })
}

/// `ISETP`: the result and its opposite, each combined with a predicate. With `.EX`, the last predicate is the
/// comparison of the lower words, and counts if the upper words are equal.
fn integers(instruction: &Instruction, relation: &str, rest: &[&str]) -> Option<Vec<Function>> {
    let (mut is_unsigned, mut bits, mut join, mut is_extended) = (false, 32, None, false);
    for &modifier in rest {
        match modifier {
            "U32" => is_unsigned = true,
            "S64" => bits = 64,
            "U64" => (is_unsigned, bits) = (true, 64),
            "EX" => is_extended = true,
            name => join = Some(joined(name)?),
        }
    }
    let (join, holds) = (join?, holds(relation)?);
    let is_ne = relation == "NE";
    // An immediate of a 64-bit comparison is always sign-extended.
    let ty = if is_unsigned && bits == 32 { Ty::Unsigned(32) } else { Ty::Signed(bits as u8) };
    if instruction.operands.len() != if is_extended { 6 } else { 5 } {
        return None;
    }
    let compare = move |a: u64, b: u64, lower: Option<u64>| {
        let order = match is_unsigned {
            true => low(a, bits).cmp(&low(b, bits)),
            false => signed(a, bits).cmp(&signed(b, bits)),
        };
        match lower {
            Some(lower) if order.is_eq() => lower,
            Some(_) if is_ne => 1,
            Some(_) => u64::from(holds(order)),
            None => u64::from(holds(order)),
        }
    };
    let mut functions = Vec::new();
    for result in 0..2usize {
        let opposite = result as u64;
        let to = [(result, PRED)];
        functions.push(if is_extended {
            function(instruction, to, [(2, ty), (3, ty), (4, PRED), (5, PRED)], move |[a, b, other, lower]| {
                [join(compare(a, b, Some(lower)) ^ opposite, other)]
            })?
        } else {
            function(instruction, to, [(2, ty), (3, ty), (4, PRED)], move |[a, b, other]| {
                [join(compare(a, b, None) ^ opposite, other)]
            })?
        });
    }
    Some(functions)
}
