//! `nvptx-ra replay`: runs a pass on a function in text form, without LLVM.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nvptx_ra::bundle::{self, Bundle, Report};
use nvptx_ra::check::{CheckError, check, slots};
use nvptx_ra::config::{COPY_COALESCER, Config, Layers};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::function::{EditList, Function};
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::passes::{self, PassOutput, RunContext};
use nvptx_ra::stats::Counts;
use nvptx_ra::target::Classification;

use crate::input;

/// Run a pass on a function in text form, or on the bundle of an internal error, without LLVM
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A function in text form (.mfv), or a bundle's folder; - is a function on standard input
    input: PathBuf,
    /// The pass. Unless given, the bundle's pass, or else nvptx-copy-coalescer
    #[arg(long)]
    pass: Option<String>,
    /// An option of the passes, overriding the bundle's; see `nvptx-ra explain --all`
    #[arg(long = "set", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
    /// The output file for the changed function; - is standard output
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Print every edit
    #[arg(long)]
    edits: bool,
    /// Do not prove that the changed function computes the same
    #[arg(long)]
    no_check: bool,
    /// Run the pass this many times, and print the time that this takes
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..))]
    time: Option<u32>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let Bundle { report, function } = match &arguments.input {
        folder if folder.is_dir() => bundle::read(folder)?,
        file => {
            let content = input::read(file, "replay", &[InputKind::Functions, InputKind::Text])?;
            bundle::of_text(&String::from_utf8_lossy(&content), input::name(file).as_ref())?
        }
    };
    let in_function = |error: Error| error.in_function(function.name());
    function.validate().map_err(|error| in_function(error.into()))?;
    let context = context(&report, &arguments.options, &function).map_err(in_function)?;
    let pass = arguments.pass.as_deref().unwrap_or(if report.pass.is_empty() { COPY_COALESCER } else { &report.pass });

    let run_pass = || passes::run(pass, &function, &context).map_err(in_function);
    let mut times = Vec::new();
    for _ in 0..arguments.time.unwrap_or_default() {
        let start = Instant::now();
        run_pass()?;
        times.push(start.elapsed());
    }
    let output = run_pass()?;
    let applied = output.edits.apply(&function).map_err(|error| in_function(error.into()))?;
    say!("{}", summary(pass, &function, &output, &mut times, arguments.edits).trim_end());
    if !arguments.no_check {
        prove(&function, &output.edits).map_err(in_function)?;
        say!("checked: the function computes the same");
    }
    match &arguments.output {
        None => Ok(ExitCode::SUCCESS),
        Some(path) => write(path, &applied.function.to_string()),
    }
}

/// Returns the pass's context: the bundle's context, with the given options.
fn context(report: &Report, options: &[String], function: &Function) -> Result<RunContext, Error> {
    let given = options.join(";");
    let recorded = report.options.layers();
    let parameters = [recorded.parameters, &given].join(";");
    let config = Config::resolve(&Layers { parameters: &parameters, ..recorded })?;
    Ok(RunContext {
        config,
        classification: Arc::new(Classification::by_name(function.opcodes())),
        target: report.target.clone(),
        is_ssa: report.is_ssa,
        is_o0: report.is_o0,
        is_optnone: report.is_optnone,
        wants_remarks: false,
        wants_lints: false,
        is_coalesced: false,
        callees: None,
    })
}

fn summary(pass: &str, function: &Function, output: &PassOutput, times: &mut [Duration], all: bool) -> String {
    let mut text = output.output.clone();
    let mut kinds = Counts::default();
    output.edits.edits().iter().for_each(|edit| kinds.add(edit.kind(), 1));
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {} instructions, {} registers\n{pass}: {} edits",
        function.name().escape_debug(),
        function.num_insts(),
        function.num_regs(),
        output.edits.len()
    );
    for (kind, count) in kinds.iter() {
        let _ = writeln!(text, "  {kind:<20}{count:>8}");
    }
    if all {
        output.edits.edits().iter().for_each(|edit| {
            let _ = writeln!(text, "  {}", edit.display(function.opcodes()));
        });
    }
    times.sort_unstable();
    if let (Some(least), Some(median)) = (times.first(), times.get(times.len() / 2)) {
        let _ = writeln!(text, "time: {} runs, least {least:.1?}, median {median:.1?}", times.len());
    }
    text
}

fn prove(function: &Function, edits: &EditList) -> Result<(), Error> {
    let unproven = check(function, edits).err().unwrap_or_default();
    let mut places: Vec<String> = unproven.iter().map(CheckError::to_string).collect();
    places.extend(slots::errors(function, edits).iter().map(ToString::to_string));
    if places.is_empty() {
        return Ok(());
    }
    let problem = format!("the checker refuses the edits: {}", places.join(" | "));
    Err(Error::new(ErrorKind::Verify, problem, "please report this with the function"))
}

fn write(path: &std::path::Path, text: &str) -> Result<ExitCode, Error> {
    if path.as_os_str() == "-" {
        return super::print(text.as_bytes());
    }
    crate::output::write(path, text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
