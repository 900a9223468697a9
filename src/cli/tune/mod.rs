//! `nvptx-ra tune`: the best way to compile each kernel, with ptxas itself as the judge.
//!
//! In the order of the files:
//! * [`compiler`]: the module with one variant for each kernel, in process;
//! * [`judge`]: ptxas and the disassembler; [`ptx`], [`figures`]: what they tell of each kernel;
//! * [`variant`], [`search`]: what is tried on a kernel, and what is best;
//! * [`rounds`]: all kernels at once, until the budget is spent;
//! * [`compose`]: the best of each in one module, judged once more;
//! * [`print`]: what is said in the end.

mod compiler;
mod compose;
mod figures;
mod judge;
mod print;
mod ptx;
mod rounds;
mod search;
mod variant;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::target::machine::Architecture;

use self::compiler::Compiler;
use self::compose::compose;
use self::figures::Figures;
use self::judge::Judge;
use self::rounds::{Budget, Search};
use self::search::{Aim, Kernel};
use self::variant::Variant;
use crate::codegen::{self, Settings};
use crate::compile::output_of;

/// Search for the best way to compile each kernel, with ptxas as the judge; never worse than LLVM without the passes
///
/// A variant counts only where it is no worse than LLVM's own code in each of bytes spilled, warps that an SM holds, and
/// machine instructions. Of those that count, the fewest bytes spilled win, then the most warps, the fewest accesses of
/// local memory, the fewest instructions.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// LLVM IR, as text or bitcode
    input: PathBuf,
    /// Where the PTX goes; - is standard output. Unless given, the input's name with .ptx
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// The processor
    #[arg(long, default_value = "sm_90")]
    cpu: String,
    #[command(flatten)]
    settings: Settings,
    /// How many variants of each kernel ptxas judges, beside LLVM's own code and the result
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Start no round of runs after so many seconds. What is found then depends on the machine
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// What changes at random are drawn by
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u32,
    /// Only the kernels whose name contains this; the others are left as LLVM makes them
    #[arg(long, value_name = "TEXT")]
    kernel: Option<String>,
    /// Allow variants with fewer warps on an SM than LLVM's own code has
    #[arg(long)]
    allow_occupancy_loss: bool,
    /// How many runs at a time; unless given, as many as there are processors
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Where results of ptxas are kept, so that a later search asks only for what is new
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// Writes the choices to this file, for -nvptx-ra-profile=FILE
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// One JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// How much longer than LLVM's own code a variant may take ptxas.
const TIMES_STOCK: u32 = 10;

/// How long a run of ptxas may take in any case.
const LEAST_LIMIT: Duration = Duration::from_secs(20);

/// How long ptxas may take on LLVM's own code.
const STOCK_LIMIT: Duration = Duration::from_secs(3600);

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let start = Instant::now();
    let architecture = Architecture::by_name(&arguments.cpu)?;
    let content = codegen::read(&arguments.input)?;
    let compiler = Compiler::new(&content, &arguments.input, &arguments.settings, &arguments.cpu)?;
    let judge = Judge::new(&arguments.cpu, arguments.cache.as_deref())?;
    let (kernels, took) = stock(arguments, &compiler, &judge, architecture)?;
    let jobs = arguments.jobs.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1);
    let mut search = Search {
        compiler: &compiler,
        judge: &judge,
        aim: Aim { architecture, allow_fewer_warps: arguments.allow_occupancy_loss, seed: arguments.seed },
        kernels,
        budget: Budget {
            runs: arguments.runs as usize,
            until: arguments.seconds.map(|seconds| start + Duration::from_secs(seconds)),
            jobs,
            limit: (took * TIMES_STOCK).max(LEAST_LIMIT),
        },
        lost: 0,
        first_loss: None,
    };
    search.run(&mut |search, judged| print::progress(search, judged, start))?;
    if let Some(problem) = &search.first_loss {
        eprintln!("nvptx-ra: {} of the variants are lost; the first: {problem}", search.lost);
    }
    let composed = compose(&search)?;
    let output = output_of(arguments.output.as_deref(), &arguments.input);
    if codegen::is_stream(&output) {
        super::print(&composed.ptx)?;
    } else {
        write_whole(&output, &composed.ptx)?;
    }
    if let Some(path) = &arguments.profile {
        write_whole(path, composed.profile.print()?.as_bytes())?;
    }
    let text = if arguments.json { print::json(&search, &composed) } else { print::table(&search, &composed) };
    if codegen::is_stream(&output) {
        eprint!("{text}");
        return Ok(ExitCode::SUCCESS);
    }
    super::print(text.as_bytes())
}

/// The kernels as LLVM compiles them, which is where the search starts, and how long ptxas took.
fn stock(
    arguments: &Arguments,
    compiler: &Compiler<'_>,
    judge: &Judge,
    architecture: &'static Architecture,
) -> Result<(Vec<Kernel>, Duration), Error> {
    let ptx = compiler.compile(&compiler.profile(|_| Some(&Variant::Stock)))?;
    let start = Instant::now();
    let judged = judge.judge(&ptx, STOCK_LIMIT).map_err(|problem| {
        Error::pass(format!("{problem}, on the code that LLVM makes without the passes"), "there is nothing to tune")
    })?;
    let took = start.elapsed();
    let texts = ptx::kernels(&String::from_utf8_lossy(&ptx));
    let is_wanted = |name: &str| arguments.kernel.as_ref().is_none_or(|wanted| name.contains(wanted.as_str()));
    let mut kernels = Vec::new();
    for (name, hash) in compiler.functions.iter().filter(|(name, _)| is_wanted(name)) {
        if let (Some(text), Some(&(real, sass))) = (texts.get(name), judged.get(name)) {
            let figures = Figures::new(real, sass, architecture, text.threads);
            kernels.push(Kernel::new(name, hash, text.threads, figures, text.fingerprint.clone()));
        }
    }
    if kernels.is_empty() {
        let wanted = arguments.kernel.as_ref().map(|wanted| format!(" whose name contains '{wanted}'"));
        let problem = format!("{}: no kernel{}", arguments.input.display(), wanted.unwrap_or_default());
        return Err(Error::new(ErrorKind::View, problem, "kernels have the calling convention ptx_kernel"));
    }
    Ok((kernels, took))
}

/// Writes a file as a whole or not at all: whoever reads it meanwhile, or after an interruption, finds the old one.
fn write_whole(path: &Path, content: &[u8]) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    let written = std::fs::write(&new, content).and_then(|()| std::fs::rename(&new, path));
    written.map_err(|error| {
        // Perhaps it was not made.
        let _ = std::fs::remove_file(&new);
        Error::file(path, &error)
    })
}
