//! Turns the decisions into edits.

use super::Outcome;
use super::program::{Fate, Program};
use crate::function::{Edit, EditList, Inst, Operand, Position, Role};

/// The edits that make the view the function that the decisions describe.
pub(super) fn outcome(program: Program<'_>) -> Outcome {
    let function = program.function;
    let mut edits = EditList::new(function);
    for block in function.blocks() {
        for inst in function.block_insts(block) {
            match program.fate(inst) {
                Fate::Keep if is_identity(&program, inst) => edits.push(Edit::Delete { inst }),
                Fate::Keep if describes_nothing(&program, inst) => edits.push(Edit::SetDebugValue { inst, reg: None }),
                Fate::Keep => {}
                Fate::Delete | Fate::Dead => edits.push(Edit::Delete { inst }),
                Fate::Constant(of) => {
                    let Some((dst, _)) = function.as_copy(inst) else { continue };
                    edits.insert_clone(Position { block, before: Some(inst) }, of, dst);
                    edits.push(Edit::Delete { inst });
                }
                Fate::UnknownVariable => edits.push(Edit::SetDebugValue { inst, reg: None }),
            }
        }
    }
    for from in function.regs() {
        let into = program.find(from);
        if into != from {
            edits.push(Edit::Merge { from, into });
        }
    }
    edits.finish();
    let mut report = program.report;
    report.merges = program.merges;
    report.removed.sort_unstable();
    report.removed.dedup();
    Outcome { edits, report }
}

/// Whether a debug value names a register that nothing writes any more.
fn describes_nothing(program: &Program<'_>, inst: Inst) -> bool {
    let function = program.function;
    function.role(inst) == Role::Debug
        && function.operands(inst).iter().filter_map(Operand::use_reg).any(|reg| program.has_lost_its_definitions(reg))
}

/// Whether a copy writes the register that it reads: merging its two sides through other copies made it so.
fn is_identity(program: &Program<'_>, inst: Inst) -> bool {
    let function = program.function;
    function.role(inst) == Role::Copy
        && matches!(function.operands(inst), [_, source] if source.use_reg().is_some())
        && function.as_copy(inst).is_some_and(|(dst, src)| dst != src && program.find(dst) == program.find(src))
}
