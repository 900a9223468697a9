//! `nvptx-regalloc`: spills values for which there are too few registers, with remarks, statistics and traces.

use std::time::Instant;

use super::excess::{self, excess, failure};
use super::{PassOutput, Remark, RemarkKind, RunContext, traced};
use super::{limits, printed_names, regalloc_auto};
use crate::allocate::Preset;
use crate::config::{Config, KeepInLoops, REGALLOC, RegisterTarget, Slack, SpillTo, Trace};
use crate::error::Error;
use crate::forecast::{self, Case, Forecast, MAX_SLACK, forecast};
use crate::function::Function;
use crate::spill::spiller::{Facts, Launch, Refusal, SpillGoal, Trial, bounds};
use crate::spill::{Engine, EngineResult, Outcome, SpillSpace, SpillSummary, spill_values};
use crate::stats::SpillBytes;
use crate::target::machine::{Architecture, CommandLine, MAX_REGISTERS};

/// Number of registers that hold the addresses of a thread's slots.
pub(super) const ADDRESSES: u32 = 2;

/// Whether the pass does nothing, whatever the function.
pub(super) fn is_idle(config: &Config) -> bool {
    config.regalloc == RegisterTarget::Off || config.spill_to == SpillTo::empty()
}

/// Returns the register limit of a function; `None` if it has none, or the architecture is unknown.
fn registers(function: &Function, context: &RunContext) -> Option<u32> {
    let config = &context.config;
    match config.regalloc {
        RegisterTarget::Off => None,
        RegisterTarget::Most(registers) => Some(registers),
        RegisterTarget::Auto => {
            let architecture = Architecture::by_name(&context.target).ok()?;
            let bounds = bounds(function.kernel()?, config.threads.number());
            let limit = architecture.register_limit(&bounds, &CommandLine::default());
            Some(limit.map_or(MAX_REGISTERS, |limit| limit.registers))
        }
    }
}

/// Returns how many of `registers` are left to ptxas, in addition to the registers for addresses. The forecast runs
/// only if its result matters.
fn slack(facts: &Facts<'_>, function: &Function, context: &RunContext, registers: u32) -> Result<u32, Error> {
    match context.config.regalloc_slack {
        Slack::Number(number) => Ok(number),
        // If the live words exceed the registers by half or more, ptxas has many loads to issue early. With the most
        // slack, gemm with four blocks spills 1,716 bytes; with a slack of 8, 2,164 bytes. FlagGems' `any_kernel_dim`
        // at 32 registers spills 7,776 bytes with the most slack, and 23,056 bytes with less.
        Slack::Auto if context.config.regalloc == RegisterTarget::Auto => Ok(MAX_SLACK),
        Slack::Auto if 2 * facts.peak() > 3 * registers => Ok(MAX_SLACK),
        Slack::Auto if facts.peak() + MAX_SLACK + ADDRESSES <= registers => Ok(MAX_SLACK),
        Slack::Auto => {
            let architecture = Architecture::by_name(&context.target)?;
            Ok(forecast::slack((function, &context.classification), architecture, facts.peak()))
        }
    }
}

/// Runs the pass. A function in SSA form is left alone, because the coalescer runs later.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    let config = &context.config;
    let Some(registers) = registers(function, context).filter(|_| !context.is_ssa && !context.is_o0) else {
        return Ok(PassOutput::unchanged(function));
    };
    let start = Instant::now();
    let architecture = Architecture::by_name(&context.target)?;
    let is_exact = !config.regalloc_registers.is_empty();
    let is_careful = config.regalloc == RegisterTarget::Auto && !is_exact;
    let spilling = if is_careful { regalloc_auto::spilling(function, context, architecture)? } else { None };
    if is_careful && spilling.is_none() {
        log::debug!("{REGALLOC} of '{}': no spill is expected", function.name());
        return Ok(PassOutput::unchanged(function));
    }
    let launch = Launch {
        architecture,
        threads: config.threads.number(),
        dynamic_shared: config.dynamic_shared.bytes(),
        most_bytes: config.shared_limit,
        callees: context.callees.as_deref(),
    };
    let limit = spilling.as_ref().and_then(|forecast| forecast.hardware_limit(architecture));
    let registers = limit.unwrap_or(registers);
    let mut facts = Facts::new((function, &context.classification));
    let reserved = slack(&facts, function, context, registers)? + ADDRESSES;
    let words = registers.saturating_sub(reserved);
    facts.count_calls(registers, words, context.callees.as_deref());
    let mut output = PassOutput::unchanged(function);
    let mut told = String::new();
    let preset = Preset::of(config, &context.target);
    let goal = SpillGoal {
        max_live_words: words,
        max_values: config.regalloc_values as usize,
        in_loops: config.regalloc_loops,
        redefined: config.regalloc_redefined,
        candidates: None,
        ptxas_spills: is_exact.then(|| printed_names::of_names(function, &config.regalloc_registers)),
        spill_to: config.spill_to,
        max_trials: config.regalloc_trials,
        max_local_bytes: preset.most_local,
        sinks: config.regalloc_sink,
        hoists: config.regalloc_hoist,
        max_access_bytes: config.regalloc_wide,
    };
    if facts.peak() > words {
        let too_few = limits::of_operands(function, config, &facts);
        output.remarks.extend(too_few.as_ref().map(|(inst, limit)| failure(*inst, limit)));
        output.limits.extend(too_few.map(|(_, limit)| limit));
    }
    let engine = Engine { chooser: config.allocator, preset };
    let (found, is_enough) = match &spilling {
        None => (spill_values(&facts, &goal, &EngineResult::of(engine), &launch), true),
        Some(forecast) => {
            let found = regalloc_auto::best(&facts, &goal, &engine, &launch, forecast);
            told += found.as_ref().map_or("", |found| &found.told);
            let is_enough = found.as_ref().is_ok_and(|found| found.is_enough);
            (found.map(|found| found.outcome), is_enough)
        }
    };
    told += &match found {
        Ok(outcome) if !is_enough && outcome.peaks[0] > words => {
            let [before, after] = outcome.peaks;
            let message = format!(
                "spills no value: {} of the {} words that do not fit would be spilled, and ptxas would spill the rest \
                 as before",
                before - after,
                before.saturating_sub(words)
            );
            let told = self::told(function, &outcome, words) + &message + "\n";
            output.remarks.push(not_spilled(message));
            told
        }
        Ok(outcome) => {
            let told = self::told(function, &outcome, words);
            output.limits.extend(limits::of_outcome(function, config, &outcome, reserved));
            output.remarks.extend(excess(config, &outcome, reserved));
            if context.wants_remarks {
                output.remarks.extend(remarks(function, &outcome));
            }
            output.remarks.extend(outcome.refusal.as_ref().and_then(refused));
            output.stats.values_kept = outcome.spilled.len() as u64;
            output.stats.slot_bytes = outcome.bytes.shared.into();
            output.stats.cache_given_up = outcome.cache_given_up.into();
            if !outcome.spilled.is_empty() {
                output.stats.spills = spills(function, &outcome, context, architecture)?;
            }
            output.edits = outcome.edits;
            told
        }
        Err(refusal) => {
            output.limits.extend(limits::of_refusal(function, config, &refusal));
            output.remarks.extend(refused(&refusal));
            refusal_told(&refusal)
        }
    };
    if let Some(limit) = limit {
        told += &format!("{limit} registers, because ptxas gives most of them up for occupancy\n");
        output.remarks.push(limit_told(limit));
        output.edits = regalloc_auto::limited(output.edits, limit);
    }
    if !limits::are_told(config) {
        output.limits.clear();
    }
    let of_excess = |remark: &&Remark| remark.inst.is_some() && remark.kind == RemarkKind::Missed;
    output.remarks.iter().filter(of_excess).for_each(|remark| told += &excess::told(function, remark));
    output.stats.lap("regalloc", start);
    told.lines().for_each(|line| log::debug!("{REGALLOC} of '{}': {line}", function.name()));
    let wanted = config.trace;
    let own = if wanted.contains(Trace::REGALLOC) { told } else { String::new() };
    output.output = traced(REGALLOC, function, context, wanted.contains(Trace::VIEW), &own, &output.edits);
    Ok(output)
}

/// Returns the bytes that the slots move. The function's own accesses to local memory are included only if statistics
/// are collected.
fn spills(
    function: &Function,
    outcome: &Outcome,
    context: &RunContext,
    architecture: &'static Architecture,
) -> Result<SpillBytes, Error> {
    let spilled = |place: SpillSpace| outcome.spilled.iter().filter(move |spilled| spilled.space == place);
    let stored =
        |place: SpillSpace| spilled(place).map(|spilled| u64::from(spilled.bytes) * spilled.stores as u64).sum::<u64>();
    let loaded = |place: SpillSpace| {
        spilled(place).map(|spilled| u64::from(spilled.bytes) * spilled.reloads as u64).sum::<u64>()
    };
    let mut spills = SpillBytes {
        local_stored: stored(SpillSpace::Local),
        local_loaded: loaded(SpillSpace::Local),
        // The same values do not fit into fewer slots.
        least_slots: outcome.bytes.local.into(),
        slots: outcome.bytes.local.into(),
        shared_stored: stored(SpillSpace::Shared),
        shared_loaded: loaded(SpillSpace::Shared),
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

fn limit_told(limit: u32) -> Remark {
    let message = format!(
        "gets .maxnreg {limit}: ptxas is expected to give registers up for occupancy that is not requested, and to \
         spill much"
    );
    Remark { kind: RemarkKind::Passed, inst: None, name: "RegisterLimit", message }
}

fn not_spilled(message: String) -> Remark {
    Remark { kind: RemarkKind::Missed, inst: None, name: "NotSpilled", message }
}

/// Returns a remark about refused shared memory; `None` for device functions, which never have slots of their own in
/// shared memory.
fn refused(refusal: &Refusal) -> Option<Remark> {
    (*refusal != Refusal::DeviceFunction).then(|| not_spilled(format!("spills no value to shared memory: {refusal}")))
}

fn refusal_told(refusal: &Refusal) -> String {
    if *refusal == Refusal::DeviceFunction {
        String::new()
    } else {
        format!("no value spilled to shared memory: {refusal}\n")
    }
}

fn remarks(function: &Function, outcome: &Outcome) -> Vec<Remark> {
    let remark = |spilled: &SpillSummary| {
        let name = function.reg_name(spilled.reg).map_or_else(|| spilled.reg.to_string(), |name| format!("'{name}'"));
        let bytes = spilled.bytes;
        let places = counted(spilled.reloads, "place");
        let (kind, message) = match spilled.space {
            SpillSpace::Shared => {
                ("Spilled", format!("spills {name}, {bytes} bytes, to shared memory and reloads it in {places}"))
            }
            SpillSpace::Local => {
                ("Spilled", format!("spills {name}, {bytes} bytes, to local memory and reloads it in {places}"))
            }
            SpillSpace::Rematerialised => {
                ("Rematerialised", format!("rematerialises {name}, {bytes} bytes, in {places}"))
            }
        };
        Remark { kind: RemarkKind::Passed, inst: Some(spilled.definition), name: kind, message }
    };
    let cache = (outcome.cache_given_up > 0).then(|| Remark {
        kind: RemarkKind::Analysis,
        inst: None,
        name: "CacheGivenUp",
        message: format!("{} bytes of shared memory for each block: {}", outcome.bytes.shared, cache_told(outcome)),
    });
    outcome.spilled.iter().map(remark).chain(cache).collect()
}

/// Describes how much L1 cache the slots take.
fn cache_told(outcome: &Outcome) -> String {
    format!("an SM gives up {} KB of L1 cache for the slots", outcome.cache_given_up.div_ceil(1024))
}

fn counted(number: usize, of: &str) -> String {
    if number == 1 { format!("1 {of}") } else { format!("{number} {of}s") }
}

fn told(function: &Function, outcome: &Outcome, words: u32) -> String {
    let [before, after] = outcome.peaks;
    let number = |place: SpillSpace| outcome.spilled.iter().filter(|spilled| spilled.space == place).count();
    let (local, recomputed) = (number(SpillSpace::Local), number(SpillSpace::Rematerialised));
    let mut text = format!(
        "{before} words live, {words} wanted, {after} reached; {} values in {} bytes of shared memory",
        number(SpillSpace::Shared),
        outcome.bytes.shared
    );
    if local > 0 {
        text += &format!(", {local} in {} bytes of local memory", outcome.bytes.local);
    }
    if recomputed > 0 {
        text += &format!(", {recomputed} rematerialised");
    }
    text += "\n";
    if outcome.cache_given_up > 0 {
        text += &(cache_told(outcome) + "\n");
    }
    if let Some(error) = &outcome.unmet {
        text += &format!("{error}; the cheapest values are spilled\n");
    }
    if outcome.unspilled_parts > 0 {
        text += &format!("{} returned to registers\n", counted(outcome.unspilled_parts, "part"));
    }
    if outcome.without_slot > 0 {
        text += &format!("{} not spilled: memory has no room for them\n", counted(outcome.without_slot, "value"));
    }
    text += &outcome.refusal.as_ref().map(refusal_told).unwrap_or_default();
    if let trials @ [_, _, ..] = &outcome.trials[..] {
        trials.iter().zip(1..).for_each(|(trial, number)| text += &trial_told(trial, number));
    }
    for spilled in &outcome.spilled {
        let line = function.line(spilled.definition);
        let place = match spilled.space {
            SpillSpace::Shared => format!("in shared memory, {}", counted(spilled.reloads, "load")),
            SpillSpace::Local => format!("in local memory, {}", counted(spilled.reloads, "load")),
            SpillSpace::Rematerialised => format!("rematerialised in {}", counted(spilled.reloads, "place")),
        };
        text += &format!("{} of line {line}: {} bytes, {place}\n", spilled.reg, spilled.bytes);
    }
    text
}

/// Describes the means and the score of a trial.
fn trial_told(trial: &Trial, number: u32) -> String {
    let Trial { permissions, score } = trial;
    let in_loops = match permissions.in_loops {
        KeepInLoops::Auto | KeepInLoops::Off => "outside of loops",
        KeepInLoops::Around => "around loops",
        KeepInLoops::On => "everywhere",
    };
    let text = format!(
        "trial {number}: {} words live, {} at a cost of {:.1} loads, {in_loops}",
        score.words,
        counted(score.values, "value"),
        score.cost
    );
    if permissions.is_redefined { text + ", several definitions\n" } else { text + "\n" }
}
