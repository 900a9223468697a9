//! Removes guards: branches are always taken, and instructions always execute.

use super::minimise::Edit;
use super::statements::{bare, instructions};
use crate::ptx::Module;

/// Removes the predicate of each branch.
pub(super) fn taken(module: &Module<'_>) -> Vec<Edit> {
    without_guards(module, true)
}

/// Removes the predicate of each other instruction.
pub(super) fn unguarded(module: &Module<'_>) -> Vec<Edit> {
    without_guards(module, false)
}

fn without_guards(module: &Module<'_>, of_branches: bool) -> Vec<Edit> {
    let file = module.file();
    let text = file.text();
    let guarded = instructions(module).filter(|(_, instruction)| {
        instruction.guard.is_some() && matches!(text.of(instruction.word), b"bra" | b"brx") == of_branches
    });
    guarded.map(|(id, instruction)| Edit::delete(bare(file, id).start..text.start(instruction.word))).collect()
}
