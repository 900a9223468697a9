//! `nvptx-ra compare`: compares the results of two files on the CPU.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use nvptx_ra::emulate::{Comparison, Executed, Launches, Program, Side, Verdict, compare_programs};
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::sass::hazards::Finding;
use serde_json::{Value, json};

use crate::machine::program::Loaded;
use crate::meaning::AT_LIMITS;
use crate::ninja::quoted;
use crate::run::counted;
use crate::{input, run};

/// Run the kernels of two files of PTX or machine code on the CPU, and compare what they store
///
/// Both kernels run on the same drawn launches. Floating-point numbers may differ by a tolerance: 1e-3 of the larger
/// for floats, 1e-9 for doubles, 1e-2 for halves, 4e-2 for bf16. If a launch ends in one file and not in the other,
/// this is a difference. A launch that cannot be compared, for example because of a race, is reported as not
/// comparable, with the reason, and never as equal. The exit status is 1 if a kernel differs. It is 2 if no kernel
/// differs, and a kernel cannot be compared or a function of a file cannot be parsed. The counts of executed
/// instructions and of accesses of local memory include only the launches that end in both files.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The first file, which determines how buffers are filled
    first: PathBuf,
    /// The second file
    second: PathBuf,
    /// A kernel to compare; repeat for more. Unless given, all kernels of the first file
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// The number of launches of each kernel
    #[arg(long, default_value_t = 4)]
    launches: u32,
    /// The most additional launches. Each aims at statements that were not executed, or at branches and comparisons
    /// with only one outcome
    #[arg(long, value_name = "N", default_value_t = Launches::default().more)]
    more: u32,
    /// The seed of launches and of the order of threads
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The blocks of the grid; unless given, few, and drawn
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = run::shape)]
    grid: Option<[u32; 3]>,
    /// The threads of a block; unless given, the number that the kernel declares, or drawn
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = run::shape)]
    block: Option<[u32; 3]>,
    /// The most threads of a block of a kernel that declares no number; unless given, drawn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), conflicts_with = "block")]
    threads: Option<u32>,
    /// Bytes of dynamic shared memory of a launch
    #[arg(long, value_name = "BYTES", default_value_t = Launches::default().dynamic_shared)]
    dynamic_shared: u32,
    /// The most warp instructions that a launch may execute
    #[arg(long, default_value_t = Launches::default().most_steps)]
    steps: u64,
    /// The most warp instructions that all launches of a kernel in both files may execute; unless given, there is no
    /// limit
    #[arg(long, value_name = "STEPS")]
    steps_in_all: Option<u64>,
    /// Floating-point numbers must agree on every bit
    #[arg(long)]
    exact: bool,
    /// Also draw infinities, NaN, subnormal numbers and integers at their limits. This is for programs that must agree
    /// on every bit, including the bits of NaN
    #[arg(long, requires = "exact")]
    extremes: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Missing waits in each file's machine code of a kernel.
type Hazards = [Vec<Finding>; 2];

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let first = run::program(&arguments.first, "compare")?;
    let second = run::program(&arguments.second, "compare")?;
    let launches = Launches {
        is_exact: arguments.exact,
        is_assembled: first.program().is_machine_code() != second.program().is_machine_code(),
        limits: if [&first, &second].iter().any(|one| matches!(one, Loaded::Machine(_))) { AT_LIMITS } else { 0 },
        count: arguments.launches,
        more: arguments.more,
        seed: arguments.seed,
        grid: arguments.grid,
        block: arguments.block,
        threads: arguments.threads,
        dynamic_shared: arguments.dynamic_shared,
        extremes: arguments.extremes,
        most_steps: arguments.steps,
        most_steps_in_all: arguments.steps_in_all.unwrap_or(u64::MAX),
        ..Launches::default()
    };
    let programs = [first.program(), second.program()];
    let kernels = run::kernels(programs[0], &arguments.kernels, &arguments.first)?;
    let mut comparisons: Vec<Comparison> =
        kernels.iter().map(|kernel| compare_programs(programs[0], programs[1], kernel, &launches)).collect();
    let has_unread = add_unread(&mut comparisons, programs, &arguments.kernels);
    let hazards: Vec<Hazards> = comparisons
        .iter()
        .map(|comparison| [&first, &second].map(|loaded| loaded.hazards(&comparison.kernel)))
        .collect();
    let lacks_wait = hazards.iter().flatten().flatten().any(Finding::is_certain);
    let differs = lacks_wait || comparisons.iter().any(|comparison| comparison.difference().is_some());
    if comparisons.is_empty() {
        let problem = format!("{} has no kernel", input::name(&arguments.first));
        return Err(Error::new(ErrorKind::View, problem, "name files with kernels"));
    }
    let all = || comparisons.iter().zip(&hazards);
    let loaded = [&first, &second];
    if arguments.json {
        let all: Vec<Value> = all().map(|(comparison, hazards)| as_json(comparison, hazards, loaded)).collect();
        super::print(format!("{:#}\n", Value::from(all)).as_bytes())?;
    } else {
        let text: String = all().map(|(comparison, hazards)| as_text(comparison, hazards, loaded)).collect();
        super::print_text(&text)?;
    }
    // A script must not mistake a failed comparison for equality.
    let is_open = has_unread || comparisons.iter().any(|comparison| comparison.equal() == 0);
    Ok(super::exit_code(differs, is_open))
}

/// Returns the command that compares two files on these launches of a kernel.
pub(crate) fn command([first, second]: [&str; 2], kernel: &str, launches: &Launches) -> String {
    let Launches { count, more, seed, grid, threads, dynamic_shared, most_steps, most_steps_in_all, .. } = launches;
    let exact = match (launches.is_exact, launches.extremes) {
        (_, true) => " --exact --extremes",
        (true, _) => " --exact",
        _ => "",
    };
    let threads = threads.map_or(String::new(), |threads| format!(" --threads {threads}"));
    let grid = grid.map_or(String::new(), |[x, y, z]| format!(" --grid {x},{y},{z}"));
    format!(
        "nvptx-ra compare {first} {second} --kernel {}{exact}{threads}{grid} --dynamic-shared {dynamic_shared} \
         --launches {count} --more {more} --seed {seed} --steps {most_steps} --steps-in-all {most_steps_in_all}",
        quoted(kernel)
    )
}

/// Adds the kernels that cannot be parsed as not comparable. Returns whether a function that cannot be parsed may
/// affect the result. An unwanted kernel cannot affect it.
fn add_unread(comparisons: &mut Vec<Comparison>, programs: [&Program; 2], asked: &[String]) -> bool {
    let mut has_unread = false;
    for (program, unread) in
        programs.iter().enumerate().flat_map(|(at, program)| program.unread().iter().map(move |it| (at, it)))
    {
        if unread.word == ".entry" && !asked.is_empty() && !asked.contains(&unread.name) {
            continue;
        }
        has_unread = true;
        if unread.word == ".entry" && comparisons.iter().all(|comparison| comparison.kernel != unread.name) {
            comparisons.push(Comparison::impossible(&unread.name, program, unread.to_string()));
        }
    }
    has_unread
}

/// Returns a verdict in one word.
fn word(comparison: &Comparison) -> &'static str {
    match (comparison.difference(), comparison.equal()) {
        (Some(_), _) => "different",
        (None, 0) => "not comparable",
        (None, _) => "same",
    }
}

fn as_text(comparison: &Comparison, hazards: &Hazards, loaded: [&Loaded; 2]) -> String {
    let mut text = format!("{}: {}", comparison.kernel, word(comparison));
    if let Some(difference) = comparison.difference() {
        _ = write!(text, " {difference}");
    }
    text.push('\n');
    let count = comparison.launches.len();
    _ = writeln!(text, "  launches: {count}, of which {} are equal", comparison.equal());
    for (number, launched) in comparison.launches.iter().enumerate() {
        if let Verdict::NotComparable { program, reason } = &launched.verdict {
            let which = if *program == 0 { "first" } else { "second" };
            _ = writeln!(text, "  launch {number} is not comparable: the {which} program: {reason}");
        }
        if launched.new_reads > 0 {
            let places = launched.new_reads;
            _ = writeln!(text, "  launch {number}: the second program reads {places} places that the first does not");
        }
    }
    for (executed, which) in comparison.executed.iter().flatten().zip(["first", "second"]) {
        let Executed { instructions, local, .. } = executed;
        _ = writeln!(text, "  {which}: {instructions} warp instructions executed, {local} access local memory");
    }
    for (hazards, which) in hazards.iter().zip(["first", "second"]) {
        for hazard in hazards {
            _ = writeln!(text, "  {which}: a hazard: {hazard}");
        }
    }
    for ((ended, loaded), which) in comparison.ended.iter().zip(loaded).zip(["first", "second"]) {
        if let Some(counts) = loaded.counts(&comparison.kernel, ended) {
            _ = writeln!(text, "  {which}: {}", counted::in_a_line(&counts));
        }
    }
    for (side, which) in comparison.sides.iter().zip(["first", "second"]) {
        let ([blocks, all_blocks], [statements, all]) = (side.coverage.blocks, side.coverage.statements);
        _ = writeln!(text, "  {which}: {blocks} of {all_blocks} blocks ran, {statements} of {all} statements");
        for (name, count) in side.hashed() {
            _ = writeln!(text, "  {which}: hashed {name}, executed {count} times by warps");
        }
    }
    text
}

fn as_json(comparison: &Comparison, hazards: &Hazards, loaded: [&Loaded; 2]) -> Value {
    let launches: Vec<Value> = comparison
        .launches
        .iter()
        .map(|launched| {
            let (verdict, reason) = match &launched.verdict {
                Verdict::Same => ("same", None),
                Verdict::Different(difference) => ("different", Some(difference.to_string())),
                Verdict::NotComparable { program, reason } => {
                    ("not comparable", Some(format!("program {}: {reason}", program + 1)))
                }
            };
            let difference = match &launched.verdict {
                Verdict::Different(difference) => Some(&**difference),
                _ => None,
            };
            let lines = difference.map(|difference| difference.stores().map(|store| store.map(|store| store.line)));
            let sources =
                difference.map(|difference| difference.sources().map(|source| source.map(ToString::to_string)));
            json!({
                "verdict": verdict, "reason": reason, "grid": launched.shape[0], "block": launched.shape[1],
                "stores": launched.stores, "new_reads": launched.new_reads, "lines": lines, "sources": sources,
            })
        })
        .collect();
    let side = |number: usize| {
        let (side, program) = (&comparison.sides[number], loaded[number].program());
        let counts = loaded[number].counts(&comparison.kernel, &comparison.ended[number]);
        json!({
            "hazards": hazards[number].iter().map(ToString::to_string).collect::<Vec<_>>(), "machine": counts.as_ref().map(counted::as_json),
            "statements": side.coverage.statements, "blocks": side.coverage.blocks, "steps": side.steps,
            "thread_steps": side.thread_steps,
            "hashed": side.hashed().map(|(name, count)| (name.to_owned(), Value::from(count))).collect::<serde_json::Map<_, _>>(),
            "unknown": Side::unknown(program).into_iter().map(|(line, what)| json!([line, what])).collect::<Vec<_>>(),
        })
    };
    let executed = comparison.executed.map(|sides| {
        sides.map(|Executed { instructions, local, shared }| {
            json!({ "instructions": instructions, "local": local, "shared": shared })
        })
    });
    json!({
        "kernel": comparison.kernel, "verdict": word(comparison), "launches": launches, "executed": executed,
        "programs": [side(0), side(1)],
    })
}
