//! Removes instructions.

use std::ops::Range;

use super::minimise::Edit;
use crate::ptx::{File, Instruction, Module, Parts, Statement, StatementKind};

/// Returns the byte range of a statement, including the white space before it.
pub(super) fn whole(file: &File<'_>, statement: Statement) -> Range<usize> {
    let (text, statements) = (file.text(), file.statements());
    text.start(statements.first(statement))..text.start(statements.end(text, statement))
}

/// Returns the byte range of a statement, without the white space before it.
pub(super) fn bare(file: &File<'_>, statement: Statement) -> Range<usize> {
    let (text, statements) = (file.text(), file.statements());
    text.start(text.skip_trivia(statements.first(statement)))..text.start(statements.end(text, statement))
}

/// Returns the instructions of all functions, in order.
pub(super) fn instructions<'m>(module: &'m Module<'_>) -> impl Iterator<Item = (Statement, Instruction)> + 'm {
    let file = module.file();
    let all = module.bodies().iter().flat_map(|body| body.ids());
    all.filter(|&id| file.statements().kind(id) == StatementKind::Instruction).filter_map(move |id| {
        match file.parts(id) {
            Some(Parts::Instruction(instruction)) => Some((id, instruction)),
            _ => None,
        }
    })
}

/// Removes each instruction, except instructions that end a function. A register without its only write is undefined,
/// which a test has to detect.
pub(super) fn deletions(module: &Module<'_>) -> Vec<Edit> {
    let file = module.file();
    let is_end = |instruction: &Instruction| {
        instruction.guard.is_none() && matches!(file.text().of(instruction.word), b"ret" | b"exit")
    };
    let others = instructions(module).filter(|(_, instruction)| !is_end(instruction));
    others.map(|(id, _)| Edit::delete(whole(file, id))).collect()
}
