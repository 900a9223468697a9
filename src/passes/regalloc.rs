//! `nvptx-regalloc`: values that have no register are kept in shared memory, with remarks, statistics and traces.

use std::time::Instant;

use super::{PassOutput, Remark, RemarkKind, RunContext, traced};
use crate::config::{Config, REGALLOC, RegisterTarget, Trace};
use crate::error::Error;
use crate::forecast::{Case, Forecast, forecast};
use crate::function::Function;
use crate::spill::shared::{Kept, Launch, Outcome, Refusal, keep_in_shared};
use crate::stats::SpillBytes;
use crate::target::machine::{Architecture, CommandLine, MAX_REGISTERS};

/// The registers that hold the addresses of a thread's slots.
const ADDRESSES: u32 = 2;

/// Whether the pass does nothing, whatever the function.
pub(super) fn is_idle(config: &Config) -> bool {
    config.regalloc == RegisterTarget::Off
}

/// How many words may be live, so that a function finds room in its registers; `None` where it may have as many as it
/// likes, or the processor is not known.
pub(super) fn words(function: &Function, context: &RunContext) -> Option<u32> {
    let config = &context.config;
    let registers = match config.regalloc {
        RegisterTarget::Off => return None,
        RegisterTarget::Most(registers) => registers,
        RegisterTarget::Auto => {
            let architecture = Architecture::by_name(&context.target).ok()?;
            let bounds = function.kernel()?;
            architecture.register_limit(bounds, &CommandLine::default()).map_or(MAX_REGISTERS, |limit| limit.registers)
        }
    };
    Some(registers.saturating_sub(config.regalloc_slack + ADDRESSES))
}

/// Runs the pass. A function in SSA form is left alone: the coalescer is still to come.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    let config = &context.config;
    let Some(words) = words(function, context).filter(|_| !context.is_ssa && !context.is_o0) else {
        return Ok(PassOutput::unchanged(function));
    };
    let start = Instant::now();
    let architecture = Architecture::by_name(&context.target)?;
    if config.regalloc == RegisterTarget::Auto && !is_expected_to_spill(function, context, architecture)? {
        return Ok(PassOutput::unchanged(function));
    }
    let launch = Launch {
        architecture,
        dynamic_shared: config.dynamic_shared.bytes(),
        most_bytes: config.shared_limit,
        in_loops: config.regalloc_loops,
    };
    let mut output = PassOutput::unchanged(function);
    let told = match keep_in_shared((function, &context.classification), words, &launch) {
        Ok(outcome)
            if config.regalloc == RegisterTarget::Auto && !is_enough(&outcome, words + config.regalloc_slack) =>
        {
            let message = "keeps no value in shared memory: it has room for too little of what does not fit";
            output.remarks.push(not_spilled(message.into()));
            told(function, &outcome, words) + message + "\n"
        }
        Ok(outcome) => {
            let told = told(function, &outcome, words);
            if context.wants_remarks {
                output.remarks = remarks(function, &outcome);
            }
            output.stats.values_kept = outcome.kept.len() as u64;
            output.stats.slot_bytes = outcome.bytes.into();
            if !outcome.kept.is_empty() {
                output.stats.spills = spills(function, &outcome, context, architecture)?;
            }
            output.edits = outcome.edits;
            told
        }
        Err(Refusal::DeviceFunction) => String::new(),
        Err(refusal) => {
            output.remarks.push(not_spilled(format!("keeps no value in shared memory: {refusal}")));
            format!("no value in shared memory: {refusal}\n")
        }
    };
    output.stats.lap("regalloc", start);
    let wanted = config.trace;
    let own = if wanted.contains(Trace::REGALLOC) { told } else { String::new() };
    output.output = traced(REGALLOC, function, context, wanted.contains(Trace::VIEW), &own, &output.edits);
    Ok(output)
}

/// Whether the forecast expects that ptxas spills.
fn is_expected_to_spill(
    function: &Function,
    context: &RunContext,
    architecture: &'static Architecture,
) -> Result<bool, Error> {
    let case = Case { architecture, max_registers: None };
    let forecasts = forecast([(function, &*context.classification)], &case)?;
    Ok(forecasts.first().is_some_and(|forecast| forecast.spill_bytes() > 0))
}

/// Whether at least two fifths of the words go that do not fit into the registers: measured on kernels of Triton, of which
/// those with less spilled as much as before, or more.
fn is_enough(outcome: &Outcome, registers: u32) -> bool {
    let [before, after] = outcome.peaks;
    5 * (before - after) >= 2 * before.saturating_sub(registers)
}

/// What the slots move. What the function itself moves in local memory is looked at only if somebody keeps statistics.
fn spills(
    function: &Function,
    outcome: &Outcome,
    context: &RunContext,
    architecture: &'static Architecture,
) -> Result<SpillBytes, Error> {
    let kept = || outcome.kept.iter();
    let mut spills = SpillBytes {
        shared_stored: kept().map(|kept| u64::from(kept.bytes)).sum(),
        shared_loaded: kept().map(|kept| u64::from(kept.bytes) * kept.reloads as u64).sum(),
        ..SpillBytes::default()
    };
    if context.config.stats.is_some() {
        let case = Case { architecture, max_registers: None };
        let forecasts = forecast([(function, &*context.classification)], &case)?;
        if let Some(memory) = forecasts.first().map(Forecast::local_memory) {
            (spills.stored, spills.loaded, spills.variables) = (memory.stored, memory.loaded, memory.variables);
        }
    }
    Ok(spills)
}

fn not_spilled(message: String) -> Remark {
    Remark { kind: RemarkKind::Missed, inst: None, name: "NotSpilled", message }
}

fn remarks(function: &Function, outcome: &Outcome) -> Vec<Remark> {
    let remark = |kept: &Kept| Remark {
        kind: RemarkKind::Passed,
        inst: Some(kept.definition),
        name: "Spilled",
        message: format!(
            "keeps {}, {} bytes, in shared memory and loads it again in {}",
            function.reg_name(kept.reg).map_or_else(|| kept.reg.to_string(), |name| format!("'{name}'")),
            kept.bytes,
            if kept.reloads == 1 { "1 place".to_owned() } else { format!("{} places", kept.reloads) }
        ),
    };
    outcome.kept.iter().map(remark).collect()
}

fn told(function: &Function, outcome: &Outcome, words: u32) -> String {
    let [before, after] = outcome.peaks;
    let mut text = format!(
        "{before} words live, {words} wanted, {after} reached; {} values in {} bytes of shared memory\n",
        outcome.kept.len(),
        outcome.bytes
    );
    for kept in &outcome.kept {
        let line = function.line(kept.definition);
        text += &format!("{} of line {line}: {} bytes, {} loads\n", kept.reg, kept.bytes, kept.reloads);
    }
    text
}
