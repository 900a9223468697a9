//! LLVM's optimisations of a module, in a separate process. With more inlining, the optimisations may take hours. A
//! process can be killed, a thread cannot.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use inkwell::context::Context;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::getppid;
use nvptx_ra::error::Error;
use nvptx_ra::ffi::codegen::{quietly, write_bitcode};
use nvptx_ra::ffi::profile;
use nvptx_ra::profile::Profile;

use super::process::{self, Limit};
use crate::child_error::ChildError;
use crate::codegen::{self, ModuleArguments};
use crate::ptxas::Folder;

/// Run LLVM's optimisations on a module
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    module: ModuleArguments,
    /// Folder with the module and its choices; the result is written there, too
    #[arg(long)]
    folder: PathBuf,
    /// Process id of the process that waits for the result; this process ends with it
    #[arg(long)]
    parent: u32,
}

// The files in the folder.
const MODULE: &str = "module";
const CHOICES: &str = "choices.toml";
const OPTIMISED: &str = "optimised.bc";
const ERRORS: &str = "errors";

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let _ = set_pdeathsig(Signal::SIGKILL);
    if u32::try_from(getppid().as_raw()) != Ok(arguments.parent) {
        return Ok(ExitCode::FAILURE);
    }
    if let Err(error) = optimise(arguments) {
        // The prefix `error:` distinguishes the error from LLVM's warnings.
        say!("error: {}", error.problem);
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn optimise(Arguments { module, folder, .. }: &Arguments) -> Result<(), Error> {
    let ModuleArguments { name, cpu, settings } = module;
    let context = Context::create();
    let module = codegen::parse(&context, &read(&folder.join(MODULE))?, name)?;
    let choices = read(&folder.join(CHOICES))?;
    profile::replay_attributes(&module, &Profile::parse(&String::from_utf8_lossy(&choices))?);
    quietly(&context, || settings.optimise(&module, cpu)).map_err(|message| Error::pass(message, ""))??;
    write(&folder.join(OPTIMISED), &write_bitcode(&module))
}

/// Runs LLVM's optimisations on a module with the choices of a profile. Returns the bitcode and the CPU time. Fails if
/// the CPU time exceeds the limit, or if the user interrupts. `settings` are the process's arguments with the options
/// of the module.
pub(super) fn optimised(
    module: &[u8],
    settings: &[OsString],
    choices: &Profile,
    limit: Duration,
) -> Result<(Vec<u8>, Duration), Error> {
    let folder = Folder::new("optimise")?;
    write(&folder.path(MODULE), module)?;
    write(&folder.path(CHOICES), choices.print("optimise", &[])?.as_bytes())?;
    let program = std::env::current_exe().map_err(|error| Error::file("/proc/self/exe".as_ref(), &error))?;
    let mut command = Command::new(program);
    command.arg("optimise").arg("--folder").arg(folder.path(""));
    command.arg(format!("--parent={}", std::process::id())).args(settings);
    let errors = folder.path(ERRORS);
    let end = process::run(command, &errors, &errors, Limit::Computed(limit));
    let end = end.map_err(|failure| refused(&format!("the process {failure}")))?;
    if !end.status.success() {
        let mut child_error = ChildError::default();
        String::from_utf8_lossy(&read(&errors)?).lines().for_each(|line| child_error.hear(line));
        return Err(refused(child_error.error().unwrap_or("the process ended without a message")));
    }
    Ok((read(&folder.path(OPTIMISED))?, end.computed))
}

fn refused(reason: &str) -> Error {
    Error::pass(format!("LLVM's optimisations: {reason}"), "see LLVM's message")
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| Error::file(path, &error))
}

fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    std::fs::write(path, content).map_err(|error| Error::file(path, &error))
}
