//! `nvptx-ra diff-ptxas`: compares two releases of ptxas on a project's PTX.
//!
//! * [`toolchain`]: the two releases of ptxas; [`files`]: the PTX files;
//! * [`build`]: the result of one release for one file;
//! * [`kernel`]: the results of both releases for a kernel, and the changes; [`pair`]: all kernels of a file;
//! * [`text`], [`json`], [`annotations`]: output formats.

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

/// Compare two releases of ptxas on PTX: meaning, registers, spills, occupancy, predicted time and ptxas's warnings
///
/// Each release assembles each file. For each kernel, both releases' machine code runs on the CPU beside the PTX, on
/// the same drawn launches, as in `compare`. Kernels that got worse come first. Kernels whose only changes are in
/// registers or instructions are counted. docs/diff-ptxas.md has a step for continuous integration.
///
/// The exit status is 1 if machine code differs from its PTX, if the new release refuses PTX that the old one accepts,
/// or if time, spills, stack, warps or ptxas's own warnings about lost performance got worse beyond --tolerance.
/// Otherwise, it is 2 if something could not be compared, and 0 if all was compared.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Files of PTX, or folders. A folder stands for all files below it with names that end in .ptx
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// The releases, the old one first: 12.8 is the newest build of 12.8, and 12.8.61 is exactly this build
    #[arg(long, value_name = "RELEASE", value_delimiter = ',')]
    release: Vec<String>,
    /// A ptxas by its path, instead of a release. With a release and a program, the release is the old one
    #[arg(long, value_name = "PROGRAM")]
    ptxas: Vec<PathBuf>,
    /// Fetch releases from PyPI that are missing in the folder of releases (NVPTX_RA_RELEASES, or
    /// ~/.cache/nvptx-ra/ptxas)
    #[arg(long)]
    download: bool,
    /// Options for both ptxas, separated by spaces
    #[arg(long, value_name = "OPTIONS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    options: String,
    /// The processor; unless given, the processor that the PTX specifies
    #[arg(long)]
    cpu: Option<String>,
    /// Compare only the kernels whose name contains this text; repeat for more
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// Bytes of dynamic shared memory of the kernels whose name contains KERNEL, or of all kernels; repeat for more
    #[arg(long, value_name = "[KERNEL=]BYTES")]
    dynamic_shared: Vec<DynamicShared>,
    /// A figure is worse, or better, if it differs by more than this. Predicted times must also differ by more than the
    /// model's error
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    tolerance: f64,
    /// The most warp instructions that the PTX of a kernel and a release's machine code execute. With 0, nothing is
    /// executed
    #[arg(long, default_value_t = 1_000_000)]
    steps: u64,
    /// The output format
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
    /// GitHub's annotations of regressions on standard output, and the table on standard error
    Github,
}

/// The comparison: two ptxas, and their results for each file.
struct Report {
    toolchains: [Toolchain; 2],
    files: Vec<FilePair>,
    /// Relative change above which a figure is worse.
    tolerance: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    if !(0.0..=1_000.0).contains(&arguments.tolerance) {
        let problem = format!("--tolerance {}: it is not a percentage", arguments.tolerance);
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

/// Compares all files, several at a time. The result does not depend on the order of completion.
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
    /// Returns whether something got worse.
    fn is_worse(&self) -> bool {
        let is_worse =
            |file: &FilePair| file.is_refused() || file.kernels.iter().any(|kernel| kernel.is_worse(self.tolerance));
        self.files.iter().any(is_worse)
    }

    /// Returns whether something could not be compared.
    fn is_open(&self) -> bool {
        let is_open = |file: &FilePair| {
            file.failures.iter().any(Option::is_some)
                || !file.unread.is_empty()
                || file.kernels.iter().any(|kernel| !kernel.is_comparable())
        };
        self.files.iter().any(is_open)
    }
}
