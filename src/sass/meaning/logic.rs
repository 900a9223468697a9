//! Bitwise functions of registers, and functions of predicates, by truth table.

use super::Function;
use super::reading::{Reading, function, of_values, readings};
use crate::emulate::types::{Ty, low};
use crate::sass::instruction::Instruction;
use crate::sass::operand::Operand;

const U32: Ty = Ty::Unsigned(32);
const PRED: Ty = Ty::Pred;

pub(super) fn find(instruction: &Instruction, word: &str) -> Option<Vec<Function>> {
    let modifiers: Vec<&str> = instruction.modifiers().collect();
    match (word, modifiers.as_slice()) {
        ("LOP3", ["LUT"]) => of_registers(instruction, false),
        ("LOP3", ["LUT", "PAND"]) => of_registers(instruction, true),
        ("PLOP3", ["LUT"]) => of_predicates(instruction),
        _ => None,
    }
}

/// Returns, for each bit, the entry of a truth table with eight entries. The first input has the value 4 in the index,
/// the last input 1.
pub(crate) fn by_table(table: u64, a: u64, b: u64, c: u64) -> u64 {
    (0..8).filter(|row| table >> row & 1 == 1).fold(0, |all, row| {
        let pick = |value: u64, bit: u32| if row >> bit & 1 == 1 { value } else { !value };
        all | pick(a, 2) & pick(b, 1) & pick(c, 0)
    })
}

fn table(instruction: &Instruction, at: usize) -> Option<u64> {
    match instruction.operands.get(at)? {
        Operand::Immediate(table) => Some(u64::from(*table) & 0xff),
        _ => None,
    }
}

/// `LOP3`: a predicate before the register says whether any bit is set, or whether the last predicate is true. With
/// `.PAND`, both must hold.
fn of_registers(instruction: &Instruction, joins: bool) -> Option<Vec<Function>> {
    let has_predicate = matches!(instruction.operands.first()?, Operand::Predicate(_));
    let register = usize::from(has_predicate);
    let table = table(instruction, register + 4)?;
    let from = [(register + 1, U32), (register + 2, U32), (register + 3, U32)];
    let compute = move |[a, b, c]: [u64; 3]| low(by_table(table, a, b, c), 32);
    let mut found = function(instruction, [(register, U32)], from, move |values| [compute(values)])?.taking_apart();
    found.pure = found.pure.bit_by_bit(&[0, 1, 2]);
    let mut functions = vec![found];
    if has_predicate {
        let readings = readings(instruction, from)?;
        let last = register + 5;
        let negated = Reading::new(instruction.operands.get(last)?, PRED);
        let from = [from[0], from[1], from[2], (last, PRED)];
        functions.push(of_values([(0, PRED)], from, move |values| {
            let value = compute(std::array::from_fn(|at| readings[at].read(values[at])));
            let other = negated.read(values[3]);
            [if joins { u64::from(value != 0) & other } else { u64::from(value != 0) | other }]
        }));
    }
    Some(functions)
}

/// `PLOP3`: two functions of three predicates, each by its own truth table.
fn of_predicates(instruction: &Instruction) -> Option<Vec<Function>> {
    let from = [(2, PRED), (3, PRED), (4, PRED)];
    let mut functions = Vec::new();
    for result in 0..2 {
        let table = table(instruction, 5 + result)?;
        functions.push(function(instruction, [(result, PRED)], from, move |[a, b, c]| {
            [table >> (a << 2 | b << 1 | c) & 1]
        })?);
    }
    Some(functions)
}
