//! The ptxas wrapper: runs ptxas on the stock PTX, and then searches better variants of the kernels that spill or lose
//! occupancy. It is called as `nvptx-ra ptxas …`, or by the name `ptxas`.
//!
//! The wrapper must never make a build fail. If it does not understand the arguments, ptxas gets them verbatim. After
//! an internal error, ptxas's result stays in place.

mod argument_parser;
mod assemble;
mod build;
pub(crate) mod cache_summary;
mod check;
mod deliver;
mod entry;
pub(crate) mod exclusions;
mod improve;
mod inputs;
mod invocation;
mod kernel_cache;
mod launch_note;
mod limit;
mod log;
mod messages;
mod options;
mod profiles;
mod progress_line;
pub(crate) mod real_ptxas;
mod recorded_search;
mod records;
pub(crate) mod search;
mod settings;
mod stock_run;
mod task;
mod uncached_kernels;
mod version;
mod workers;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use invocation::{Action, Invocation};
use nvptx_ra::error::Error;
use nvptx_ra::switch;
use real_ptxas::RealPtxas;
use settings::{Log, Settings};
use task::{Task, why_alone};

use crate::interrupt;

/// Run ptxas with its own arguments
///
/// The same happens if this program is called by the name `ptxas`. Environment variables are its settings:
/// NVPTX_RA_PTXAS (the real ptxas), NVPTX_RA_EFFORT (0: ptxas alone), NVPTX_RA_RUNS, NVPTX_RA_SECONDS, NVPTX_RA_CACHE,
/// NVPTX_RA_CHECK, NVPTX_RA_LOG, NVPTX_RA_PROFILE and NVPTX_RA_RECORD; docs/ptxas.md explains them.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// The arguments of ptxas
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub all: Vec<OsString>,
}

/// Returns the arguments for ptxas if this program is called by the name `ptxas` or if its first argument is `ptxas`.
pub(crate) fn arguments_for_ptxas(mut all: impl Iterator<Item = OsString>) -> Option<Vec<OsString>> {
    let program = all.next()?;
    let is_called_so = Path::new(&program).file_name().is_some_and(|name| name == "ptxas");
    (is_called_so || all.next()? == "ptxas").then(|| all.collect())
}

/// Delivers ptxas's result, or a better result.
pub(crate) fn run(arguments: Vec<OsString>) -> Result<ExitCode, Error> {
    let ptxas = RealPtxas::find()?;
    if switch::is_off() {
        // In a nested call, the outer wrapper writes the log.
        if !ptxas.is_nested {
            note_alone(&Log::of_environment(), &arguments, "ptxas runs alone: NVPTX_RA is off");
        }
        return Err(ptxas.become_it(&arguments));
    }
    let mut settings = match Settings::read() {
        Ok(settings) if !settings.wants_ptxas_alone() && !ptxas.is_nested => settings,
        Ok(settings) => {
            // In a nested call, the outer wrapper writes the log.
            if !ptxas.is_nested {
                note_alone(&settings.log, &arguments, &format!("ptxas runs alone: {}", settings.why_not()));
            }
            return Err(ptxas.become_it(&arguments));
        }
        Err(error) => {
            say!("{error}; {}", switch::NOTE);
            note_alone(&Log::if_file(), &arguments, &error.to_string());
            return Err(ptxas.become_it(&arguments));
        }
    };
    let mut invocation = Invocation::read(arguments, &|name| ptxas.takes_value(name));
    settings.about = invocation.about();
    if invocation.action == Action::Version {
        return version::print(&invocation, &settings, &ptxas);
    }
    if let Action::PassThrough(reason) = &invocation.action {
        settings.note(&format!("ptxas runs alone: {reason}"));
        return Err(ptxas.become_it(&invocation.arguments));
    }
    let alone = why_alone(&invocation).map_or(Ok(()), Err);
    let ready = alone.and_then(|()| interrupt::watch().map_err(|error| error.to_string()));
    if let Err(reason) = ready.and_then(|()| inputs::read(&mut invocation)) {
        settings.note(&format!("ptxas runs alone: {reason}"));
        return Err(ptxas.become_it(&invocation.arguments));
    }
    nvptx_ra::logging::start();
    build::run(&Task::new(&invocation, &settings, &ptxas))
}

/// Logs why ptxas runs alone. Only the file and the processor are taken from the arguments.
fn note_alone(log: &Log, arguments: &[OsString], reason: &str) {
    if *log != Log::Nowhere {
        log.about(&Invocation::read(arguments.to_vec(), &|_| None).about(), reason);
    }
}

#[cfg(test)]
#[path = "../../../tests/rust/cuda.rs"]
pub(crate) mod cuda;

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Returns NVIDIA's ptxas if it is installed.
    pub(super) fn ptxas() -> Option<PathBuf> {
        cuda::programs(&["ptxas"]).map(|bin| bin.join("ptxas"))
    }

    /// The program acts as ptxas by its name or by its first argument.
    #[test]
    fn names() {
        let arguments = |words: &[&str]| arguments_for_ptxas(words.iter().map(OsString::from));
        assert_eq!(arguments(&["/usr/bin/ptxas", "-v"]), Some(vec!["-v".into()]));
        assert_eq!(arguments(&["ptxas"]), Some(Vec::new()));
        assert_eq!(arguments(&["nvptx-ra", "ptxas", "ptxas"]), Some(vec!["ptxas".into()]));
        assert_eq!(arguments(&["nvptx-ra", "report"]), None);
        assert_eq!(arguments(&["nvptx-ra"]), None);
        assert_eq!(arguments(&["ptxas-old", "-v"]), None);
        assert_eq!(arguments(&[]), None);
    }
}
