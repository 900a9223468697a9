//! `nvptx-remat`: rematerialises cheap values at high pressure, with statistics and traces.

use std::time::Instant;

use super::{PassOutput, RunContext, traced};
use crate::config::{Config, REMAT, Remat, Trace};
use crate::error::Error;
use crate::function::Function;
use crate::spill::remat::{Outcome, rematerialise};
use crate::target::machine::{Architecture, CommandLine, MAX_REGISTERS};

/// Whether the pass does nothing, whatever the function.
pub(super) fn is_idle(config: &Config) -> bool {
    config.remat == Remat::Off
}

/// Whether the pass changes only functions with more live words than registers.
pub(super) fn needs_many(config: &Config) -> bool {
    config.remat == Remat::Widened
}

/// Returns how many registers a thread of the function may have.
fn registers(function: &Function, context: &RunContext) -> u32 {
    let bounds = function.kernel().copied().unwrap_or_default();
    Architecture::by_name(&context.target)
        .and_then(|architecture| architecture.register_limit(&bounds, &CommandLine::default()))
        .map_or(MAX_REGISTERS, |limit| limit.registers)
}

/// Runs the pass. A function in SSA form is left alone, because the coalescer runs later.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    if context.is_ssa {
        return Ok(PassOutput::unchanged(function));
    }
    let start = Instant::now();
    let registers = registers(function, context);
    let wanted = context.config.remat;
    let Outcome { edits, values, extended, bits, added } =
        rematerialise(function, &context.classification, wanted, context.config.bit_spill, registers);
    let mut output = PassOutput { edits, ..PassOutput::unchanged(function) };
    output.stats.lap("remat", start);
    let wanted = context.config.trace;
    let told = format!(
        "{values} values rematerialised, {extended} registers extended for them, {bits} predicates kept as bits, \
         {added:+} instructions\n"
    );
    log::debug!("{REMAT} of '{}': {}", function.name(), told.trim_end());
    let own = if wanted.contains(Trace::REMAT) { told } else { String::new() };
    output.output = traced(REMAT, function, context, wanted.contains(Trace::VIEW), &own, &output.edits);
    Ok(output)
}
