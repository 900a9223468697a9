//! `nvptx-ra diff-ptxas`: what another release of ptxas makes of a project's PTX.
//!
//! * [`toolchain`]: the two ptxas; [`files`]: the PTX; [`build`]: what one ptxas makes of one file;
//! * [`kernel`]: a kernel of both, and what of it got worse or better; [`pair`]: all kernels of a file;
//! * [`text`], [`json`], [`annotations`]: how it is told.

mod annotations;
mod build;
mod files;
mod json;
mod kernel;
mod pair;
mod text;
mod toolchain;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use nvptx_ra::error::{Error, ErrorKind};

use self::pair::FilePair;
use self::toolchain::Toolchain;
use crate::dynamic_shared::DynamicShared;
use crate::kernel_names;

/// Compare what two releases of ptxas make of PTX: meaning, registers, spills, occupancy, predicted time and what ptxas says
///
/// Each release assembles each file. Of each kernel, the machine code of both runs on the CPU beside the PTX, on the same
/// drawn launches, as `compare` does. Kernels that got worse come first; those of which only registers or instructions
/// differ are counted. The exit status is 1 if machine code differs from its PTX, if the new release refuses what the old one takes,
/// or if time, spills, stack, warps or ptxas's own words on lost performance got worse beyond --tolerance; 2 if something could not be compared;
/// else 0. docs/diff-ptxas.md has a step for continuous integration.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Files of PTX, or folders: of these, all files below them whose names end in .ptx
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// The releases, the old one first: 12.8 is the newest of 12.8, 12.8.61 that one
    #[arg(long, value_name = "RELEASE", value_delimiter = ',')]
    release: Vec<String>,
    /// A ptxas by its path, in the place of a release. Releases stand ahead of these
    #[arg(long, value_name = "PROGRAM")]
    ptxas: Vec<PathBuf>,
    /// Fetch releases from PyPI that are not in the folder of releases yet (NVPTX_RA_RELEASES, or ~/.cache/nvptx-ra/ptxas)
    #[arg(long)]
    download: bool,
    /// Options for both ptxas, with spaces between them
    #[arg(long, value_name = "OPTIONS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    options: String,
    /// The processor; unless given, the one that the PTX names
    #[arg(long)]
    cpu: Option<String>,
    /// Compare only the kernels whose name contains this text; repeat for more
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// Bytes of dynamic shared memory of the kernels whose name contains KERNEL, or of all kernels; repeat for more
    #[arg(long, value_name = "[KERNEL=]BYTES")]
    dynamic_shared: Vec<DynamicShared>,
    /// A figure is worse, or better, if it differs by more than this. Predicted times must also differ by more than the model
    /// may be wrong
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    tolerance: f64,
    /// The most instructions of warps that the PTX of a kernel and the machine code of a release run. 0: none is run
    #[arg(long, default_value_t = 1_000_000)]
    steps: u64,
    /// How it is told
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Also list the kernels that are neither worse nor better
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table
    Text,
    /// JSON, with all kernels
    Json,
    /// GitHub's annotations of what got worse, and the table on standard error
    Github,
}

/// What is compared: two ptxas, and what they make of each file.
struct Report {
    toolchains: [Toolchain; 2],
    files: Vec<FilePair>,
    /// Above which share a figure is worse.
    tolerance: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    if !(0.0..=1_000.0).contains(&arguments.tolerance) {
        let problem = format!("--tolerance {}: it is no percentage", arguments.tolerance);
        return Err(Error::new(ErrorKind::Option, problem, "give a number from 0 to 1000"));
    }
    let toolchains = toolchain::both(&arguments.release, &arguments.ptxas, arguments.download)?;
    let paths = files::all(&arguments.inputs)?;
    let files = pairs(&toolchains, &paths, arguments)?;
    let names: Vec<&str> = files.iter().flat_map(|file| &file.names).map(String::as_str).collect();
    let inputs: Vec<String> = arguments.inputs.iter().map(|path| crate::input::name(path)).collect();
    kernel_names::check_wanted(&arguments.kernels, names.iter().copied(), &inputs.join(", "))?;
    if names.is_empty() && files.iter().all(|file| file.failures.iter().all(Option::is_none)) {
        let problem = format!("{}: no kernel", inputs.join(", "));
        return Err(Error::new(ErrorKind::View, problem, "name files with kernels"));
    }
    let report = Report { toolchains, files, tolerance: arguments.tolerance / 100.0 };
    match arguments.format {
        Format::Text => super::print_text(&text::of(&report, arguments.all))?,
        Format::Json => super::print(format!("{:#}\n", json::of(&report)).as_bytes())?,
        Format::Github => {
            text::of(&report, arguments.all).lines().for_each(|line| say!("{line}"));
            super::print(annotations::of(&report).as_bytes())?
        }
    };
    Ok(super::exit_code(report.is_worse(), report.is_open()))
}

/// Compares all files, several at a time. The result does not depend on which is done first.
fn pairs(toolchains: &[Toolchain; 2], paths: &[PathBuf], arguments: &Arguments) -> Result<Vec<FilePair>, Error> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(paths.len());
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = paths.get(number) else { break };
                    let pair = pair::of(toolchains, path, arguments);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((number, pair));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|&(number, _)| number);
    done.into_iter().map(|(_, pair)| pair).collect()
}

impl Report {
    /// Whether something got worse.
    fn is_worse(&self) -> bool {
        let is_worse =
            |file: &FilePair| file.is_refused() || file.kernels.iter().any(|kernel| kernel.is_worse(self.tolerance));
        self.files.iter().any(is_worse)
    }

    /// Whether something could not be compared.
    fn is_open(&self) -> bool {
        let is_open = |file: &FilePair| {
            file.failures.iter().any(Option::is_some)
                || !file.unread.is_empty()
                || file.kernels.iter().any(|kernel| !kernel.is_comparable())
        };
        self.files.iter().any(is_open)
    }
}
