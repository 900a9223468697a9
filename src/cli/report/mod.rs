//! `nvptx-ra report`: forecasts each kernel's registers and spills, and shows which source lines hold the registers.

mod baseline;
mod code;
mod compare;
mod json;
mod lines;
mod lint;
mod measurement;
mod page;
mod sass;
mod slots;
mod table;
mod verbose;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nvptx_ra::config::{Config, Layers, Order};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::forecast::{Case, Forecast, forecast};
use nvptx_ra::lint::{Finding, Place};
use nvptx_ra::target::machine::Architecture;
use serde_json::Value;

use self::baseline::Comparison;
use self::code::Code;
#[cfg(feature = "llvm")]
use crate::codegen::{DEFAULT_LEVEL, Settings};
use crate::dynamic_shared::{self, DynamicShared};
use crate::input::{self, FUNCTIONS, Input};
use crate::kernel_names;
use crate::of_kernels;
use crate::ptxas::PtxasReports;
#[cfg(feature = "llvm")]
use crate::triton;
use crate::views::{Compilation, Source};
use slots::Slots;

/// Forecast registers, spills and occupancy of each kernel, and show which lines hold the registers
///
/// The forecast does not run ptxas. It counts live registers, and uses a model of ptxas's results for many kernels.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// LLVM IR (.ll, .bc), machine code (.mir), PTX of any compiler or functions in text form (.mfv), recognised by
    /// their content; - is standard input. Several files are reported one after the other. A build without LLVM accepts
    /// only PTX and functions in text form
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// The processor [default: the one in the PTX or in Triton's metadata, else sm_90]
    #[arg(long)]
    cpu: Option<String>,
    /// Features of the processor and the PTX version, e.g. +ptx88
    #[cfg(feature = "llvm")]
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    mattr: String,
    /// The optimisation level for LLVM IR
    #[cfg(feature = "llvm")]
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = DEFAULT_LEVEL,
        value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,
    /// Forecast as if no kernel could have more registers than this. Unlike ptxas's -maxrregcount, this also applies to
    /// kernels with launch bounds. ptxas never gives a thread fewer than 24
    #[arg(long, visible_alias = "budget", value_name = "N", value_parser = clap::value_parser!(u32).range(24..=255))]
    max_regs: Option<u32>,
    /// Forecast as if the instructions of each block were in this order: a value of the passes' option `order`
    #[arg(long, value_name = "ORDER", value_parser = order)]
    order: Option<Order>,
    /// Report only the kernels whose name contains this text; repeat for more
    #[arg(long, value_name = "TEXT")]
    kernel: Vec<String>,
    /// Bytes of dynamic shared memory of the kernels whose name contains KERNEL, or of all kernels; repeat for more. If
    /// several values match a kernel, the last one counts
    #[arg(long, value_name = "[KERNEL=]BYTES")]
    dynamic_shared: Vec<DynamicShared>,
    /// Print JSON instead of the table: an object for one input, an array of objects for several
    #[arg(long)]
    json: bool,
    /// Also print the forecast in the format of ptxas -v and of ptxas's statistics
    #[arg(short, long, conflicts_with = "json")]
    verbose: bool,
    /// Also write a page for a browser: register pressure, live ranges, occupancy and source of each kernel
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// With --json: include the features from which each kernel is forecast
    #[arg(long, requires = "json")]
    features: bool,
    /// Also run ptxas, and print its figures beside the forecast
    #[arg(long)]
    compare_ptxas: bool,
    /// Measure instead: run ptxas and nvdisasm, and report the registers that are live at every machine instruction, by
    /// source line, with the forecast beside them. All inputs are measured, even without --sass, if one is a cubin, or
    /// a fat binary, object file or program with a cubin
    #[arg(long, conflicts_with_all = ["compare_ptxas", "verbose", "features", "order", "warn_on_spills"])]
    sass: bool,
    /// With --sass: also run a drawn launch of each kernel's machine code on the CPU, and report the executed
    /// instructions, by class and by source line
    #[arg(long, requires = "sass")]
    run: bool,
    /// With --sass: compare two builds, the old one first, and print the kernels and source lines that differ
    #[arg(long, requires = "sass", conflicts_with_all = ["html", "baseline", "fail_on_spill"])]
    diff: bool,
    /// Compare with an earlier report from --json. Exit with 1 if a kernel takes more registers, spills more bytes or
    /// has fewer warps, and with 2 if the spills of a kernel cannot be compared. A missing file is written
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Exit with 1 if a kernel is expected to spill. With --sass: exit with 1 if a kernel spills, and with 2 if that is
    /// unknown
    #[arg(long)]
    fail_on_spill: bool,
    /// Warn about each kernel that is expected to spill, as ptxas's option of the same name does
    #[arg(long)]
    warn_on_spills: bool,
    #[command(flatten)]
    lints: lint::Options,
}

/// The processor if neither the user nor the code specifies one.
const DEFAULT_CPU: &str = "sm_90";

impl Arguments {
    /// Compilation options for LLVM IR.
    #[cfg(feature = "llvm")]
    fn compilation(&self, input: &Path) -> Compilation {
        let triton = triton::beside(input);
        let named = self.cpu.clone().or_else(|| triton.as_ref()?.cpu());
        Compilation {
            cpu: named.unwrap_or_else(|| DEFAULT_CPU.to_owned()),
            settings: Settings::new(&self.mattr, self.level).of_triton(triton.as_ref(), self.cpu.as_deref()),
        }
    }

    #[cfg(not(feature = "llvm"))]
    fn compilation(&self, _input: &Path) -> Compilation {
        Compilation {}
    }

    /// Returns whether the reported code is optimised.
    fn optimises(&self) -> bool {
        #[cfg(feature = "llvm")]
        return self.level > 0;
        #[cfg(not(feature = "llvm"))]
        true
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    arguments.cpu.as_deref().map(Architecture::by_name).transpose()?;
    if let (Some(path), [_, _, ..]) = (&arguments.html, &*arguments.inputs) {
        let problem =
            format!("--html {}: a page shows one file, and {} are given", path.display(), arguments.inputs.len());
        return Err(Error::new(ErrorKind::Option, problem, "write a page for each of them"));
    }
    arguments.html.iter().try_for_each(|path| crate::output::check(path))?;
    // An existing baseline is only read.
    arguments.baseline.iter().filter(|path| !path.exists()).try_for_each(|path| crate::output::check(path))?;
    if arguments.sass || arguments.inputs.iter().any(|path| measurement::input::is_machine_code(path)) {
        return sass::run(arguments);
    }
    let mut reports = Vec::new();
    let (mut failed, mut is_blind) = (false, false);
    for path in &arguments.inputs {
        match Report::new(path, arguments) {
            Ok(report) => reports.push(report),
            Err(error) if arguments.inputs.len() == 1 => return Err(error),
            // The other inputs are still reported.
            Err(error) => {
                say!("{error}");
                failed = true;
            }
        }
    }
    choose_kernels(&mut reports, arguments)?;
    if arguments.compare_ptxas {
        reports.iter_mut().for_each(|report| report.compare(arguments));
    }
    let findings = findings(&reports, arguments)?;
    let object = object(&reports, arguments, &findings);
    if arguments.json {
        super::print(format!("{object:#}\n").as_bytes())?;
    } else if !arguments.lints.replaces_report() {
        print(&reports, arguments)?;
    }
    if let (Some(path), [report]) = (&arguments.html, &*reports) {
        crate::output::write(path, page::page(report).as_bytes())?;
    }
    if let Some(path) = &arguments.baseline {
        let files: Vec<baseline::File> = reports.iter().map(Report::file).collect();
        let Comparison { growths, is_blind: is_incomparable, before } = baseline::compare(path, &object, &files)?;
        failed |= !growths.is_empty();
        is_blind |= is_incomparable;
        lint::print_growths(&growths, &arguments.lints)?;
        failed |= lint::print(&lint::known::unknown(findings.concat(), &before), &arguments.lints)?;
    } else if arguments.lints.is_on() {
        failed |= lint::print(&findings.concat(), &arguments.lints)?;
    }
    failed |= say_what_spills(&reports, arguments);
    for error in reports.iter().filter_map(|report| report.refusal.as_ref()) {
        say!("{error}");
        failed = true;
    }
    Ok(crate::exit_code(failed, is_blind))
}

/// The report of one input.
struct Report {
    path: PathBuf,
    /// Its name in messages.
    input: String,
    /// The source for ptxas, if ptxas is requested.
    source: Option<Source>,
    /// The processor's name, as given.
    cpu: String,
    architecture: &'static Architecture,
    /// All functions of the input.
    code: Code,
    /// Forecasts of the input's kernels, in the input's order.
    forecasts: Vec<Forecast>,
    /// The shared-memory slots that `regalloc=auto` would use, by kernel.
    slots: BTreeMap<String, Slots>,
    /// Whether a kernel, wanted or not, calls a function that the input does not define.
    calls_outside: bool,
    /// ptxas's figures, if it was run and succeeded.
    measured: Option<PtxasReports>,
    /// The reason why ptxas failed.
    refusal: Option<Error>,
}

impl Report {
    /// Forecasts all kernels of a file.
    fn new(path: &Path, arguments: &Arguments) -> Result<Self, Error> {
        Self::of(Input::open(path, "report", &FUNCTIONS)?, arguments, false)
    }

    /// Forecasts all kernels of an input. With `is_measured`, the report keeps the source for a measurement.
    fn of(input: Input, arguments: &Arguments, is_measured: bool) -> Result<Self, Error> {
        let path = &input.path.clone();
        let mut source = Source::read(input, arguments.compilation(path))?;
        let runs_ptxas = arguments.compare_ptxas || is_measured;
        if runs_ptxas && !source.has_ptx() {
            let option = if is_measured { "--sass" } else { "--compare-ptxas" };
            let problem = format!("{option}: {} is neither LLVM IR nor PTX", input::name(path));
            return Err(Error::new(ErrorKind::Option, problem, "give the .ll, .bc or .ptx file"));
        }
        let cpu = match &arguments.cpu {
            Some(cpu) => cpu.clone(),
            None => source.processor()?.unwrap_or_else(|| DEFAULT_CPU.to_owned()),
        };
        let architecture = Architecture::by_name(&cpu)?;
        let code = Code::read(&mut source, arguments)?;
        let forecasts = forecast(code.iter(), &Case { architecture, max_registers: arguments.max_regs })?;
        let input = input::name(path);
        if forecasts.is_empty() {
            let problem = format!("{input}: no kernel");
            return Err(Error::new(
                ErrorKind::View,
                problem,
                "mark kernels with the calling convention ptx_kernel, or as .entry in PTX",
            ));
        }
        let calls_outside = forecasts.iter().any(|forecast| compare::calls_outside(&forecast.unknown_calls));
        Ok(Self {
            path: path.to_owned(),
            input,
            source: runs_ptxas.then_some(source),
            cpu,
            architecture,
            code,
            forecasts,
            slots: BTreeMap::new(),
            calls_outside,
            measured: None,
            refusal: None,
        })
    }

    /// Returns the figures for a baseline.
    fn file(&self) -> baseline::File<'_> {
        let peak = |forecast: &Forecast| {
            let own = self.code.functions.iter().find(|function| function.name() == forecast.holder);
            let file = own.and_then(|function| function.file()).unwrap_or(&self.input).to_owned();
            Place { file, line: forecast.peak.line }
        };
        let kernels = self.forecasts.iter().map(|forecast| baseline::Kernel {
            name: &forecast.name,
            registers: forecast.registers,
            peak: peak(forecast),
            spill_bytes: forecast.spill_bytes(),
            spills_from: None,
            marked_bytes: 0,
            spills: peak(forecast),
            warps: Some(forecast.occupancy.warps),
        });
        baseline::File { input: &self.input, kernels: kernels.collect() }
    }

    /// Runs ptxas.
    fn compare(&mut self, arguments: &Arguments) {
        if self.forecasts.is_empty() {
            return;
        }
        match compare::measure(self, arguments) {
            Ok(measured) => self.measured = Some(measured),
            Err(error) => self.refusal = Some(error),
        }
    }
}

/// Removes the kernels that are not wanted, and sets the launches of the others. Some input must have each kernel that
/// an option names.
fn choose_kernels(reports: &mut [Report], arguments: &Arguments) -> Result<(), Error> {
    let inputs = reports.iter().map(|report| report.input.as_str()).collect::<Vec<_>>().join(", ");
    let names = |reports: &[Report]| -> Vec<String> {
        reports.iter().flat_map(|report| &report.forecasts).map(|forecast| forecast.name.clone()).collect()
    };
    let all = names(reports);
    kernel_names::check_wanted(&arguments.kernel, all.iter().map(String::as_str), &inputs)?;
    for report in reports.iter_mut() {
        report.forecasts.retain(|forecast| kernel_names::is_wanted(&arguments.kernel, &forecast.name));
    }
    let wanted = names(reports);
    of_kernels::check("--dynamic-shared", &arguments.dynamic_shared, wanted.iter().map(String::as_str), &inputs)?;
    for report in reports {
        let said = dynamic_shared::all_said(&report.path, &arguments.dynamic_shared);
        for forecast in &mut report.forecasts {
            let dynamic = dynamic_shared::bytes_of(&said, &forecast.name);
            if let Some(bytes) = dynamic {
                forecast.launch_with(bytes, report.architecture);
            }
            if arguments.optimises() && forecast.spill_bytes() > 0 {
                let own = report.code.find(&forecast.name);
                let slots = own.map_or(Ok(None), |own| slots::slots(own, report.architecture, dynamic))?;
                report.slots.extend(slots.map(|slots| (forecast.name.clone(), slots)));
            }
        }
    }
    Ok(())
}

/// Prints the reports, one after the other.
fn print(reports: &[Report], arguments: &Arguments) -> Result<(), Error> {
    let mut text = String::new();
    for report in reports.iter().filter(|report| !report.forecasts.is_empty()) {
        if arguments.inputs.len() > 1 {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            text += &format!("{gap}{}:\n", report.input);
        }
        text += &table::table(report);
        if arguments.verbose {
            text += &verbose::text(&report.forecasts, &report.code);
        }
    }
    super::print_text(&text).map(drop)
}

/// Returns the lints' findings for each report.
fn findings(reports: &[Report], arguments: &Arguments) -> Result<Vec<Vec<Finding>>, Error> {
    if !arguments.lints.is_on() {
        return Ok(vec![Vec::new(); reports.len()]);
    }
    let of_report = |report: &Report| Ok(lint::find(&lint::input::of_forecasts(report)?, Vec::new(), &arguments.lints));
    reports.iter().map(of_report).collect()
}

/// Returns the reports as JSON: an object for one input, and an array of objects with file names for several.
fn object(reports: &[Report], arguments: &Arguments, findings: &[Vec<Finding>]) -> Value {
    let of = |(report, findings): (&Report, &Vec<Finding>)| {
        let mut object = json::object(report, arguments.features);
        if arguments.lints.is_on() {
            object["findings"] = lint::known::json(findings);
        }
        object
    };
    let of_file = |pair: (&Report, &Vec<Finding>)| {
        let mut object = of(pair);
        object["file"] = pair.0.input.as_str().into();
        object
    };
    let pairs = reports.iter().zip(findings);
    match reports {
        [_] if arguments.inputs.len() == 1 => pairs.map(of).next().unwrap_or_default(),
        _ => pairs.map(of_file).collect(),
    }
}

/// Prints which kernels are expected to spill, if the user requests it. Returns whether this is a failure.
fn say_what_spills(reports: &[Report], arguments: &Arguments) -> bool {
    let forecasts = || reports.iter().flat_map(|report| &report.forecasts);
    let spilling = || forecasts().filter(|forecast| forecast.spill_bytes() > 0);
    if arguments.warn_on_spills {
        forecasts().filter_map(Forecast::spill_warning).for_each(|warning| say!("nvptx-ra: warning: {warning}"));
    }
    if arguments.fail_on_spill {
        for forecast in spilling() {
            say!("nvptx-ra: kernel '{}' is expected to spill", kernel_names::readable(&forecast.name));
        }
    }
    arguments.fail_on_spill && spilling().next().is_some()
}

/// Returns an order by its name.
fn order(name: &str) -> Result<Order, Error> {
    let config = Config::resolve(&Layers { parameters: &format!("order={name}"), ..Layers::default() })?;
    Ok(config.order)
}
