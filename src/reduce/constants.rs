//! Replaces numbers in operands by smaller ones.

use super::minimise::Edit;
use super::statements::instructions;
use crate::ptx::{Module, Number, Operand, Token};

pub(super) fn zero(module: &Module<'_>) -> Vec<Edit> {
    with(module, |value| (value != 0).then_some(0))
}

pub(super) fn one(module: &Module<'_>) -> Vec<Edit> {
    with(module, |value| (value > 1).then_some(1))
}

pub(super) fn halved(module: &Module<'_>) -> Vec<Edit> {
    with(module, |value| (value > 2).then_some(value / 2))
}

/// Replaces each integer by the result of `change`.
fn with(module: &Module<'_>, change: fn(u64) -> Option<u64>) -> Vec<Edit> {
    let text = module.file().text();
    let mut edits = Vec::new();
    for (_, instruction) in instructions(module) {
        let mut numbers = Vec::new();
        instruction.operands.iter().for_each(|operand| add_numbers(operand, &mut numbers));
        for number in numbers {
            let Some(value) = integer(text.str(number.digits)).and_then(change) else { continue };
            let range = text.start(number.digits)..text.start(Token(number.digits.0 + 1));
            edits.push(Edit { range, with: value.to_string() });
        }
    }
    edits
}

fn integer(digits: &str) -> Option<u64> {
    match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.trim_end_matches('U').parse().ok(),
    }
}

fn add_numbers(operand: &Operand, numbers: &mut Vec<Number>) {
    match operand {
        Operand::Number(number) | Operand::Sum { offset: number, .. } | Operand::Element { index: number, .. } => {
            numbers.push(*number);
        }
        Operand::Pair(pair) => pair.iter().for_each(|one| add_numbers(one, numbers)),
        Operand::Vector(parts) | Operand::Address(parts) | Operand::List(parts) => {
            parts.iter().for_each(|one| add_numbers(one, numbers));
        }
        _ => {}
    }
}
