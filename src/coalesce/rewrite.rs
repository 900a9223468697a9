//! Turns the decisions into edits.

use super::Outcome;
use super::program::{Fate, Program};
use crate::function::{Edit, EditList, Inst, Operand, Position, Role};

/// Creates the edits that apply the decisions to the view.
pub(crate) fn outcome(mut program: Program<'_>) -> Outcome {
    settle_lost_registers(&mut program);
    let function = program.function;
    let mut edits = EditList::new(function);
    for block in function.blocks() {
        for inst in function.block_insts(block) {
            match program.fate(inst) {
                Fate::Keep if is_identity(&program, inst) => edits.push(Edit::Delete { inst }),
                Fate::Keep => {}
                Fate::Delete | Fate::Dead => edits.push(Edit::Delete { inst }),
                Fate::Constant(of) => {
                    let Some((dst, _)) = function.as_copy(inst) else { continue };
                    edits.insert_clone(Position { block, before: Some(inst) }, of, dst);
                    edits.push(Edit::Delete { inst });
                }
                Fate::Variable(value) => edits.push(Edit::SetDebugValue { inst, value }),
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

/// Updates debug values of registers that are no longer written. They show the value that the register would hold.
fn settle_lost_registers(program: &mut Program<'_>) {
    let function = program.function;
    for inst in function.insts().filter(|&inst| function.role(inst) == Role::Debug) {
        let mut registers = function.operands(inst).iter().filter_map(Operand::use_reg);
        if program.fate(inst) == Fate::Keep
            && let Some(value) = registers.find_map(|reg| program.lost_value(reg))
        {
            program.set_variable(inst, value);
        }
    }
}

/// Whether both sides of a copy are in one register, because other merges put them there.
fn is_identity(program: &Program<'_>, inst: Inst) -> bool {
    let function = program.function;
    function.role(inst) == Role::Copy
        && matches!(function.operands(inst), [_, source] if source.use_reg().is_some())
        && function.as_copy(inst).is_some_and(|(dst, src)| dst != src && program.find(dst) == program.find(src))
}
