//! `nvptx-forecast`: forecasts the resources of a module's kernels.
//!
//! A compiler processes a module function by function. The forecast therefore has two steps: it summarises each
//! function, and then evaluates all summaries.

use std::collections::BTreeMap;
use std::time::Instant;

use super::{FunctionSummary, PassOutput, RunContext, is_excluded};
use crate::coalesce::coalesce;
use crate::config::{Config, KernelRegisterLimit, PRINT_FORECAST, Warn};
use crate::error::Error;
use crate::forecast::{Case, Forecast, Summary, forecast_module};
use crate::function::{EditList, Function, Inst, Origin};
use crate::lint::input::LintInput;
use crate::lint::rules;
use crate::lint::source::Source;
use crate::printable::printable;
use crate::stats::{Event, KernelFigures, ModuleFigures, nanoseconds};
use crate::target::machine::Architecture;

/// Output of a module's forecast.
#[derive(Clone, Debug, Default)]
pub struct ModuleOutput {
    /// The forecast of each kernel, with the number of the kernel's summary, in ascending order.
    pub forecasts: Vec<(usize, Forecast)>,
    /// Findings of the lints, if requested.
    pub findings: Vec<PlacedFinding>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Output for standard error.
    pub output: String,
}

/// A finding of a lint in a kernel of a module.
#[derive(Clone, Debug)]
pub struct PlacedFinding {
    /// Number of the kernel's summary.
    pub kernel: usize,
    /// Number of the summary of the function whose file contains the line: the kernel, or a function that it calls.
    pub function: usize,
    /// The line; 0 if unknown.
    pub line: u32,
    /// The lint's name.
    pub name: &'static str,
    /// The reason, the remedy and the lint's name.
    pub message: String,
}

impl ModuleOutput {
    /// Runs the lints on each kernel.
    fn lint(
        &mut self,
        functions: &[Option<&FunctionSummary>],
        architecture: &'static Architecture,
    ) -> Result<(), Error> {
        let known = || functions.iter().enumerate().filter_map(|(number, &function)| Some((number, function?)));
        let sources: BTreeMap<&str, &Source> =
            known().filter_map(|(_, function)| Some((function.summary.name(), function.source.as_ref()?))).collect();
        // The first function of each file.
        let mut files: BTreeMap<&str, usize> = BTreeMap::new();
        for (number, function) in known() {
            function.file().into_iter().for_each(|file| _ = files.entry(file).or_insert(number));
        }
        for (kernel, forecast) in &self.forecasts {
            let input = LintInput::of_forecast(forecast, architecture, "", |name| sources.get(name).copied())?;
            let own = functions[*kernel].and_then(FunctionSummary::file);
            let found =
                rules::findings(&input, readable).into_iter().filter(|found| !found.lint.is_silent()).map(|finding| {
                    let file = finding.place.file.as_str();
                    let function = files.get(file).filter(|_| own != Some(file)).unwrap_or(kernel);
                    PlacedFinding {
                        kernel: *kernel,
                        function: *function,
                        line: finding.place.line,
                        name: finding.lint.name(),
                        message: format!("{} [{}]", finding.message(readable), finding.lint.name()),
                    }
                });
            self.findings.extend(found);
        }
        Ok(())
    }

    /// Applies the option for register limits: a kernel that gets a limit is forecast again with that limit.
    fn limit(&mut self, functions: &[&Summary], case: Case, wanted: KernelRegisterLimit) -> Result<(), Error> {
        let KernelRegisterLimit::Most(registers) = wanted else { return Ok(()) };
        let limited = forecast_module(functions, &Case { max_registers: Some(registers), ..case })?;
        for ((_, forecast), limited) in self.forecasts.iter_mut().zip(limited) {
            if let Some(limit) = forecast.limit(wanted) {
                *forecast = Forecast { limited_to: Some(limit), ..limited };
            }
        }
        Ok(())
    }
}

/// Returns a readable name. LLVM allows any bytes in names.
fn readable(name: &str) -> String {
    printable(name).into_owned()
}

/// Summarises a function. A function that is not coalesced yet is coalesced first, in a copy, because the forecast is
/// fitted to coalesced code.
pub(super) fn run(function: &Function, context: &RunContext) -> Result<PassOutput, Error> {
    if context.is_ssa {
        let problem = "the forecast needs code that has left SSA form";
        return Err(Error::pass(problem, "run it after phi-node-elimination and twoaddressinstruction"));
    }
    let mut output = PassOutput::unchanged(function);
    let start = Instant::now();
    // Functions that the coalescer leaves alone are not coalesced.
    let is_coalesced = context.is_coalesced && !is_excluded(context);
    output.summary = Some(if is_coalesced {
        summarise(function, context, Some)
    } else {
        let edits = coalesce(function, &context.classification, &Config::default()).edits;
        summarise_edited(function, context, &edits)?
    });
    output.stats.lap("forecast", start);
    Ok(output)
}

/// Returns the summary of a function after the coalescer's edits, for a forecast that directly follows the coalescer. A
/// separate view of the edited function would give the same summary. `None` if the function is excluded from the
/// coalescer, because the forecast includes it, or if statistics of each pass are collected.
// Not inlined, so that a profiler shows the time separately from the coalescer's.
#[inline(never)]
pub fn summarise_coalesced(
    function: &Function,
    edits: &EditList,
    context: &RunContext,
) -> Result<Option<Box<FunctionSummary>>, Error> {
    if context.is_ssa || context.config.stats.is_some() || is_excluded(context) {
        return Ok(None);
    }
    if edits.is_empty() {
        return Ok(Some(summarise(function, context, Some)));
    }
    summarise_edited(function, context, edits).map(Some)
}

fn summarise_edited(
    function: &Function,
    context: &RunContext,
    edits: &EditList,
) -> Result<Box<FunctionSummary>, Error> {
    let applied = edits.apply(function)?;
    Ok(summarise(&applied.function, context, |inst| match applied.origin[inst] {
        Origin::Kept(inst) | Origin::Clone(inst) => Some(inst),
        Origin::Inserted(_) => None,
    }))
}

/// Returns the summary. `in_view` converts its place to the instruction of the view.
fn summarise(
    function: &Function,
    context: &RunContext,
    in_view: impl FnOnce(Inst) -> Option<Inst>,
) -> Box<FunctionSummary> {
    let classification = &context.classification;
    let summary = match context.wants_lints {
        true => Summary::detailed(function, classification),
        false => Summary::new(function, classification),
    };
    let place = summary.place().and_then(in_view);
    let source = context.wants_lints.then(|| Source::of((function, classification)).without_begin());
    Box::new(FunctionSummary { summary, place, source })
}

/// Forecasts the kernels of a module from the summaries of its functions, for the architecture `target`. `name` is the
/// pass's name: only the printing pass has output by default. Findings of lints are included if the summaries were made
/// for lints.
pub fn run_on_module(
    name: &str,
    functions: &[Option<&FunctionSummary>],
    target: &str,
    config: &Config,
) -> Result<ModuleOutput, Error> {
    let start = Instant::now();
    let mut output = ModuleOutput::default();
    let (numbers, known): (Vec<usize>, Vec<&Summary>) =
        functions.iter().enumerate().filter_map(|(number, &function)| Some((number, &function?.summary))).unzip();
    let is_kernel = |summary: &&Summary| summary.is_kernel();
    if known.iter().any(is_kernel) {
        let case = Case { architecture: Architecture::by_name(target)?, max_registers: None };
        let kernels = numbers.into_iter().zip(&known).filter(|(_, summary)| summary.is_kernel());
        output.forecasts = kernels.map(|(number, _)| number).zip(forecast_module(&known, &case)?).collect();
        output.limit(&known, case, config.register_limit)?;
        if functions.iter().flatten().any(|function| function.source.is_some()) {
            output.lint(functions, case.architecture)?;
        }
    }
    if let Some(path) = &config.stats {
        let kernels = output.forecasts.iter().map(|(_, forecast)| figures(forecast)).collect();
        let mut module = ModuleFigures { target: target.to_owned(), kernels, ..ModuleFigures::default() };
        module.time_ns.add("forecast", nanoseconds(start.elapsed()));
        Event::Forecast(module).append(path)?;
    }
    if config.warn.contains(Warn::SPILLS) {
        let warned = output.forecasts.iter().filter_map(|(_, forecast)| forecast.spill_warning());
        output.warnings = warned.map(|warning| format!("nvptx-ra: {warning}")).collect();
    }
    if name == PRINT_FORECAST || config.forecast {
        output.output = output.forecasts.iter().map(|(_, forecast)| forecast.to_text()).collect();
    }
    if name == PRINT_FORECAST && output.forecasts.is_empty() {
        output.output = "no kernel\n".into();
    }
    Ok(output)
}

fn figures(forecast: &Forecast) -> KernelFigures {
    KernelFigures {
        function: forecast.name.clone(),
        registers: forecast.registers,
        likely_registers: forecast.likely_registers,
        at_least: forecast.is_at_least(),
        spill_store_bytes: forecast.spill_store_bytes,
        spill_load_bytes: forecast.spill_load_bytes,
        shared_bytes: forecast.shared_bytes,
        occupancy_warps: forecast.occupancy.warps,
        limited_by: forecast.occupancy.limits.to_string(),
        next_step_registers: forecast.next_step,
        limited_to: forecast.limited_to,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::tests::context;
    use super::*;
    use crate::config::FORECAST;
    use crate::target::Classification;

    /// A kernel of one file that calls a function of another, which calls an undefined function.
    const FUNCTIONS: [&str; 2] = [
        "mfv 1\nfunction \"k\"\nkernel minctasm 4\nfile \"k.cu\"\nopcode CALL\n@0 = \"@f\"\n\
         bb0: frequency 1.0 depth 0\nCALL @0 :: call_sequence line 3\nend\n",
        "mfv 1\nfunction \"f\"\nfile \"f.h\"\nopcode CALL\n@0 = \"@g\"\n\
         bb0: frequency 1.0 depth 0\nCALL @0 :: call_sequence line 7\nend\n",
    ];

    fn findings(wants_lints: bool) -> Vec<PlacedFinding> {
        let summary = |text: &&str| {
            let function = Function::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let classification = Arc::new(Classification::by_name(function.opcodes()));
            let context = RunContext { classification, wants_lints, ..context("") };
            run(&function, &context).expect("a forecast").summary
        };
        let kept: Vec<_> = FUNCTIONS.iter().map(summary).collect();
        let known: Vec<_> = kept.iter().map(Option::as_deref).collect();
        run_on_module(FORECAST, &known, "sm_90", &Config::default()).expect("a forecast").findings
    }

    /// A finding belongs to the kernel. Its line is in the file of the function with the cause. A finding about the
    /// whole kernel is at the first line that the compiler reports for the kernel. Without a request, there are no
    /// findings.
    #[test]
    fn places_of_findings() {
        let places = |finding: &PlacedFinding| (finding.name, finding.kernel, finding.function, finding.line);
        let found: Vec<_> = findings(true).iter().map(places).collect();
        assert_eq!(found, [("ignored-bounds", 0, 0, 0), ("abi-call", 0, 1, 7)]);
        assert!(findings(true)[1].message.ends_with(" [abi-call]"));
        assert!(findings(false).is_empty());
    }
}
