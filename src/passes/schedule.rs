//! `nvptx-schedule`: orders the instructions of each block, with statistics and traces.

use std::time::Instant;

use super::{PassOutput, RunContext, traced};
use crate::config::{Config, SCHEDULE, Trace};
use crate::error::Error;
use crate::function::Function;
use crate::schedule::{Outcome, changes_nothing, schedule};

/// Whether the pass does nothing, whatever the function.
pub(super) fn is_idle(config: &Config) -> bool {
    changes_nothing(config.order, config.order_seed)
}

/// Runs the pass. A function in SSA form is left alone, because two-address lowering and the coalescer run later.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    if context.is_ssa {
        return Ok(PassOutput::unchanged(function));
    }
    let start = Instant::now();
    let order = context.config.order;
    let Outcome { edits, moved, .. } = schedule(function, &context.classification, order, context.config.order_seed);
    log::debug!("{SCHEDULE} of '{}': by {order:?}, {moved} instructions moved", function.name());
    let mut output = PassOutput { edits, ..PassOutput::unchanged(function) };
    output.stats.lap("schedule", start);
    output.stats.moved = moved as u64;
    let wanted = context.config.trace;
    let own = if wanted.contains(Trace::SCHEDULE) { format!("{moved} instructions moved\n") } else { String::new() };
    output.output = traced(SCHEDULE, function, context, wanted.contains(Trace::VIEW), &own, &output.edits);
    Ok(output)
}
