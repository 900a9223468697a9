//! Compares our allocators with regalloc2, on one core, on the same functions.
//!
//! `cargo bench --no-default-features --bench allocators -- --noplot` measures each allocator alone. The time of
//! regalloc2 includes its liveness analysis: compare it with the sum of `problem` and one of our allocators. `--
//! --table` prints a table for each setting of register files, with sums. `-- --check` proves every allocation, each
//! with its own checker. `-- --shared` prints a table of the pass that spills values to shared memory: each engine,
//! next to regalloc2 with as many registers.
//!
//! The functions are those of `recorded/`, generated ones, and the .mfv files of the folder NVPTX_RA_VIEWS, all
//! coalesced.
//!
//! regalloc2 has a file for each of its three classes and no pairs of registers. `apart` gives our allocators the same
//! files. `pairs` gives them the hardware's files, where a 64-bit value takes two aligned 32-bit registers. regalloc2
//! has no rows of registers either, so rows are turned off.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use nvptx_ra::allocate::briggs::Briggs;
use nvptx_ra::allocate::fatpoint::Fatpoint;
use nvptx_ra::allocate::greedy::Greedy;
use nvptx_ra::allocate::{
    Allocation, Allocator, Class, ClassData, File, FileData, Placement, Preset, Problem, ProblemBuilder,
    check_allocation,
};
use nvptx_ra::coalesce::coalesce;
use nvptx_ra::config::{Config, Layers, REGALLOC};
use nvptx_ra::function::Function;
use nvptx_ra::passes::{self, RunContext};
use nvptx_ra::target::Classification;
use regalloc2::checker::Checker;
use regalloc2::{Algorithm, MachineEnv, PReg, PRegSet, RegClass, RegallocOptions};
use ssa::Ssa;

#[path = "support/ssa.rs"]
mod ssa;
mod support;

/// The register files of both sides.
#[derive(Clone, Copy)]
struct Setting {
    name: &'static str,
    /// Registers of each class in regalloc2, at most 63.
    registers: u32,
    /// General registers of the hardware's file. `None` if our files equal those of regalloc2.
    pairs: Option<u32>,
}

/// 62 registers together with 62 registers of twice the width have as many bits as 186 registers.
const SETTINGS: [Setting; 4] = [
    Setting { name: "apart, 62 each", registers: 62, pairs: None },
    Setting { name: "apart, 32 each", registers: 32, pairs: None },
    Setting { name: "pairs of 186, theirs 62 each", registers: 62, pairs: Some(186) },
    Setting { name: "pairs of 62, theirs 62 each", registers: 62, pairs: Some(62) },
];

impl Setting {
    fn preset(self) -> Preset {
        let predicates = Some(self.registers);
        // On both sides, calls overwrite no registers. Rows of registers are off, because regalloc2 does not support
        // them.
        let register_limit = self.pairs.or(predicates);
        Preset { register_limit, predicates, caller_saved: None, tuples: false, ..Preset::HW }
    }

    /// Replaces the register files of a problem that was made with [`Self::preset`], if they must equal those of
    /// regalloc2.
    fn problem(self, from_function: &Problem) -> Problem {
        if self.pairs.is_some() {
            return from_function.clone();
        }
        let mut builder = ProblemBuilder::new(from_function.name());
        for name in ["P", "R", "RD"] {
            builder.file(FileData { name: name.into(), register_limit: Some(self.registers), units_per_register: 1 });
        }
        for (class, data) in from_function.classes().iter_enumerated() {
            let file = File([0, 1, 1, 2, 2][class.0 as usize]);
            builder.class(ClassData { file, width: 1, align: 1, promotes_to: None, ..data.clone() });
        }
        for (range, data) in from_function.ranges().iter_enumerated() {
            let segments = from_function.segments(range).iter().copied();
            let new = builder.range(Class(data.class.0), segments, from_function.accesses(range).iter().copied());
            builder.spill_cost(new, data.spill_cost);
        }
        from_function.copies().iter().for_each(|&copy| builder.copy(copy));
        builder.finish()
    }

    fn environment(self) -> MachineEnv {
        let registers = |class| {
            (0..self.registers as usize).fold(PRegSet::empty(), |set, number| set.with(PReg::new(number, class)))
        };
        MachineEnv {
            preferred_regs_by_class: [RegClass::Int, RegClass::Float, RegClass::Vector].map(registers),
            non_preferred_regs_by_class: [PRegSet::empty(); 3],
            scratch_by_class: [None; 3],
            fixed_stack_slots: Vec::new(),
        }
    }
}

fn options(algorithm: Algorithm) -> RegallocOptions {
    RegallocOptions { verbose_log: false, validate_ssa: false, algorithm }
}

/// Reads the .mfv files of a folder. Returns the coalesced functions, each with its file's name.
fn views(folder: &Path) -> Vec<(String, Function)> {
    let files = std::fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("the folder can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mfv"));
    paths.sort();
    let view = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a view can be read");
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        (name, coalesced(&Function::parse(&text).expect("it is a view")))
    };
    paths.into_iter().map(view).collect()
}

fn coalesced(function: &Function) -> Function {
    let edits = coalesce(function, &Classification::by_name(function.opcodes()), &Config::default()).edits;
    edits.apply(function).expect("the coalescer's edits fit").function
}

/// Returns the problem of a function.
fn lowered(function: &Function, preset: &Preset) -> Problem {
    let classification = Classification::by_name(function.opcodes());
    Problem::from_function(function, &classification, preset).expect("left SSA form")
}

fn functions() -> Vec<(String, Function, Ssa)> {
    let mut functions = views(&Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/recorded"));
    let sizes = [1_000, 10_000, 100_000];
    functions.extend(sizes.map(|size| (format!("generated {size}"), coalesced(&support::kernel(size)))));
    if let Some(folder) = std::env::var_os("NVPTX_RA_VIEWS") {
        functions.extend(views(Path::new(&folder)));
    }
    let with_ssa = functions.into_iter().map(|(name, function)| {
        let ssa = Ssa::new(&function);
        (name, function, ssa)
    });
    with_ssa.filter_map(|(name, function, ssa)| Some((name, function, ssa?))).collect()
}

/// Proves all allocations, for functions that are not too long for the checker of regalloc2.
fn check(functions: &[(String, Function, Ssa)]) {
    for setting in SETTINGS {
        let environment = setting.environment();
        let (mut proved, mut refused) = (0, 0);
        for (name, function, ssa) in functions.iter().filter(|(_, function, _)| function.num_insts() < 20_000) {
            let problem = setting.problem(&lowered(function, &setting.preset()));
            for allocator in [&Greedy::default() as &dyn Allocator, &Briggs::default(), &Fatpoint::default()] {
                let allocation = allocator.allocate(&problem).expect("the problem is sound");
                if let Err(error) = check_allocation(&problem, &allocation) {
                    panic!("{name}, {}, {}: {error}", setting.name, allocator.name());
                }
            }
            for algorithm in [Algorithm::Ion, Algorithm::Fastalloc] {
                let options = RegallocOptions { validate_ssa: true, ..options(algorithm) };
                match regalloc2::run(ssa, &environment, &options) {
                    Ok(output) => {
                        let mut checker = Checker::new(ssa, &environment);
                        checker.prepare(&output);
                        if let Err(errors) = checker.run() {
                            panic!("{name}, {}, {algorithm:?}: {errors:?}", setting.name);
                        }
                        proved += 1;
                    }
                    Err(regalloc2::RegAllocError::TooManyLiveRegs) => refused += 1,
                    Err(error) => panic!("{name}, {}, {algorithm:?}: {error}", setting.name),
                }
            }
        }
        println!("{}: {proved} allocations of regalloc2 proved, {refused} refused", setting.name);
    }
}

/// Returns the result and the shortest of several times.
fn time<T>(mut run: impl FnMut() -> T) -> (T, f64) {
    let begin = Instant::now();
    let (mut best, mut runs, mut result) = (f64::INFINITY, 0, None);
    while runs < 3 || (runs < 200 && begin.elapsed() < Duration::from_millis(10)) {
        let start = Instant::now();
        let new = black_box(run());
        best = best.min(start.elapsed().as_nanos() as f64);
        result = Some(new);
        runs += 1;
    }
    (result.expect("it ran"), best)
}

const COLUMNS: [&str; 5] = ["problem", "greedy", "briggs", "ion", "fastalloc"];

/// Prints a line: nanoseconds for each column, millions of instructions per second, and our speed divided by
/// regalloc2's.
fn line(name: &str, insts: usize, times: [f64; 5]) {
    let [problem, greedy, briggs, ion, _] = times;
    let rate = |time: f64| insts as f64 * 1e3 / time;
    print!("{:<44.44} {insts:>8}", name);
    times.iter().for_each(|time| print!(" {time:>12.0}"));
    [problem + greedy, problem + briggs, ion].iter().for_each(|&time| print!(" {:>7.2}", rate(time)));
    println!(" {:>7.2} {:>7.2}", ion / (problem + greedy), ion / (problem + briggs));
}

/// Prints a table for each setting.
fn table(functions: &[(String, Function, Ssa)]) {
    for setting in SETTINGS {
        println!("\n{}: ns each; millions of instructions/s, problem included in ours; x ion", setting.name);
        print!("{:<44} {:>8}", "function", "insts");
        COLUMNS.iter().for_each(|name| print!(" {name:>12}"));
        println!(" {:>7} {:>7} {:>7} {:>7} {:>7}", "greedy", "briggs", "ion", "greedy", "briggs");
        let (environment, preset) = (setting.environment(), setting.preset());
        let (mut sums, mut insts, mut logs, mut count, mut refused) = ([0.0; 5], 0, [0.0; 4], 0, 0);
        // Number of functions with spills, for greedy, briggs and ion.
        let mut spilling = [0; 3];
        for (name, function, ssa) in functions {
            let theirs = |algorithm| regalloc2::run(ssa, &environment, &options(algorithm));
            if theirs(Algorithm::Ion).is_err() || theirs(Algorithm::Fastalloc).is_err() {
                refused += 1;
                continue;
            }
            let (problem, lowering) = time(|| lowered(function, &preset));
            let problem = setting.problem(&problem);
            let (greedy, greedy_time) = time(|| Greedy::default().allocate(&problem).expect("sound"));
            let (briggs, briggs_time) = time(|| Briggs::default().allocate(&problem).expect("sound"));
            let (ion, ion_time) = time(|| theirs(Algorithm::Ion).expect("it ran"));
            let (_, fast_time) = time(|| theirs(Algorithm::Fastalloc).expect("it ran"));
            let times = [lowering, greedy_time, briggs_time, ion_time, fast_time];
            line(name, function.num_insts(), times);
            count += 1;
            insts += function.num_insts();
            sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
            let ours = [lowering + greedy_time, lowering + briggs_time, greedy_time, briggs_time];
            logs.iter_mut().zip(ours).for_each(|(sum, time)| *sum += (ion_time / time).ln());
            let has_spilled = |allocation: &Allocation| {
                allocation.placements.iter().any(|placement| matches!(placement, Placement::Spilled(_)))
            };
            let spills = [has_spilled(&greedy), has_spilled(&briggs), ion.num_spillslots > 0];
            spilling.iter_mut().zip(spills).for_each(|(count, spills)| *count += usize::from(spills));
        }
        line("all", insts, sums);
        let [all, all_briggs, alone, alone_briggs] = logs.map(|sum| (sum / f64::from(count)).exp());
        println!("geometric mean of x ion: greedy {all:.2}, briggs {all_briggs:.2}");
        println!("the same without problem: greedy {alone:.2}, briggs {alone_briggs:.2}");
        println!("without problem, by sum: greedy {:.2}, briggs {:.2}", sums[3] / sums[1], sums[3] / sums[2]);
        println!(
            "{count} functions, {refused} more refused by regalloc2; something is spilled in {spilling:?} of them"
        );
    }
}

/// Returns a function as a kernel with blocks of 32 threads, which leaves much shared memory to each thread.
fn as_kernel(function: &Function) -> Function {
    let text = function.to_string();
    let others = text.lines().filter(|line| *line != "kernel" && !line.starts_with("kernel "));
    let mut lines: Vec<&str> = others.collect();
    lines.insert(2, "kernel maxntid 32");
    Function::parse(&(lines.join("\n") + "\n")).expect("the bounds stand behind the name")
}

/// Prints a table of the pass that spills values to shared memory, for each engine. The pass stops when no more words
/// are live than regalloc2 has registers in each of its classes.
fn shared(functions: &[(String, Function, Ssa)]) {
    println!("{:<44} {:>8} {:>8} {:>12} {:>12} {:>7}", "function", "insts", "values", "shared, ns", "ion, ns", "x ion");
    for registers in [62, 32] {
        println!("{registers} registers");
        let environment = Setting { name: "", registers, pairs: None }.environment();
        for (name, function, ssa) in functions {
            let function = as_kernel(function);
            let (theirs, time_of_ion) = time(|| regalloc2::run(ssa, &environment, &options(Algorithm::Ion)));
            let ion = theirs.map_or("refused".into(), |_| format!("{time_of_ion:.0}"));
            for engine in ["price", "greedy", "briggs", "fatpoint"] {
                // The pass reserves two registers for addresses.
                let parameters = format!("regalloc={};regalloc-slack=0;allocator={engine}", registers + 2);
                let layers = Layers { parameters: &parameters, ..Layers::default() };
                let config = Config::resolve(&layers).expect("it has these");
                let classification = Classification::by_name(function.opcodes()).into();
                let context = RunContext::new(config, classification, "sm_90");
                let (output, time_of_ours) = time(|| passes::run(REGALLOC, &function, &context).expect("it runs"));
                let title = format!("{name}, {engine}");
                println!(
                    "{title:<44.44} {:>8} {:>8} {time_of_ours:>12.0} {ion:>12} {:>7.2}",
                    function.num_insts(),
                    output.stats.values_kept,
                    time_of_ion / time_of_ours
                );
            }
        }
    }
}

/// Criterion's measurements, with the first setting.
fn measure(functions: &[(String, Function, Ssa)]) {
    let mut criterion = Criterion::default().configure_from_args();
    let setting = SETTINGS[0];
    let (environment, preset) = (setting.environment(), setting.preset());
    for (name, function, ssa) in functions {
        let mut group = criterion.benchmark_group("allocators");
        group.throughput(Throughput::Elements(function.num_insts() as u64));
        group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
        let mut bench = |what: &str, run: &mut dyn FnMut()| {
            group.bench_function(BenchmarkId::new(what, name), |bencher| bencher.iter(&mut *run));
        };
        let problem = setting.problem(&lowered(function, &preset));
        bench("problem", &mut || drop(black_box(lowered(function, &preset))));
        bench("greedy", &mut || drop(black_box(Greedy::default().allocate(&problem))));
        bench("briggs", &mut || drop(black_box(Briggs::default().allocate(&problem))));
        bench("fatpoint", &mut || drop(black_box(Fatpoint::default().allocate(&problem))));
        for (what, algorithm) in [("ion", Algorithm::Ion), ("fastalloc", Algorithm::Fastalloc)] {
            bench(what, &mut || drop(black_box(regalloc2::run(ssa, &environment, &options(algorithm)))));
        }
        group.finish();
    }
    criterion.final_summary();
}

fn main() {
    let has = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    let functions = functions();
    if has("--table") {
        table(&functions);
    } else if has("--shared") {
        shared(&functions);
    } else if has("--check") || !has("--bench") {
        check(&functions);
    } else {
        measure(&functions);
    }
}
