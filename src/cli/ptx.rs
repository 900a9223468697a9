//! `nvptx-ra ptx`: runs passes on PTX, without LLVM.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nvptx_ra::config::{Config, Layers, Warn};
use nvptx_ra::error::Error;
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::passes::{Other, PtxOutput, PtxRun, pipeline, replay_linked, run_on_ptx, spill_warnings};
use nvptx_ra::profile::Profile;
use nvptx_ra::ptx::Module;
use nvptx_ra::target::PtxVersion;

use crate::{input, output};

/// Run passes on PTX; without passes, print the same bytes
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A PTX file; - is standard input
    input: PathBuf,
    /// The passes, separated by commas: nvptx-remat<remat=peaks>,nvptx-schedule<order=late>; -passes=… means the same
    #[arg(long, default_value = "", hide_default_value = true)]
    passes: String,
    /// Replay the choices that `nvptx-ra tune` found for each function and wrote to this file; functions that do not
    /// fit the profile stay unchanged, with a warning
    #[arg(long, value_name = "FILE", conflicts_with = "passes")]
    profile: Option<PathBuf>,
    /// Another compiler's PTX, from which `nvptx-ra tune --also` took kernels; repeat for more
    #[arg(long, value_name = "FILE", requires = "profile")]
    also: Vec<PathBuf>,
    /// An option for all passes; see `nvptx-ra explain --all`
    #[arg(long = "set", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
    /// The processor, e.g. sm_90. Unless given, the processor that the file specifies
    #[arg(long, default_value = "", hide_default_value = true)]
    cpu: String,
    /// The output file; - is standard output
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// Print what the passes did and did not do in each function
    #[arg(long)]
    remarks: bool,
}

/// Converts LLVM's spelling of `--passes`.
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
    let name = input::name(&arguments.input);
    let options = arguments.options.join(";");
    let done = match &arguments.profile {
        Some(path) => {
            let others = read_others(&arguments.also, "ptx")?;
            replay(&name, &content, path, &others, &options, &arguments.cpu)?
        }
        None => {
            let steps = if arguments.passes.trim().is_empty() { Vec::new() } else { pipeline(&arguments.passes)? };
            run_on_ptx(&name, &content, &PtxRun { steps, options: &options, target: &arguments.cpu })?
        }
    };
    if !done.output.is_empty() {
        say!("{}", done.output.trim_end());
    }
    for remark in done.remarks.iter().filter(|remark| arguments.remarks || remark.message.starts_with("left alone")) {
        say!("{}: {}: {}", remark.function, remark.pass, remark.message);
    }
    done.warnings.iter().for_each(|warning| say!("warning: {warning}"));
    let layers = Layers { command_line: &options, ..Layers::default() };
    warn_of_spills(&Config::resolve(&layers)?, &name, &done.text, &arguments.cpu)?;
    if is_stream {
        return super::print(&done.text);
    }
    output::write(&arguments.output, &done.text)?;
    Ok(ExitCode::SUCCESS)
}

/// If the options request it, warns of kernels that ptxas is expected to spill.
pub(crate) fn warn_of_spills(config: &Config, name: &str, text: &[u8], cpu: &str) -> Result<(), Error> {
    if config.warn.contains(Warn::SPILLS) {
        spill_warnings(name, text, cpu)?.iter().for_each(|warning| say!("warning: {warning}"));
    }
    Ok(())
}

/// Reads other compilers' PTX for a command.
pub(crate) fn read_others(paths: &[PathBuf], command: &str) -> Result<Vec<Other>, Error> {
    let read = |path: &PathBuf| {
        let text = input::read(path, command, &[InputKind::Ptx, InputKind::Text])?;
        let name = path.file_name().map_or_else(|| input::name(path), |name| name.to_string_lossy().into_owned());
        Ok(Other::new(&name, text))
    };
    paths.iter().map(read).collect()
}

/// Replays the choices of a profile. Prints a warning for each function that does not fit.
fn replay(
    name: &str,
    content: &[u8],
    path: &Path,
    others: &[Other],
    options: &str,
    cpu: &str,
) -> Result<PtxOutput, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?;
    let named = |error: Error| Error { problem: format!("{}: {}", path.display(), error.problem), ..error };
    let mut profile = Profile::parse(&text).map_err(named)?.with_own_names();
    let target = if cpu.is_empty() { Module::read(name, content)?.target() } else { cpu };
    let again = "run nvptx-ra tune again";
    if profile.cpu != target {
        let made_for = &profile.cpu;
        say!(
            "nvptx-ra: {}: made for {made_for}, but the target is {target}: every function stays unchanged; {again}",
            path.display()
        );
        profile.functions.clear();
    }
    let (output, unfit) = replay_linked(name, content, others, &profile, options, target)?;
    let newest = PtxVersion::SMEM_SPILLING.0;
    let newer = format!("{again} without it, or make PTX of version {}.{}", newest / 10, newest % 10);
    let fate = ["stays unchanged", "stay unchanged"];
    let has_chosen = output.text != content;
    if let Some(warning) = profile.warning(has_chosen, &unfit, fate, again, &newer) {
        say!("nvptx-ra: {}: {warning}", path.display());
    }
    Ok(output)
}
