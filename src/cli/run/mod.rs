//! `nvptx-ra run`: runs a kernel on the CPU and prints what it stores.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nvptx_ra::emulate::{Argument, Launches, Program, Stores};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::ptx::Module;
use nvptx_ra::sass::meaning::Approximation;

use crate::input::{self, Input};
use crate::machine::program::{self as machine, Loaded};

pub(crate) mod counted;

const REMEDY: &str = "see docs/emulate.md for what is modelled";

/// Run a kernel of a file of PTX or machine code on the CPU and print what it stores
///
/// Uninitialised memory has values drawn from the seed, which suit the kernel's use of them. Parameters that are not
/// given are drawn in the same way.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A file of PTX, or a cubin; - is standard input
    input: PathBuf,
    /// The kernel; optional if there is only one
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Count the machine instructions of a cubin that warps execute, by class and by block, with the sectors and passes
    /// of memory accesses
    #[arg(long, conflicts_with = "record")]
    count: bool,
    /// The blocks of the grid
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = shape)]
    grid: Option<[u32; 3]>,
    /// The threads of a block
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = shape)]
    block: Option<[u32; 3]>,
    /// The seed of memory, parameters and the order of threads
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The value of the next parameter, in order: a number, with a decimal point if it is a floating-point number, or _
    /// for a drawn value
    #[arg(long = "arg", value_name = "VALUE", value_parser = argument, allow_hyphen_values = true)]
    arguments: Vec<Argument>,
    /// The most warp instructions to execute
    #[arg(long, default_value_t = 400_000_000)]
    steps: u64,
    /// The most stored values to print
    #[arg(long, default_value_t = 64)]
    most: usize,
    /// Instead of printing, write the files with which a GPU can repeat the launch into this folder: launch.json with
    /// the arguments, and before.bin and after.bin with the memory that the kernel accesses
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
}

/// Parses up to three sizes separated by commas.
pub(crate) fn shape(text: &str) -> Result<[u32; 3], String> {
    let mut shape = [1; 3];
    let parts: Vec<&str> = text.split([',', 'x']).collect();
    if parts.len() > 3 {
        return Err("more than three sizes".into());
    }
    for (size, part) in shape.iter_mut().zip(parts) {
        *size = part.trim().parse().map_err(|_| format!("{part} is not a size"))?;
    }
    let most = shape.iter().try_fold(1u32, |all, &size| all.checked_mul(size));
    if most.is_none_or(|all| all == 0) { Err("a size is zero or too large".into()) } else { Ok(shape) }
}

/// Parses the value of a parameter.
pub(crate) fn argument(text: &str) -> Result<Argument, String> {
    if text == "_" {
        return Ok(Argument::Drawn);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).map(|value| Argument::Integer(value as i64)).map_err(|_| text.into());
    }
    if let Ok(value) = text.parse() {
        return Ok(Argument::Integer(value));
    }
    text.parse().map(Argument::Float).map_err(|_| format!("{text} is not a number"))
}

/// Loads the program of a file.
pub(crate) fn program(path: &Path, command: &str) -> Result<Loaded, Error> {
    let input = Input::open(path, command, &[InputKind::Ptx, InputKind::Text, InputKind::Cubin])?;
    let kind = input.kind;
    let content = input.content()?;
    let name = input::name(path);
    if kind == InputKind::Cubin {
        return machine::program(&content, &name, Approximation::Exact);
    }
    Ok(Loaded::Ptx(Program::new(&Module::read(&name, &content)?)))
}

/// Returns the wanted kernels, or all kernels if none are wanted.
pub(crate) fn kernels(program: &Program, asked: &[String], path: &Path) -> Result<Vec<String>, Error> {
    let all: Vec<String> = program.kernels().map(str::to_owned).collect();
    if asked.is_empty() {
        return Ok(all);
    }
    match asked.iter().find(|name| !all.contains(name)) {
        Some(name) => {
            let problem = format!("{} has no kernel {name}", input::name(path));
            Err(Error::new(ErrorKind::Option, problem, format!("choose one of {}", all.join(", "))))
        }
        None => Ok(asked.to_vec()),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let loaded = program(&arguments.input, "run")?;
    let program = loaded.program();
    let asked: Vec<String> = arguments.kernel.iter().cloned().collect();
    let kernels = kernels(program, &asked, &arguments.input)?;
    let [kernel] = kernels.as_slice() else {
        let problem = format!("{} has {} kernels", input::name(&arguments.input), kernels.len());
        return Err(Error::new(
            ErrorKind::Option,
            problem,
            format!("choose one with --kernel: {}", kernels.join(", ")),
        ));
    };
    let launches = Launches {
        count: 1,
        seed: arguments.seed,
        grid: arguments.grid,
        block: arguments.block,
        arguments: arguments.arguments.clone(),
        most_steps: arguments.steps,
        measures: arguments.count,
        ..Launches::default()
    };
    if let Some(folder) = &arguments.record {
        let record = nvptx_ra::emulate::record(program, kernel, &launches)
            .map_err(|reason| Error::new(ErrorKind::Pass, format!("{kernel}: no record: {reason}"), REMEDY))?;
        super::record::write(kernel, &record, folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    let begun = std::time::Instant::now();
    match nvptx_ra::emulate::run(program, kernel, &launches) {
        Ok(stores) => {
            log::info!("{} thread instructions in {:?}", stores.side.thread_steps, begun.elapsed());
            if arguments.count {
                let counts = loaded.counts(kernel, &stores.side).ok_or_else(|| no_machine_code(&arguments.input))?;
                return super::print_text(&counted::as_text(kernel, stores.shape, &counts));
            }
            super::print_text(&as_text(kernel, &stores, arguments.most, program))
        }
        Err(reason) => Err(Error::new(ErrorKind::Pass, format!("{kernel}: no result: {reason}"), REMEDY)),
    }
}

fn no_machine_code(path: &Path) -> Error {
    let problem = format!("{}: PTX has no machine instructions to count", input::name(path));
    Error::new(ErrorKind::Option, problem, "assemble it with ptxas, and name the cubin")
}

fn as_text(kernel: &str, stores: &Stores, most: usize, program: &Program) -> String {
    let [grid, block] = stores.shape;
    let mut text = format!("{kernel}: grid {grid:?}, block {block:?}\n");
    for (name, value) in &stores.parameters {
        _ = writeln!(text, "  {name} = {value:#x}");
    }
    let ([blocks, all_blocks], [statements, all]) = (stores.side.coverage.blocks, stores.side.coverage.statements);
    _ = writeln!(text, "  {blocks} of {all_blocks} blocks ran, {statements} of {all} statements");
    _ = writeln!(text, "  {} warp instructions, {} thread instructions", stores.side.steps, stores.side.thread_steps);
    for (name, count) in stores.side.hashed() {
        _ = writeln!(text, "  hashed {name}, executed {count} times by warps");
    }
    for store in stores.stores.iter().take(most) {
        let (address, value) = (store.address, store.text());
        _ = writeln!(text, "  {address:#x}: {value} by thread {} in {}", store.thread, program.place(store.line));
    }
    if stores.stores.len() > most {
        _ = writeln!(text, "  and {} more", stores.stores.len() - most);
    }
    text
}
