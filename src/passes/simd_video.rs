//! `nvptx-simd-video`: replaces SIMD video instructions by faster instructions, in LLVM's inline assembly and in PTX.

use std::time::Instant;

use super::{PassOutput, RunContext, traced};
use crate::config::{Config, SIMD_VIDEO, Trace};
use crate::error::Error;
use crate::function::assembly::changeable_text;
use crate::function::simd_video::expanded;
use crate::function::{Edit, EditList, Function};
use crate::ptx::{Body, Module, Patch};
use crate::target::machine::processor_number;

/// Runs the pass on LLVM's machine code.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    if is_idle(&context.config, &context.target) {
        return Ok(PassOutput::unchanged(function));
    }
    let start = Instant::now();
    let changed = |inst| Some(Edit::SetAssembly { inst, text: expanded(changeable_text(function, inst)?)? });
    let mut edits = EditList::new(function);
    function.insts().filter_map(changed).for_each(|edit| edits.push(edit));
    edits.finish();
    let texts = edits.len();
    let mut output = PassOutput { edits, ..PassOutput::unchanged(function) };
    output.stats.lap("SIMD video instructions", start);
    let wanted = context.config.trace;
    let told = format!("{texts} texts without SIMD video instructions\n");
    log::debug!("{SIMD_VIDEO} of '{}': {}", function.name(), told.trim_end());
    let own = if wanted.contains(Trace::SIMD_VIDEO) { told } else { String::new() };
    output.output = traced(SIMD_VIDEO, function, context, wanted.contains(Trace::VIEW), &own, &output.edits);
    Ok(output)
}

/// Returns the pass's patch of a PTX function, and the number of changed statements. The pass needs no view: each
/// changed statement becomes a scope that reads and writes the same registers.
pub(super) fn of_body(module: &Module<'_>, body: &Body, target: &str, config: &Config) -> (Patch, usize) {
    if is_idle(config, target) {
        return (Patch::default(), 0);
    }
    module.replace_instructions(body, &expanded)
}

/// Whether the pass does nothing, whatever the function. The pass needs `lop3`. On sm_50, `lop3` requires PTX 4.3, but
/// LLVM writes PTX 4.0 there. Every version of PTX with sm_60 has `lop3`.
fn is_idle(config: &Config, target: &str) -> bool {
    !config.simd_video || processor_number(target).is_none_or(|number| number < 60)
}
