//! Guards: branches that are always taken, and instructions that always run.

use super::minimise::Edit;
use super::statements::{bare, instructions};
use crate::ptx::Module;

/// With each branch under a predicate taken in any case.
pub(super) fn taken(module: &Module<'_>) -> Vec<Edit> {
    without_guards(module, true)
}

/// With each other instruction under a predicate run in any case.
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
