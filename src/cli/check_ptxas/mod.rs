//! `nvptx-ra check-ptxas`: checks whether ptxas's machine code computes what PTX specifies.
//!
//! * [`assembler`]: versions of ptxas, and their options;
//! * [`format`]: verdicts as text and as JSON;
//! * [`reduction`], [`reduced_launch`]: reduce PTX that shows a difference, with its launch;
//! * [`report`]: writes a folder for a report.

mod assembler;
mod format;
mod reduced_launch;
mod reduction;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nvptx_ra::emulate::Launches;
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::sass::meaning::Approximation;

use self::assembler::Assembler;
use crate::input::{self, Input};
use crate::machine::program::{self, Loaded};
use crate::meaning::{AT_LIMITS, Code, Compared, Meaning, Text};
use crate::{releases, run};

/// Run kernels on the CPU, as PTX and as ptxas's machine code, and report where the machine code computes something
/// else
///
/// Each kernel runs as PTX and as the machine code of each ptxas with each set of options, on the same drawn launches.
/// Results that PTX does not specify exactly are no differences: products that may be fused, errors of approximate
/// functions, division by zero, and results that depend on the order of threads or on undefined values. The exit status
/// is 1 if a kernel differs, and 2 if none differs and some kernel cannot be compared.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Files of PTX
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// A ptxas; repeat for more. Unless this option or --release is given, the ptxas on PATH or in CUDA_PATH
    #[arg(long = "ptxas", value_name = "PATH")]
    programs: Vec<PathBuf>,
    /// Releases of ptxas: 12.8 is the newest build of 12.8, and 12.8.61 is exactly this build
    #[arg(long = "release", value_name = "RELEASE", value_delimiter = ',')]
    releases: Vec<String>,
    /// Fetch releases from PyPI that are missing in the folder of releases (NVPTX_RA_RELEASES, or
    /// ~/.cache/nvptx-ra/ptxas)
    #[arg(long)]
    download: bool,
    /// Options of ptxas; repeat for several sets: --options=-O1 --options='-O3 -fmad=false'
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    options: Vec<String>,
    /// A kernel; repeat for more. Unless given, all kernels
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// The number of launches of each kernel
    #[arg(long, default_value_t = 4)]
    launches: u32,
    /// The seed of launches and of the order of threads
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most warp instructions that the PTX of a kernel and the machine code of one ptxas may execute
    #[arg(long, value_name = "STEPS", default_value_t = 40_000_000)]
    steps_in_all: u64,
    /// Reduce the PTX of each kernel's first difference, and write a folder for a report into this folder
    #[arg(long, value_name = "FOLDER")]
    reduce: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The results for a kernel.
struct Kernel {
    name: String,
    /// One result for each assembler.
    compared: Vec<Compared>,
    /// The folder of the kernel's report, or the reason why there is no report; `None` if no report was requested.
    report: Option<Result<PathBuf, Error>>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let releases = arguments.releases.iter().map(|release| releases::ptxas(release, arguments.download));
    let programs = releases.chain(arguments.programs.iter().cloned().map(Ok));
    let assemblers = Assembler::all(&programs.collect::<Result<Vec<_>, _>>()?, &arguments.options)?;
    let (mut differs, mut is_open) = (false, false);
    let mut all = Vec::new();
    for path in &arguments.files {
        let kernels = checked(path, &assemblers, arguments)?;
        let said = || kernels.iter().flat_map(|kernel| &kernel.compared).map(|compared| &compared.meaning);
        differs |= said().any(Meaning::is_different);
        is_open |= said().any(|meaning| !meaning.is_comparable());
        if arguments.json {
            all.push(format::as_json(path, &assemblers, &kernels));
        } else {
            super::print_text(&format::as_text(path, &assemblers, &kernels))?;
        }
    }
    if arguments.json {
        super::print(format!("{:#}\n", serde_json::Value::from(all)).as_bytes())?;
    }
    Ok(super::exit_code(differs, is_open))
}

/// Checks the kernels of a file.
fn checked(path: &Path, assemblers: &[Assembler], arguments: &Arguments) -> Result<Vec<Kernel>, Error> {
    let bytes = Input::open(path, "check-ptxas", &[InputKind::Ptx, InputKind::Text])?.content()?;
    let name = input::name(path);
    let text = Text::read(&name, &bytes)?;
    let names = run::kernels(&text.program, &arguments.kernels, path)?;
    if names.is_empty() {
        return Err(Error::new(ErrorKind::View, format!("{name} has no kernel"), "name a file with kernels"));
    }
    let launches = Launches {
        limits: AT_LIMITS,
        count: arguments.launches,
        seed: arguments.seed,
        most_steps_in_all: arguments.steps_in_all,
        ..Launches::default()
    };
    let mut codes = Vec::new();
    for assembler in assemblers {
        let assembled = assembler.assemble(&bytes, &text.cpu)?;
        codes.push(match assembled {
            Ok(cubin) => match program::program(&cubin, assembler.release(), Approximation::Exact) {
                Ok(program) => Ok((program, cubin)),
                Err(error) => Err(format!("the machine code cannot be read: {}; {}", error.problem, error.remedy)),
            },
            Err(reason) => Err(reason),
        });
    }
    let mut kernels = Vec::new();
    for name in names {
        let mut checked = text.checked(&name, &launches);
        let mut kernel = Kernel { name, compared: Vec::new(), report: None };
        for (code, assembler) in codes.iter().zip(assemblers) {
            kernel.compared.push(match code {
                Ok((Loaded::Machine(machine), cubin)) => {
                    checked.compare(Code { machine, cubin, fuses: assembler.fuses() })?
                }
                Ok((Loaded::Ptx(_), _)) => Compared::open("ptxas wrote no machine code"),
                Err(reason) => Compared::open(reason.as_str()),
            });
        }
        if let Some(folder) = &arguments.reduce {
            kernel.report = reduction::reported(&bytes, &text, &kernel, assemblers, folder).transpose();
        }
        kernels.push(kernel);
    }
    Ok(kernels)
}
