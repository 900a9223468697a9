//! `nvptx-ra ptx`: passes on PTX, without LLVM.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use nvptx_ra::error::Error;
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::passes::{PtxRun, pipeline, run_on_ptx};

use crate::{input, output};

/// Run passes on PTX; without passes, print the same bytes
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A file of PTX; - is standard input
    input: PathBuf,
    /// The passes, with commas between them: nvptx-remat<remat=peaks>,nvptx-schedule<order=late>; -passes=… means the
    /// same
    #[arg(long, default_value = "", hide_default_value = true)]
    passes: String,
    /// An option for all passes; see `nvptx-ra explain --all`
    #[arg(long = "set", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
    /// The processor, as sm_90. Unless given, the one that the file names
    #[arg(long, default_value = "", hide_default_value = true)]
    cpu: String,
    /// Where the PTX goes; - is standard output
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// Print what the passes did and did not do in each function
    #[arg(long)]
    remarks: bool,
}

/// LLVM's spelling of `--passes`.
pub(crate) fn spelled_as_here(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    if arguments.get(1).is_some_and(|command| command == "ptx") {
        for argument in arguments.iter_mut().skip(2) {
            if argument.to_str().is_some_and(|text| text == "-passes" || text.starts_with("-passes=")) {
                let mut longer = OsString::from("-");
                longer.push(&*argument);
                *argument = longer;
            }
        }
    }
    arguments
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let is_stream = input::is_stream(&arguments.output);
    if !is_stream {
        output::check(&arguments.output)?;
    }
    let content = input::read(&arguments.input, "ptx", &[InputKind::Ptx, InputKind::Text])?;
    let steps = if arguments.passes.trim().is_empty() { Vec::new() } else { pipeline(&arguments.passes)? };
    let wanted = PtxRun { steps, options: &arguments.options.join(";"), target: &arguments.cpu };
    let done = run_on_ptx(&input::name(&arguments.input), &content, &wanted)?;
    if !done.output.is_empty() {
        say!("{}", done.output.trim_end());
    }
    for remark in done.remarks.iter().filter(|remark| arguments.remarks || remark.message.starts_with("left alone")) {
        say!("{}: {}: {}", remark.function, remark.pass, remark.message);
    }
    if is_stream {
        return super::print(&done.text);
    }
    output::write(&arguments.output, &done.text)?;
    Ok(ExitCode::SUCCESS)
}
