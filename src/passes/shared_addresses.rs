//! `nvptx-shared-addresses`: uses one register for shared addresses that differ by a constant, with statistics and
//! traces.

use std::time::Instant;

use super::{PassOutput, RunContext, traced};
use crate::addressing::{Outcome, share_bases};
use crate::config::{Config, SHARED_ADDRESSES, Trace};
use crate::error::Error;
use crate::function::Function;

/// Whether the pass does nothing, whatever the function.
pub(super) fn is_idle(config: &Config) -> bool {
    !config.shared_addresses
}

/// Runs the pass. A function in SSA form is left alone, because the coalescer runs later.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    if context.is_ssa || is_idle(&context.config) {
        return Ok(PassOutput::unchanged(function));
    }
    let start = Instant::now();
    let Outcome { edits, accesses, removed } = share_bases(function);
    let mut output = PassOutput { edits, ..PassOutput::unchanged(function) };
    output.stats.lap("shared addresses", start);
    let wanted = context.config.trace;
    let told = format!("{accesses} accesses read another register, {removed} instructions removed\n");
    log::debug!("{SHARED_ADDRESSES} of '{}': {}", function.name(), told.trim_end());
    let own = if wanted.contains(Trace::SHARED_ADDRESSES) { told } else { String::new() };
    output.output = traced(SHARED_ADDRESSES, function, context, wanted.contains(Trace::VIEW), &own, &output.edits);
    Ok(output)
}
