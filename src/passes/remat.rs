//! `nvptx-remat`: computes cheap values again where much is live, with statistics and traces.

use std::time::Instant;

use super::{PassOutput, RunContext, traced};
use crate::config::{Config, REMAT, Remat, Trace};
use crate::error::Error;
use crate::function::Function;
use crate::spill::remat::{Outcome, rematerialise};

/// Whether the pass does nothing, whatever the function.
pub(super) fn is_idle(config: &Config) -> bool {
    config.remat == Remat::Off
}

/// Runs the pass. A function in SSA form is left alone: the coalescer is still to come.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    if context.is_ssa {
        return Ok(PassOutput::unchanged(function));
    }
    let start = Instant::now();
    let Outcome { edits, values, added } = rematerialise(function, &context.classification, context.config.remat);
    let mut output = PassOutput { edits, ..PassOutput::unchanged(function) };
    output.stats.lap("remat", start);
    let wanted = context.config.trace;
    let told = format!("{values} values computed again, {added:+} instructions\n");
    let own = if wanted.contains(Trace::REMAT) { told } else { String::new() };
    output.output = traced(REMAT, function, context, wanted.contains(Trace::VIEW), &own, &output.edits);
    Ok(output)
}
