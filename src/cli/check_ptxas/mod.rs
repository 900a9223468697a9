//! `nvptx-ra check-ptxas`: whether ptxas computes what PTX says.
//!
//! * [`assembler`]: which ptxas, with which options; [`meaning`]: whether machine code computes what its PTX says;
//! * [`told`]: how it is told; [`reduction`], [`report`]: a difference made smaller, and the folder for a report.

mod assembler;
pub(crate) mod meaning;
mod reduction;
mod report;
mod told;

use std::path::PathBuf;
use std::process::ExitCode;

use nvptx_ra::emulate::Launches;
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::input_kind::InputKind;

use self::assembler::Assembler;
use self::meaning::{Code, Said, Text};
use crate::input::{self, Input};
use crate::run;

/// Run the kernels of PTX, and what ptxas makes of them, on the CPU, and say where the machine code computes something else
///
/// Each kernel runs as PTX and as the machine code of each ptxas with each set of options, on the same drawn launches. What
/// PTX leaves open is no difference: products that may be fused, errors of approximate functions, division by zero, and
/// whatever depends on the order of threads or on undefined values. The exit status is 1 if a kernel differs, and 2 if none
/// differs and of a kernel nothing can be said.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Files of PTX
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// A ptxas, again for several; unless given, the one on PATH or in CUDA_PATH
    #[arg(long = "ptxas", value_name = "PATH")]
    programs: Vec<PathBuf>,
    /// Options of ptxas, again for several sets: --options=-O1 --options='-O3 -fmad=false'
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    options: Vec<String>,
    /// The kernel, again for several; unless given, all kernels
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// The number of launches of each kernel
    #[arg(long, default_value_t = 4)]
    launches: u32,
    /// What launches and the order of threads are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most instructions of warps that the launches of a kernel may run, all codes together
    #[arg(long, value_name = "STEPS", default_value_t = 40_000_000)]
    steps_in_all: u64,
    /// Make the text of the first difference of each kernel smaller, and write a folder for a report into this folder
    #[arg(long, value_name = "FOLDER")]
    reduce: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Launches with parameters near the ends of their types.
const AT_LIMITS: u32 = 6;
/// The most launches behind the drawn ones, for statements that did not run.
const MORE: u32 = 16;

/// What is said of a kernel.
struct Kernel {
    name: String,
    /// For each assembler.
    said: Vec<Said>,
    /// The instruction that stores what differs, for each assembler.
    instructions: Vec<Option<String>>,
    /// Where its report is.
    report: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let assemblers = Assembler::all(&arguments.programs, &arguments.options)?;
    let (mut differs, mut is_open) = (false, false);
    let mut all = Vec::new();
    for path in &arguments.files {
        let kernels = checked(path, &assemblers, arguments)?;
        let of = |is: fn(&Said) -> bool| kernels.iter().flat_map(|kernel| &kernel.said).any(is);
        differs |= of(|said| matches!(said, Said::Different(_)));
        is_open |= of(|said| matches!(said, Said::NotComparable(_)));
        if arguments.json {
            all.push(told::as_json(path, &assemblers, &kernels));
        } else {
            super::print_text(&told::as_text(path, &assemblers, &kernels))?;
        }
    }
    if arguments.json {
        super::print(format!("{:#}\n", serde_json::Value::from(all)).as_bytes())?;
    }
    Ok(match (differs, is_open) {
        (true, _) => ExitCode::FAILURE,
        (_, true) => ExitCode::from(2),
        _ => ExitCode::SUCCESS,
    })
}

/// Checks the kernels of a file.
fn checked(path: &std::path::Path, assemblers: &[Assembler], arguments: &Arguments) -> Result<Vec<Kernel>, Error> {
    let bytes = Input::open(path, "check-ptxas", &[InputKind::Ptx, InputKind::Text])?.content()?;
    let name = input::name(path);
    let text = Text::read(&name, &bytes)?;
    let names = run::kernels(&text.program, &arguments.kernels, path)?;
    if names.is_empty() {
        return Err(Error::new(ErrorKind::View, format!("{name} has no kernel"), "name a file with kernels"));
    }
    let launches = Launches {
        limits: AT_LIMITS,
        more: MORE,
        count: arguments.launches,
        seed: arguments.seed,
        most_steps_in_all: arguments.steps_in_all,
        ..Launches::default()
    };
    let sets = text.sets(&launches);
    let mut codes = Vec::new();
    for assembler in assemblers {
        codes.push(match assembler.assemble(&bytes, &text.cpu)? {
            Ok(cubin) => Ok(Code::read(cubin, !assembler.fuses_nothing())?),
            Err(reason) => Err(reason),
        });
    }
    let mut kernels = Vec::new();
    for name in names {
        let mut checked = text.checked(&name, &sets);
        let mut kernel = Kernel { name, said: Vec::new(), instructions: Vec::new(), report: None };
        for code in &codes {
            let said = match code {
                Ok(code) => checked.compare(code)?,
                Err(reason) => Said::NotComparable(reason.clone()),
            };
            let store = match &said {
                Said::Different(shown) => shown.difference.stores()[1],
                _ => None,
            };
            let instruction = store.and_then(|store| code.as_ref().ok()?.mnemonic(&kernel.name, store.line));
            kernel.instructions.push(instruction.map(str::to_owned));
            kernel.said.push(said);
        }
        if let Some(folder) = &arguments.reduce {
            kernel.report = reduction::reported(&bytes, &text, &kernel, assemblers, folder)?;
        }
        kernels.push(kernel);
    }
    Ok(kernels)
}
