//! `nvptx-ra tune`: the best way to compile each kernel, with ptxas itself as the judge.
//!
//! In the order of the files:
//! * [`code`]: what the search asks of code, wherever that comes from: [`text`], PTX; and where there is LLVM:
//!   * `ir`: LLVM IR;
//!   * `compiler`: the module, and each kernel as a module of its own, compiled in process;
//!   * `branches`, `fork_server`: what variants have in common, done once;
//! * [`process`], [`judge`]: ptxas and the disassembler; what they tell of each kernel: `ptx`, [`figures`],
//!   [`answer`], with what [`crate::machine`] reads; [`benchmark`]: the user's own judge;
//! * [`stock`]: the code without the passes, where the search starts;
//! * [`variant`], [`search`]: what is tried on a kernel, and what is best;
//! * [`rounds`], [`turns`]: all kernels at once, each at its own pace, until the budget is spent;
//! * [`winners`], [`findings`], [`agreement`]: the best variant of a kernel, compared with stock by emulation;
//! * [`compose`]: the best of each in one module, judged once more;
//! * [`graph`], [`edge`]: the same runs on other machines;
//! * [`request`]: the search as another command asks for it;
//! * [`progress`]: what is said while it runs; [`print`], [`page`]: what is said in the end; [`outputs`]: where it goes.

pub(crate) mod agreement;
mod answer;
mod benchmark;
#[cfg(feature = "llvm")]
mod branches;
mod code;
#[cfg(feature = "llvm")]
mod compiler;
mod compose;
pub(crate) mod edge;
mod figures;
mod findings;
#[cfg(feature = "llvm")]
pub(crate) mod fork_server;
mod graph;
#[cfg(feature = "llvm")]
mod ir;
mod judge;
mod optimisations;
mod outputs;
mod page;
mod print;
mod process;
mod progress;
#[cfg(feature = "llvm")]
mod ptx;
pub(crate) mod request;
mod rounds;
mod search;
mod stock;
mod text;
mod turns;
mod variant;
mod winners;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nvptx_ra::error::Error;
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::ptx::Module;
use nvptx_ra::target::machine::Architecture;

use self::benchmark::Benchmark;
#[cfg(feature = "llvm")]
use self::branches::Servers;
use self::code::Code;
#[cfg(feature = "llvm")]
use self::compiler::Compiler;
use self::figures::{Allowance, Measure, SHARED_COST, preference};
#[cfg(feature = "llvm")]
use self::ir::Ir;
use self::judge::{Judge, Tools};
use self::progress::{Course, Progress};
use self::rounds::{Budget, Search};
use self::search::Aim;
use self::stock::{Judges, Stock, Wanted};
use self::text::Text;
#[cfg(feature = "llvm")]
use crate::codegen::Settings;
use crate::dynamic_shared::DynamicShared;
use crate::input::Input;
use crate::{input, interrupt, ptxas};

/// What the search takes.
#[cfg(feature = "llvm")]
const KINDS: [InputKind; 4] = [InputKind::Assembly, InputKind::Bitcode, InputKind::Ptx, InputKind::Text];
/// What the search takes.
#[cfg(not(feature = "llvm"))]
const KINDS: [InputKind; 2] = [InputKind::Ptx, InputKind::Text];

/// What is said of Ctrl-C where the best so far is kept.
const KEEPS: &str = "nvptx-ra: interrupted; what was found so far is written. Ctrl-C again writes nothing";

/// The processor, where neither the user nor the code names one.
const DEFAULT_CPU: &str = "sm_90";

/// Search for the best way to compile each kernel, with ptxas as the judge; the result is never worse than stock
///
/// Stock is the code without the passes: LLVM's own code of LLVM IR, and PTX as it is given. A variant counts only if it
/// is no worse than stock in each of three figures: bytes spilled, warps that an
/// SM holds, and machine instructions. Among the variants that count, the fewest bytes spilled win, then the most
/// warps, then the fewest accesses of local memory, then the fewest instructions. A spilled byte weighs ten times more
/// for each loop around it, and `--shared-cost` as much in shared memory. Ctrl-C ends the search and writes nothing,
/// unless --keep-partial is given.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// LLVM IR, as text or bitcode, or PTX of any compiler, recognised by its content; - is standard input. A build without
    /// LLVM takes PTX alone
    input: PathBuf,
    /// Where the PTX goes; - is standard output. Unless given, the input's name with .ptx, or with .tuned.ptx if the input
    /// is PTX
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// The processor. Unless given, the one that the PTX names, or sm_90
    #[arg(long)]
    cpu: Option<String>,
    #[cfg(feature = "llvm")]
    #[command(flatten)]
    settings: Settings,
    /// How many variants of each kernel ptxas judges, beside stock and the result
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Start no round of runs after this many seconds. The result then depends on the machine
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// What changes at random are drawn by
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u32,
    /// Tune only the kernels whose name contains this text; repeat for more. The other kernels stay as they are
    #[arg(long, value_name = "TEXT")]
    kernel: Vec<String>,
    /// Bytes of dynamic shared memory of the kernels whose name contains KERNEL, or of all kernels; repeat for more. If
    /// several fit a kernel, the last one counts. With a large size, more registers cost no warp
    #[arg(long, value_name = "[KERNEL=]BYTES")]
    dynamic_shared: Vec<DynamicShared>,
    /// Threads of a block of the kernels that do not say how many. A kernel that keeps values in shared memory says so from
    /// then on: a launch of larger blocks fails
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Allow variants with fewer warps on an SM than stock; --run always allows them
    #[arg(long)]
    allow_occupancy_loss: bool,
    /// Allow variants with more machine instructions than stock, which spills to shared memory need; --run always
    /// allows them
    #[arg(long)]
    allow_more_instructions: bool,
    /// A benchmark that decides between the variants that count: a shell command, in which {cubin} stands for a file
    /// with the machine code and {kernel} for the kernel's name. The last number in its last line of output is the
    /// result; less is better. A variant wins only if it beats stock by more than the spread of the results
    #[arg(long, value_name = "CMD")]
    run: Option<String>,
    /// How often --run measures each variant; the median counts
    #[arg(long, value_name = "N", default_value_t = 5, requires = "run",
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,
    /// How long one measurement by --run may take
    #[arg(long, value_name = "S", default_value_t = 60, requires = "run",
        value_parser = clap::value_parser!(u64).range(1..))]
    run_limit: u64,
    /// Do not compare what wins with stock. Unless given, the best variant of each kernel runs on the CPU as stock does, and
    /// a variant that computes something else is reported and does not win
    #[arg(long)]
    no_compare: bool,
    /// The order in which the figures are compared; figures that are not named come last
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_enum,
        default_value = "spills,warps,local,instructions"
    )]
    prefer: Vec<Measure>,
    /// What a byte costs that moves to or from a slot in shared memory, where one of local memory costs 1
    #[arg(long, value_name = "X", default_value_t = SHARED_COST, value_parser = shared_cost)]
    shared_cost: f64,
    /// How many runs at a time [default: the number of processors]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// How long LLVM takes for a kernel, at least, whose variants are compiled by a process that forks for each of them
    #[cfg(feature = "llvm")]
    #[arg(long, value_name = "MS", default_value_t = 200, hide = true)]
    fork_from: u64,
    /// A folder that keeps the results of ptxas, so that a later search runs only what is new
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// Run nothing, and write the next runs of ptxas as a Ninja graph instead, for other machines. Ninja puts the
    /// results into the cache. Repeat until nothing is left to run; the same search without --ninja then finds all
    /// results
    #[arg(long, value_name = "FILE", requires = "cache", conflicts_with_all = ["run", "seconds"])]
    ninja: Option<PathBuf>,
    /// Write the choices to this file, which -nvptx-ra-profile=FILE replays, and for PTX `nvptx-ra ptx --profile FILE`
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Also write a page for a browser: each kernel before and after, what each axis of the search won, and its course
    #[arg(long, value_name = "FILE", conflicts_with = "ninja")]
    html: Option<PathBuf>,
    /// On Ctrl-C, write the best that was found so far; the exit code is 130. A second Ctrl-C writes nothing
    #[arg(long, conflicts_with = "ninja")]
    keep_partial: bool,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let start = Instant::now();
    interrupt::watch()?;
    arguments.cpu.as_deref().map(Architecture::by_name).transpose()?;
    let input = Input::open(&arguments.input, "tune", &KINDS)?;
    let is_ptx = input.kind == InputKind::Ptx || cfg!(not(feature = "llvm"));
    let content = input.content()?;
    outputs::check(arguments, is_ptx)?;
    let tools = Tools::find();
    let name = input::name(&arguments.input);
    let named = if is_ptx { Module::read(&name, &content)?.target().to_owned() } else { String::new() };
    let cpu = arguments.cpu.clone().unwrap_or(if named.is_empty() { DEFAULT_CPU.to_owned() } else { named });
    let architecture = Architecture::by_name(&cpu)?;
    ptxas::check_processor(&tools.ptxas, &cpu)?;
    #[cfg(feature = "llvm")]
    let servers = Servers::new(Duration::from_millis(arguments.fork_from))?;
    let code: Box<dyn Code> = match is_ptx {
        #[cfg(feature = "llvm")]
        false => Box::new(Ir::new(Compiler::new(&content, &arguments.input, &arguments.settings, &cpu)?, &servers)),
        _ => Box::new(Text::new(content, &name, &cpu)?),
    };
    let benchmark = arguments
        .run
        .as_ref()
        .map(|command| Benchmark::new(command, arguments.repetitions, Duration::from_secs(arguments.run_limit)));
    let benchmark = benchmark.transpose()?;
    let cache = arguments.cache.as_deref();
    let judge = match cache.filter(|_| arguments.ninja.is_some()) {
        Some(cache) => Judge::planning(tools, &cpu, cache)?,
        None => Judge::new(tools, &cpu, cache, benchmark.is_some())?,
    };
    let aim = Aim {
        architecture,
        allowance: Allowance {
            fewer_warps: arguments.allow_occupancy_loss || benchmark.is_some(),
            more_instructions: arguments.allow_more_instructions || benchmark.is_some(),
        },
        seed: arguments.seed,
        preference: preference(&arguments.prefer),
        shared_cost: arguments.shared_cost,
    };
    let budget = Budget {
        runs: arguments.runs as usize,
        runs_for_spills: arguments.runs as usize,
        until: arguments.seconds.map(|seconds| start + Duration::from_secs(seconds)),
        jobs: arguments.jobs.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1),
    };
    let judges = Judges {
        judge: &judge,
        benchmark: benchmark.as_ref(),
        aim: &aim,
        threads: arguments.threads,
        dynamic_shared: &arguments.dynamic_shared,
        jobs: budget.jobs,
    };
    let searched = search(arguments, is_ptx, &*code, judges, budget, start);
    let result = searched.and_then(|(search, is_cut)| match &arguments.ninja {
        _ if interrupt::is_interrupted() => Ok(None),
        Some(path) => graph::write_step(&search, &judge, path).map(Some),
        None => outputs::write(arguments, &search, is_ptx, is_cut),
    });
    match result {
        Ok(Some(code)) => Ok(code),
        Err(error) if !interrupt::is_interrupted() => Err(error),
        Ok(None) | Err(_) => {
            say!("nvptx-ra: interrupted; nothing is written. With --cache FOLDER, a later search continues from here");
            Ok(interrupt::exit_code())
        }
    }
}

/// Reads --shared-cost.
fn shared_cost(text: &str) -> Result<f64, String> {
    let cost = text.parse().ok().filter(|cost| (0.25..=1.0).contains(cost));
    cost.ok_or_else(|| "is no number from 0.25 to 1".to_owned())
}

/// Searches. Interrupted, or without the answers that it needs, it ends early. Also returns whether the search was cut by
/// an interruption and what it found is to be kept.
fn search<'a>(
    arguments: &Arguments,
    is_ptx: bool,
    code: &'a dyn Code,
    judges: Judges<'a>,
    budget: Budget,
    start: Instant,
) -> Result<(Search<'a>, bool), Error> {
    let wanted = Wanted::Parts(&arguments.kernel);
    let Stock { kernels, slices, notes } = stock::kernels(code, &arguments.input, &wanted, judges)?;
    let Judges { judge, benchmark, aim, .. } = judges;
    let mut search = Search { code, judge, benchmark, aim: *aim, kernels, slices, budget };
    if interrupt::is_interrupted() {
        return Ok((search, false));
    }
    notes.iter().for_each(|note| say!("{note}"));
    if judge.is_waiting() {
        return Ok((search, false));
    }
    let progress = Progress::new(start, budget.until, &search.kernels, budget.runs);
    if arguments.keep_partial {
        interrupt::answer_first(KEEPS);
    }
    search.run(&|kernel, judged, is_over| {
        progress.note(kernel, Course { judged, is_over, best: kernel.best(aim).1.spill_bytes() });
    });
    let is_cut = interrupt::is_interrupted() && arguments.keep_partial;
    if arguments.keep_partial {
        interrupt::tolerate_first();
    }
    if interrupt::is_interrupted() || judge.is_waiting() {
        return Ok((search, false));
    }
    progress.end();
    if !arguments.no_compare {
        winners::compare(&mut search, arguments.threads, &outputs::keep(arguments, is_ptx));
        winners::warnings(&search).for_each(|warning| say!("{warning}"));
    }
    print::losses(&search);
    print::spills_for_warps(&search);
    Ok((search, is_cut))
}
