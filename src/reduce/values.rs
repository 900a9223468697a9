//! Replaces each instruction by a move of a constant, or of one of the instruction's operands.

use super::minimise::Edit;
use super::registers::Registers;
use super::statements::{bare, instructions};
use crate::ptx::{Instruction, Module, Operand, Text};

/// Returns the register that an instruction without a predicate writes.
fn result<'a>(text: &Text<'a>, instruction: &Instruction) -> Option<&'a str> {
    let mut results = instruction.results(text);
    match (results.next()?, results.next()) {
        (Operand::Name(name), None) if instruction.guard.is_none() && name.part.is_none() => Some(text.str(name.word)),
        _ => None,
    }
}

/// Replaces each result by zero.
pub(super) fn constants(module: &Module<'_>) -> Vec<Edit> {
    let (file, registers) = (module.file(), Registers::new(module));
    let edit = |(id, instruction): (_, Instruction)| {
        let result = result(file.text(), &instruction)?;
        let with = match registers.bits(result)? {
            1 => format!("setp.ne.b32 {result}, 0, 0;"),
            bits @ (16 | 32 | 64) => format!("mov.b{bits} {result}, 0;"),
            _ => return None,
        };
        (!is_move_of_number(file.text(), &instruction)).then(|| Edit { range: bare(file, id), with })
    };
    instructions(module).filter_map(edit).collect()
}

/// Whether the instruction is already as simple as a move of a number.
fn is_move_of_number(text: &Text<'_>, instruction: &Instruction) -> bool {
    match text.str(instruction.word) {
        "mov" => matches!(instruction.operands.as_slice(), [_, Operand::Number(_)]),
        "setp" => instruction.operands[1..].iter().all(|operand| matches!(operand, Operand::Number(_))),
        _ => false,
    }
}

/// Replaces each result by the first operand of its size.
pub(super) fn first_operands(module: &Module<'_>) -> Vec<Edit> {
    copies(module, |mut operands| operands.next())
}

/// Replaces each result by the last operand of its size.
pub(super) fn last_operands(module: &Module<'_>) -> Vec<Edit> {
    copies(module, |operands| operands.last())
}

/// The registers of the result's size that an instruction reads.
type Operands<'o, 'a> = Box<dyn Iterator<Item = &'a str> + 'o>;

fn copies(module: &Module<'_>, choose: for<'o, 'a> fn(Operands<'o, 'a>) -> Option<&'a str>) -> Vec<Edit> {
    let (file, registers) = (module.file(), Registers::new(module));
    let text = file.text();
    let edit = |(id, instruction): (_, Instruction)| {
        let result = result(text, &instruction)?;
        let bits = registers.bits(result)?;
        let is_simple = matches!(text.str(instruction.word), "mov" | "ld");
        let operands = instruction.operands[1..].iter().filter_map(|operand| match operand {
            Operand::Name(name) if name.part.is_none() => Some(text.str(name.word)),
            _ => None,
        });
        let from = choose(Box::new(operands.filter(|name| registers.bits(name) == Some(bits) && *name != result)))?;
        let ty = if bits == 1 { "pred".to_owned() } else { format!("b{bits}") };
        (!is_simple).then(|| Edit { range: bare(file, id), with: format!("mov.{ty} {result}, {from};") })
    };
    instructions(module).filter_map(edit).collect()
}
