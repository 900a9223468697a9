//! `nvptx-ra tune`: a search for the best variant of each kernel, with ptxas as the judge.
//!
//! The search itself is [`nvptx_ra::tune`], which asks questions. These modules answer the questions:
//! * [`code`]: what the search needs of code in any language; [`text`]: PTX; with LLVM:
//!   * `ir`: LLVM IR;
//!   * `compiler`: the module, and each kernel as a separate module, compiled in process;
//!   * `branches`, `fork_server`: work that variants share, run once;
//! * [`linked`]: other compilers' code beside the input;
//!   * `ptx`: the kernels in PTX that LLVM prints;
//! * [`process`], [`judge`]: the judges of PTX; [`benchmark`]: the user's own benchmark;
//! * [`tuning`]: a search with the code and the judges;
//! * [`stock`]: the code without the passes, where the search starts;
//! * [`work_queue`], [`rounds`]: the rounds of all kernels in parallel, until the effort is spent;
//! * [`winners`], [`agreement`]: the best variant of a kernel, compared with stock by emulation; [`predict`]: its
//!   predicted time;
//! * [`driver`]: all steps from stock to the winners, for this command and for [`request`];
//! * [`compose`]: the winners in one module, judged once more;
//! * [`graph`], [`judge_command`]: the same runs on other machines;
//! * [`measure`]: the order of figures, as an option;
//! * [`trials`]: the data from which the order of recipes is learned;
//! * [`request`]: the search for another command;
//! * [`progress`]: messages during the search; [`print`], [`page`]: results; [`outputs`]: output files.

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

/// Kinds of input that the search reads.
#[cfg(feature = "llvm")]
const KINDS: [InputKind; 4] = [InputKind::Assembly, InputKind::Bitcode, InputKind::Ptx, InputKind::Text];
/// Kinds of input that the search reads.
#[cfg(not(feature = "llvm"))]
const KINDS: [InputKind; 2] = [InputKind::Ptx, InputKind::Text];

/// The message on Ctrl-C if the best results so far are written.
const KEEPS: &str = "nvptx-ra: interrupted; the best results so far are written. A second Ctrl-C writes nothing";

/// The message on Ctrl-C if nothing is written: before the first result, and after a second Ctrl-C.
const INTERRUPTED: &str =
    "nvptx-ra: interrupted; nothing is written. With --cache FOLDER, a later search continues from here";

/// The processor if neither the user nor the code names one.
const DEFAULT_CPU: &str = "sm_90";

/// Search for the best variant of each kernel, with ptxas as the judge; the result is never worse than stock
///
/// Stock is the code without the passes: LLVM's own code of LLVM IR, or the given PTX. A variant counts only if it is
/// no worse than stock in three figures: spilled bytes, warps that an SM holds, and machine instructions. Among the
/// variants that count, the variant with the fewest spilled bytes wins. Among equals, the most warps decide, then the
/// fewest accesses of local memory, then the fewest instructions. A spilled byte weighs ten times more for each
/// enclosing loop, and by the factor `--shared-cost` in shared memory. Ctrl-C ends the search and writes the best
/// results so far; the exit code is 130. A second Ctrl-C writes nothing.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// LLVM IR, as text or bitcode, or PTX of any compiler, recognised by its content; - is standard input. A build
    /// without LLVM reads only PTX
    input: PathBuf,
    /// Output file for the PTX; - is standard output. By default, the input's name with .ptx, or with .tuned.ptx if the
    /// input is PTX or Triton's code
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// PTX that another compiler made of the same source; repeat for more. Its kernels are additional variants, and all
    /// choices for PTX apply to them
    #[arg(long, value_name = "FILE")]
    also: Vec<PathBuf>,
    /// Processor. By default, the processor that the PTX or Triton's metadata names, or sm_90
    #[arg(long)]
    cpu: Option<String>,
    #[cfg(feature = "llvm")]
    #[command(flatten)]
    settings: Settings,
    /// Whether LLVM's optimisations run on the module first, as in clang. For code that is not optimised, as `clang -O3
    /// -Xclang -disable-llvm-passes -emit-llvm` writes it, the search also tries inlining and unrolling
    #[cfg(feature = "llvm")]
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Optimise::Auto)]
    optimise: Optimise,
    /// Number of variants of each kernel that ptxas judges, besides stock and the result
    #[arg(long, value_name = "N", default_value_t = RunLimits::RUNS, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Limit on the cost of ptxas runs on variants, instead of --runs: a multiple of ptxas's time for the searched
    /// kernels, or half a second if that is more. The cost is estimated by rule, so the result does not depend on the
    /// machine
    #[arg(long, value_name = "X", conflicts_with = "runs", value_parser = effort)]
    effort: Option<f64>,
    /// Start no round of runs after this many seconds, and write the best results so far. The result then depends on
    /// the machine
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// Seed of random changes
    #[arg(long, value_name = "N", default_value_t = Objective::SEED)]
    seed: u32,
    /// Tune only kernels whose name contains this text; repeat for more. The other kernels stay unchanged
    #[arg(long, value_name = "TEXT")]
    kernel: Vec<String>,
    /// Bytes of dynamic shared memory of the kernels whose name contains KERNEL, or of all kernels; repeat for more. If
    /// several values match a kernel, the last one counts. If the size is large, shared memory limits the warps, and
    /// more registers cost none
    #[arg(long, value_name = "[KERNEL=]BYTES")]
    dynamic_shared: Vec<DynamicShared>,
    /// Threads of a block of the kernels whose name contains KERNEL, or of all kernels, if the kernels do not state
    /// them; repeat for more. If several values match a kernel, the last one counts. A kernel that spills to shared
    /// memory states this number in its PTX: a launch of larger blocks then fails
    #[arg(long, value_name = "[KERNEL=]N")]
    threads: Vec<Threads>,
    /// Allow variants with fewer warps on an SM than stock; --run always allows them
    #[arg(long)]
    allow_occupancy_loss: bool,
    /// Allow variants that spill although stock does not, if fewer bytes move to and from local memory in total. An
    /// array that moves to registers may need more registers than there are
    #[arg(long)]
    allow_spills_for_arrays: bool,
    /// Allow variants with more machine instructions than stock. Spills to shared memory need additional instructions.
    /// --run always allows them
    #[arg(long)]
    allow_more_instructions: bool,
    /// Benchmark that decides between the variants that count: a shell command, in which {cubin} stands for a file with
    /// the machine code and {kernel} for the kernel's name. The last number in its last line of output is the result;
    /// less is better. A variant wins only if it beats stock by more than the spread of the results
    #[arg(long, value_name = "CMD")]
    run: Option<String>,
    /// Number of measurements of each variant by --run; the median counts
    #[arg(long, value_name = "N", default_value_t = 5, requires = "run",
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,
    /// Time limit of one measurement by --run
    #[arg(long, value_name = "S", default_value_t = 60, requires = "run",
        value_parser = clap::value_parser!(u64).range(1..))]
    run_limit: u64,
    /// Do not compare winners with stock. By default, the best variant of each kernel and stock run on the CPU. A
    /// variant with other results is reported and does not win. Without comparisons, only variants that the checker
    /// proves can win
    #[arg(long)]
    no_compare: bool,
    /// Allow variants without a proof that could not be compared with stock. Another compiler or other LLVM
    /// optimisations made their code
    #[arg(long)]
    allow_uncompared: bool,
    /// Order in which the figures are compared; other figures come last
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_enum,
        default_value = "spills,warps,local,instructions"
    )]
    prefer: Vec<NamedMeasure>,
    /// Cost of a byte that moves to or from a slot in shared memory, as a multiple of a byte in local memory
    #[arg(long, value_name = "X", default_value_t = SHARED_COST, value_parser = shared_cost)]
    shared_cost: f64,
    /// Number of parallel runs [default: the number of processors]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Least CPU time of LLVM with which a kernel's variants are compiled by a process that forks for each variant
    #[cfg(feature = "llvm")]
    #[arg(long, value_name = "MS", default_value_t = 200, hide = true)]
    fork_from: u64,
    /// Folder that stores ptxas's results, so that a later search runs only new PTX
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// Run nothing. Instead, write the next ptxas runs as a Ninja graph, for other machines. Ninja puts the results
    /// into the cache. Repeat until nothing is left to run; the same search without --ninja then finds all results
    #[arg(long, value_name = "FILE", requires = "cache", conflicts_with_all = ["run", "seconds"])]
    ninja: Option<PathBuf>,
    /// Write the winners to this file, which -nvptx-ra-profile=FILE replays, or for PTX `nvptx-ra ptx --profile FILE`
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Also write an HTML page: each kernel before and after, the gain of each kind of choice, and the course of the
    /// search
    #[arg(long, value_name = "FILE", conflicts_with = "ninja")]
    html: Option<PathBuf>,
    /// An option of earlier versions, whose effect is always on
    #[arg(long, hide = true)]
    keep_partial: bool,
    /// Try each recipe on each PTX kernel that spills or is below full occupancy, and append the results to FILE, one
    /// line with a JSON object for each kernel. The order of recipes is learned from this data
    #[arg(long, value_name = "FILE", hide = true, conflicts_with_all = ["ninja", "effort"])]
    trials: Option<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let start = Instant::now();
    if arguments.keep_partial {
        let problem = "--keep-partial has been removed: an interrupted search always writes the best results so far";
        return Err(Error::new(ErrorKind::Option, problem, "omit the option"));
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

/// Adds other compilers' code, and reports which kernels of that code are not used.
fn with_others<'a>(arguments: &Arguments, code: Box<dyn Code + 'a>) -> Result<Box<dyn Code + 'a>, Error> {
    if arguments.also.is_empty() {
        return Ok(code);
    }
    let others = read_others(&arguments.also, "tune")?;
    let (code, notes) = LinkedCode::new(code, others, &arguments.kernel)?;
    notes.iter().for_each(|note| say!("{note}"));
    Ok(Box::new(code))
}

/// Parses --shared-cost.
fn shared_cost(text: &str) -> Result<f64, String> {
    let cost = text.parse().ok().filter(|cost| (0.25..=1.0).contains(cost));
    cost.ok_or_else(|| "must be a number from 0.25 to 1".to_owned())
}

/// Parses --effort.
fn effort(text: &str) -> Result<f64, String> {
    let times = text.parse().ok().filter(|times| (0.0..=Effort::MOST_TIMES).contains(times));
    times.ok_or_else(|| format!("must be a number from 0 to {}", Effort::MOST_TIMES))
}

/// A listener that shows the progress to a user at a terminal.
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

/// Runs the search. Prints no results if an interruption discards them or if answers are missing.
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
    // A step of a graph is written completely or not at all.
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
