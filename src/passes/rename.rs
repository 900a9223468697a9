//! `nvptx-rename`: gives registers as few names as they need, with statistics and traces.

use std::fmt::Write as _;
use std::time::Instant;

use super::{PassOutput, RunContext, edits_text};
use crate::config::Trace;
use crate::error::Error;
use crate::function::Function;
use crate::rename::{Outcome, rename};

/// Runs the pass. A function in SSA form is left alone: its registers have one definition each until PHI elimination.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    if context.is_ssa {
        return Ok(PassOutput::unchanged(function));
    }
    let start = Instant::now();
    let Outcome { edits, before, after } = rename(function);
    let mut output = PassOutput { edits, ..PassOutput::unchanged(function) };
    output.stats.lap("rename", start);
    output.stats.registers_before = before as u64;
    output.stats.registers_after = after as u64;
    let wanted = context.config.trace;
    let mut text = if wanted.contains(Trace::VIEW) { function.to_string() } else { String::new() };
    if wanted.contains(Trace::RENAME) {
        let _ = writeln!(text, "{before} registers have {after} names");
    }
    if wanted.contains(Trace::EDITS) {
        text.push_str(&edits_text(function, &output.edits));
    }
    if !text.is_empty() {
        output.output = format!("nvptx-ra: nvptx-rename of '{}'\n{text}", function.name());
    }
    Ok(output)
}
