//! `nvptx-rename`: minimises the number of register names, with statistics and traces.

use std::time::Instant;

use super::{PassOutput, RunContext, traced};
use crate::config::{RENAME, Trace};
use crate::error::Error;
use crate::function::Function;
use crate::rename::{Outcome, rename};

/// Runs the pass. A function in SSA form is left alone: its registers have one definition each until PHI elimination.
/// The pass is in the pipeline for all functions, so a function whose options disable the pass is left alone, too.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    if context.is_ssa || !context.config.rename {
        return Ok(PassOutput::unchanged(function));
    }
    let start = Instant::now();
    let Outcome { edits, before, after } = rename(function, context.config.rename_all);
    let mut output = PassOutput { edits, ..PassOutput::unchanged(function) };
    output.stats.lap("rename", start);
    output.stats.registers_before = before as u64;
    output.stats.registers_after = after as u64;
    let wanted = context.config.trace;
    let names = format!("{before} registers have {after} names\n");
    log::debug!("{RENAME} of '{}': {}", function.name(), names.trim_end());
    let own = if wanted.contains(Trace::RENAME) { &names } else { "" };
    output.output = traced(RENAME, function, context, wanted.contains(Trace::VIEW), own, &output.edits);
    Ok(output)
}
