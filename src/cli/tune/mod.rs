//! `nvptx-ra tune`: the best way to compile each kernel, with ptxas itself as the judge.
//!
//! The search itself is [`nvptx_ra::tune`], which asks. Here are those who answer, in the order of the files:
//! * [`code`]: what the search asks of code, wherever that comes from: [`text`], PTX; and where there is LLVM:
//!   * `ir`: LLVM IR;
//!   * `compiler`: the module, and each kernel as a module of its own, compiled in process;
//!   * `branches`, `fork_server`: what variants have in common, done once;
//! * [`linked`]: other compilers' code beside our own;
//!   * `ptx`: the kernels in what LLVM prints;
//! * [`process`], [`judge`]: who says what ptxas makes of PTX; [`benchmark`]: the user's own judge;
//! * [`tuning`]: a search with the code and the judges;
//! * [`stock`]: the code without the passes, where the search starts;
//! * [`work_queue`], [`rounds`]: all kernels at once, each at its own pace, until the effort is spent;
//! * [`winners`], [`agreement`]: the best variant of a kernel, compared with stock by emulation; [`predict`]: its time beside
//!   stock's;
//! * [`driver`]: all of this from stock to the winners, for this command and for [`request`];
//! * [`compose`]: the best of each in one module, judged once more;
//! * [`graph`], [`judge_command`]: the same runs on other machines;
//! * [`measure`]: what counts first, as an option;
//! * [`trials`]: what recipes are learned from;
//! * [`request`]: the search as another command asks for it;
//! * [`progress`]: what is said while it runs; [`print`], [`page`]: what is said in the end; [`outputs`]: where it goes.

pub(crate) mod agreement;
mod assembled_stock;
mod benchmark;
#[cfg(feature = "llvm")]
mod branches;
mod code;
#[cfg(feature = "llvm")]
mod compiler;
mod compose;
mod cpu_time;
mod driver;
#[cfg(feature = "llvm")]
pub(crate) mod fork_server;
mod graph;
#[cfg(feature = "llvm")]
mod ir;
mod judge;
pub(crate) mod judge_command;
pub(crate) mod kernel_results;
mod linked;
mod measure;
#[cfg(feature = "llvm")]
pub(crate) mod optimise;
mod outputs;
mod page;
pub(crate) mod predict;
mod print;
mod process;
mod progress;
#[cfg(feature = "llvm")]
mod ptx;
pub(crate) mod request;
mod rounds;
mod stock;
mod text;
mod trials;
mod tuning;
pub(crate) mod verdict;
mod winners;
mod work_queue;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::ptx::Module;
use nvptx_ra::target::machine::{Architecture, SHARED_COST};
use nvptx_ra::tune::figures::{Allowance, preference};
use nvptx_ra::tune::kernel::Kernel;
use nvptx_ra::tune::objective::{Effort, Objective, RunLimits};
use nvptx_ra::tune::search::Search;

use self::benchmark::Benchmark;
#[cfg(feature = "llvm")]
use self::branches::Servers;
use self::code::Code;
#[cfg(feature = "llvm")]
use self::compiler::Compiler;
use self::driver::{EarlyStop, Listener, Plan, SearchResult};
#[cfg(feature = "llvm")]
use self::ir::Ir;
use self::judge::Judge;
use self::judge::cached::Cached;
use self::judge::planned::Planned;
use self::judge::ptxas::{Ptxas, Tools};
use self::linked::LinkedCode;
use self::measure::NamedMeasure;
use self::progress::{KernelProgress, Progress};
use self::stock::{Conditions, KernelSelection};
use self::text::Text;
use self::tuning::{Judges, SearchLimits, Tuning};
#[cfg(feature = "llvm")]
use crate::codegen::{self, Optimise, Settings};
use crate::dynamic_shared::DynamicShared;
use crate::input::Input;
use crate::ptx::read_others;
use crate::threads::Threads;
use crate::triton;
use crate::{input, interrupt, ptxas};

/// What the search takes.
#[cfg(feature = "llvm")]
const KINDS: [InputKind; 4] = [InputKind::Assembly, InputKind::Bitcode, InputKind::Ptx, InputKind::Text];
/// What the search takes.
#[cfg(not(feature = "llvm"))]
const KINDS: [InputKind; 2] = [InputKind::Ptx, InputKind::Text];

/// What is said of Ctrl-C where the best so far is kept.
const KEEPS: &str = "nvptx-ra: interrupted; what was found so far is written. Ctrl-C again writes nothing";

/// What is said of Ctrl-C where nothing is kept: ahead of the first result, and of a second Ctrl-C.
const INTERRUPTED: &str =
    "nvptx-ra: interrupted; nothing is written. With --cache FOLDER, a later search continues from here";

/// The processor, where neither the user nor the code names one.
const DEFAULT_CPU: &str = "sm_90";

/// Search for the best way to compile each kernel, with ptxas as the judge; the result is never worse than stock
///
/// Stock is the code without the passes: LLVM's own code of LLVM IR, and PTX as it is given. A variant counts only if it
/// is no worse than stock in each of three figures: bytes spilled, warps that an
/// SM holds, and machine instructions. Among the variants that count, the fewest bytes spilled win, then the most
/// warps, then the fewest accesses of local memory, then the fewest instructions. A spilled byte weighs ten times more
/// for each loop around it, and `--shared-cost` as much in shared memory. Ctrl-C ends the search and writes the best that was
/// found so far; the exit code is 130. A second Ctrl-C writes nothing.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// LLVM IR, as text or bitcode, or PTX of any compiler, recognised by its content; - is standard input. A build without
    /// LLVM takes PTX alone
    input: PathBuf,
    /// Where the PTX goes; - is standard output. Unless given, the input's name with .ptx, or with .tuned.ptx if the input
    /// is PTX or Triton's code
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// PTX that another compiler made of the same source; repeat for more. Its kernels of the same source are further
    /// variants, with all choices that work on PTX
    #[arg(long, value_name = "FILE")]
    also: Vec<PathBuf>,
    /// The processor. Unless given, the one that the PTX names or Triton names beside its code, or sm_90
    #[arg(long)]
    cpu: Option<String>,
    #[cfg(feature = "llvm")]
    #[command(flatten)]
    settings: Settings,
    /// Whether LLVM's optimisations run on the module first, as clang runs them. Of code that nothing has optimised, as
    /// `clang -O3 -Xclang -disable-llvm-passes -emit-llvm` writes it, the search also tries what is inlined and unrolled
    #[cfg(feature = "llvm")]
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Optimise::Auto)]
    optimise: Optimise,
    /// How many variants of each kernel ptxas judges, beside stock and the result
    #[arg(long, value_name = "N", default_value_t = RunLimits::RUNS, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Instead of --runs: what the runs of ptxas on variants may cost, as so many times what ptxas takes for the kernels that are
    /// searched, or half a second if that is more. It is counted by rule, so that the result does not depend on the machine
    #[arg(long, value_name = "X", conflicts_with = "runs", value_parser = effort)]
    effort: Option<f64>,
    /// Start no round of runs after this many seconds, and write the best that was found so far. The result then depends on the
    /// machine
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// What changes at random are drawn by
    #[arg(long, value_name = "N", default_value_t = Objective::SEED)]
    seed: u32,
    /// Tune only the kernels whose name contains this text; repeat for more. The other kernels stay as they are
    #[arg(long, value_name = "TEXT")]
    kernel: Vec<String>,
    /// Bytes of dynamic shared memory of the kernels whose name contains KERNEL, or of all kernels; repeat for more. If
    /// several fit a kernel, the last one counts. With a large size, more registers cost no warp
    #[arg(long, value_name = "[KERNEL=]BYTES")]
    dynamic_shared: Vec<DynamicShared>,
    /// Threads of a block of the kernels whose name contains KERNEL, or of all kernels, where they do not say how many; repeat
    /// for more. If several fit a kernel, the last one counts. A kernel that keeps values in shared memory says so from then on: a
    /// launch of larger blocks fails
    #[arg(long, value_name = "[KERNEL=]N")]
    threads: Vec<Threads>,
    /// Allow variants with fewer warps on an SM than stock; --run always allows them
    #[arg(long)]
    allow_occupancy_loss: bool,
    /// Allow variants that spill where stock does not, if fewer bytes move to and from local memory in all: an array that moves to
    /// registers may take more of them than there are
    #[arg(long)]
    allow_spills_for_arrays: bool,
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
    /// a variant that computes something else is reported and does not win. Without comparisons, only what the checker proves wins
    #[arg(long)]
    no_compare: bool,
    /// Allow variants that could not be compared with stock and that no proof covers: LLVM's optimisations, or another compiler, had
    /// a part in them
    #[arg(long)]
    allow_uncompared: bool,
    /// The order in which the figures are compared; figures that are not named come last
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_enum,
        default_value = "spills,warps,local,instructions"
    )]
    prefer: Vec<NamedMeasure>,
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
    /// An option of former versions: what it asked for is always done now
    #[arg(long, hide = true)]
    keep_partial: bool,
    /// Try each recipe on each kernel of PTX that spills or lacks warps, and add what came of it to FILE, a JSON object on a line for
    /// each kernel: what the order of recipes is learned from
    #[arg(long, value_name = "FILE", hide = true, conflicts_with_all = ["ninja", "effort"])]
    trials: Option<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let start = Instant::now();
    if arguments.keep_partial {
        let problem =
            "--keep-partial is no option any more: an interrupted search always writes the best that it has found";
        return Err(Error::new(ErrorKind::Option, problem, "leave it out"));
    }
    interrupt::watch()?;
    interrupt::end_anyway(INTERRUPTED);
    arguments.cpu.as_deref().map(Architecture::by_name).transpose()?;
    let input = Input::open(&arguments.input, "tune", &KINDS)?;
    let is_ptx = input.kind == InputKind::Ptx || cfg!(not(feature = "llvm"));
    let content = input.content()?;
    let output = outputs::output_of(arguments, is_ptx);
    outputs::check(arguments, &output)?;
    let tools = Tools::find();
    let name = input::name(&arguments.input);
    let named = if is_ptx { Module::read(&name, &content)?.target().to_owned() } else { String::new() };
    let triton = triton::beside(&arguments.input);
    let of_triton = triton.as_ref().map(triton::Kernel::ptxas_options).unwrap_or_default();
    #[cfg(feature = "llvm")]
    let triton = triton.filter(|_| !is_ptx);
    #[cfg(feature = "llvm")]
    let named = triton.as_ref().and_then(triton::Kernel::cpu).unwrap_or(named);
    #[cfg(feature = "llvm")]
    let settings = arguments.settings.of_triton(triton.as_ref(), arguments.cpu.as_deref());
    let cpu = arguments.cpu.clone().unwrap_or(if named.is_empty() { DEFAULT_CPU.to_owned() } else { named });
    let architecture = Architecture::by_name(&cpu)?;
    ptxas::check_processor(&tools.ptxas, &cpu)?;
    #[cfg(feature = "llvm")]
    let servers = Servers::new(Duration::from_millis(arguments.fork_from))?;
    let code: Box<dyn Code> = match is_ptx {
        #[cfg(feature = "llvm")]
        false => {
            let Arguments { input, optimise, .. } = arguments;
            codegen::end_after_fatal_errors(&name, &cpu);
            Box::new(Ir::new(Compiler::new(&content, input, &settings, &cpu, *optimise)?, &servers))
        }
        _ => Box::new(Text::new(content, &name, &cpu)?),
    };
    let code = with_others(arguments, code)?;
    let benchmark = arguments
        .run
        .as_ref()
        .map(|command| Benchmark::new(command, arguments.repetitions, Duration::from_secs(arguments.run_limit)));
    let benchmark = benchmark.transpose()?;
    let ptxas = Ptxas::new(tools, &cpu, &of_triton)?;
    let cache = arguments.cache.as_deref();
    let planned = cache.filter(|_| arguments.ninja.is_some()).map(|cache| Planned::new(&ptxas, cache));
    let behind: &dyn Judge = planned.as_ref().map_or(&ptxas, |planned| planned);
    let cached = cache.map(|cache| Cached::new(cache, &ptxas, behind)).transpose()?;
    let judge: &dyn Judge = cached.as_ref().map_or(behind, |cached| cached);
    let benchmark = benchmark.as_ref();
    let judges = Judges { judge, benchmark, ptxas: &ptxas, stock: None };
    let allowance = Allowance {
        fewer_warps: arguments.allow_occupancy_loss || benchmark.is_some(),
        spills_for_arrays: arguments.allow_spills_for_arrays,
        more_instructions: if arguments.allow_more_instructions || benchmark.is_some() {
            Allowance::ANY_INSTRUCTIONS
        } else {
            0
        },
        uncompared: arguments.allow_uncompared,
    };
    let objective = Objective {
        seed: arguments.seed,
        preference: preference(&arguments.prefer.iter().map(|named| named.0).collect::<Vec<_>>()),
        shared_cost: arguments.shared_cost,
        ..Objective::new(architecture, allowance)
    };
    let search_limits = SearchLimits::new(start, arguments.seconds.map(Duration::from_secs), arguments.jobs);
    let conditions = Conditions {
        judges,
        objective: &objective,
        threads: &arguments.threads,
        dynamic_shared: &arguments.dynamic_shared,
        jobs: search_limits.jobs,
        has_share: arguments.effort.is_some(),
    };
    let searched = search(arguments, &output, &*code, conditions, search_limits, start);
    let result = searched.and_then(|(tuning, early_stop)| match (&arguments.ninja, &planned) {
        _ if interrupt::is_interrupted() => Ok(None),
        (Some(path), Some(planned)) => graph::write_step(&tuning, planned, path).map(Some),
        _ => outputs::write(arguments, &tuning, &output, early_stop),
    });
    match result {
        Ok(Some(code)) => Ok(code),
        Err(error) if !interrupt::is_interrupted() => Err(error),
        Ok(None) | Err(_) => {
            say!("{INTERRUPTED}");
            Ok(interrupt::exit_code())
        }
    }
}

/// Adds other compilers' code, and says which of it is not taken.
fn with_others<'a>(arguments: &Arguments, code: Box<dyn Code + 'a>) -> Result<Box<dyn Code + 'a>, Error> {
    if arguments.also.is_empty() {
        return Ok(code);
    }
    let others = read_others(&arguments.also, "tune")?;
    let (code, notes) = LinkedCode::new(code, others, &arguments.kernel)?;
    notes.iter().for_each(|note| say!("{note}"));
    Ok(Box::new(code))
}

/// Reads --shared-cost.
fn shared_cost(text: &str) -> Result<f64, String> {
    let cost = text.parse().ok().filter(|cost| (0.25..=1.0).contains(cost));
    cost.ok_or_else(|| "is no number from 0.25 to 1".to_owned())
}

/// Reads --effort.
fn effort(text: &str) -> Result<f64, String> {
    let times = text.parse().ok().filter(|times| (0.0..=Effort::MOST_TIMES).contains(times));
    times.ok_or_else(|| format!("is no number from 0 to {}", Effort::MOST_TIMES))
}

/// Tells a user at a terminal how a search goes on.
struct Terminal<'a> {
    start: Instant,
    until: Option<Instant>,
    objective: &'a Objective,
    runs: usize,
    keeps_best: bool,
    /// Whether trials are recorded.
    records: bool,
    progress: Mutex<Option<Progress>>,
}

impl Terminal<'_> {
    fn progress(&self) -> MutexGuard<'_, Option<Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Terminal<'_> {
    fn note(&self, line: &str) {
        say!("{line}");
    }

    fn begin(&self, search: &Search) {
        *self.progress() = Some(Progress::new(self.start, self.until, search.kernels.iter(), self.runs));
        if self.keeps_best {
            interrupt::answer_first(KEEPS);
        }
    }

    fn admits(&self, kernel: &mut Kernel) -> bool {
        !self.records || kernel.stock.sass.stack_traffic > 0 || kernel.traits(self.objective).may_win_warps
    }

    fn note_round(&self, kernel: &Kernel) {
        let course = KernelProgress::of(kernel, self.objective, self.runs);
        self.progress().iter().for_each(|progress| progress.note(kernel, course));
    }

    fn end(&self, _cut: Option<EarlyStop>) {
        self.progress().take().into_iter().for_each(Progress::end);
    }
}

/// Searches. Interrupted for good, or without the answers that it needs, it says nothing of what came of it.
fn search<'a>(
    arguments: &Arguments,
    output: &Path,
    code: &'a dyn Code,
    conditions: Conditions<'a>,
    search_limits: SearchLimits,
    start: Instant,
) -> Result<(Tuning<'a>, Option<EarlyStop>), Error> {
    let share = |times| RunLimits::of_effort(Effort { times, file: None, assembles_again: true });
    let run_limits = arguments.effort.map_or(RunLimits::of_runs(arguments.runs as usize), share);
    // A step of a graph is written whole or not at all.
    let keeps_best = arguments.ninja.is_none();
    let (until, objective, runs, progress) =
        (search_limits.until, conditions.objective, run_limits.runs, Mutex::new(None));
    let records = arguments.trials.is_some();
    let terminal = Terminal { start, until, objective, runs, keeps_best, records, progress };
    let plan = Plan {
        code,
        path: &arguments.input,
        wanted: KernelSelection::Parts(&arguments.kernel),
        conditions,
        run_limits,
        search_limits,
        keep: outputs::keep(arguments, output),
        compares: !arguments.no_compare && arguments.trials.is_none(),
        keeps_best,
        trials: arguments.trials.as_deref(),
    };
    let SearchResult { tuning, early_stop, is_void } = driver::search(plan, &terminal)?;
    if !is_void {
        print::losses(&tuning.search);
        print::blocks_that_were_drawn(&tuning.search);
        print::small_comparisons(&tuning.search);
        print::spills_for_warps(&tuning.search);
        print::warps_for_spills(&tuning.search);
        print::accesses_for_spills(&tuning.search);
        print::what_is_not_allowed(&tuning.search);
        winners::slower(&tuning.search).iter().for_each(|line| say!("{line}"));
    }
    Ok((tuning, early_stop))
}
