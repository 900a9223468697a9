//! Generates random PTX programs. Runs them on the CPU and compares the results with those of ptxas's machine code.
//!
//!     fuzz_ptxas run --ptxas PATH... [--options "-O1"...] [--seed N] [--seconds N] [--kernels N] [--jobs N] [--known]
//!                    [--folder FOLDER]
//!     fuzz_ptxas print SEED [KERNEL] [--kernels N] [--known]    the program of a seed, or one of its kernels
//!     fuzz_ptxas file FILE.ptx --ptxas PATH... [--options ...] [--seed N] [--steps N]
//!                                                               one file: exit status 1 if a kernel differs
//!
//! `run` begins at the seed at which the last run in the folder ended, unless --seed is given. For each difference, the
//! folder gets the kernel as SEED_KERNEL.ptx, and a description as SEED_KERNEL.txt. state.json has the next seed and
//! the totals of all consecutive runs. If WHY is in the environment, each launch that is not comparable is printed with
//! the reason.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nvptx_ra::emulate::{Launches, Program, Reference, Verdict};
use nvptx_ra::fuzzing::ptxas::{Contents, THREADS, alone, program};
use nvptx_ra::ptx::Module;
use nvptx_ra::sass::cubin::Cubin;
use nvptx_ra::sass::hazards::Finding;
use nvptx_ra::sass::machine::Machine;
use nvptx_ra::sass::meaning::Approximation;
use serde_json::{Value, json};

type Failure = Box<dyn Error + Send + Sync>;

/// Options that are drawn if none are given. Most of them optimise.
const OPTIONS: [&str; 8] = ["-O3", "-O3", "-O3", "-O3", "-O3", "-O2", "-O1", "-O3 -maxrregcount=32"];
const USAGE: &str = "fuzz_ptxas run|print|file ...; the head of tests/bench/fuzz_ptxas.rs says what follows";

/// The parsed command line
#[derive(Clone, Debug)]
struct Arguments {
    rest: Vec<String>,
    ptxas: Vec<PathBuf>,
    options: Vec<String>,
    seed: Option<u64>,
    seconds: u64,
    jobs: usize,
    /// Most warp instructions of a launch
    steps: u64,
    contents: Contents,
    folder: PathBuf,
}

impl Arguments {
    fn read(all: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut read = Self {
            rest: Vec::new(),
            ptxas: Vec::new(),
            options: Vec::new(),
            seed: None,
            seconds: 600,
            jobs: 1,
            steps: 200_000,
            contents: Contents { kernels: 20, known_faults: false },
            folder: "target/fuzz-ptxas".into(),
        };
        let mut all = all;
        while let Some(word) = all.next() {
            let mut value = || all.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--ptxas" => read.ptxas.push(value()?.into()),
                "--options" => read.options.push(value()?),
                "--seed" => read.seed = Some(value()?.parse()?),
                "--seconds" => read.seconds = value()?.parse()?,
                "--steps" => read.steps = value()?.parse()?,
                "--jobs" => read.jobs = value()?.parse()?,
                "--kernels" => read.contents.kernels = value()?.parse()?,
                "--known" => read.contents.known_faults = true,
                "--folder" => read.folder = value()?.into(),
                _ if word.starts_with("--") => return Err(format!("{word} is no option. {USAGE}").into()),
                _ => read.rest.push(word),
            }
        }
        Ok(read)
    }

    /// Returns the options of a seed, drawn from the given options, or from [`OPTIONS`] if there are none.
    fn options_of(&self, seed: u64, which: usize) -> String {
        match self.options.as_slice() {
            [] => OPTIONS[(seed as usize * 5 + which * 3) % OPTIONS.len()].to_owned(),
            all => all[(seed as usize + which) % all.len()].clone(),
        }
    }
}

/// Returns the launches of a program: half of them have extreme values in memory.
fn launches(seed: u64, steps: u64) -> Launches {
    Launches {
        count: 2,
        limits: 3,
        more: 1,
        seed,
        grid: Some([2, 1, 1]),
        block: Some([THREADS, 1, 1]),
        is_exact: true,
        extremes: seed.is_multiple_of(2),
        most_steps: steps,
        most_steps_in_all: 20 * steps,
        ..Launches::default()
    }
}

/// A running ptxas
struct Assembly {
    ptxas: PathBuf,
    options: String,
    child: Child,
    cubin: PathBuf,
}

/// The result of an assembly
enum Assembled {
    Code(Box<Machine>),
    /// ptxas rejects the PTX, with this message.
    Refused(String),
    /// ptxas ended without a result.
    Crashed(String),
    /// The machine code cannot be decoded.
    Unread(String),
}

impl Assembly {
    fn start(ptxas: &Path, options: &str, text: &Path, cubin: PathBuf) -> Result<Self, Failure> {
        let mut command = Command::new(ptxas);
        command.args(["-arch", "sm_90"]).args(options.split_whitespace()).arg(text).arg("-o").arg(&cubin);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        Ok(Self { ptxas: ptxas.to_owned(), options: options.to_owned(), child, cubin })
    }

    fn name(&self) -> String {
        format!("{} {}", self.ptxas.display(), self.options)
    }

    fn end(self) -> Result<Assembled, Failure> {
        let output = self.child.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            let is_answer = output.status.code() == Some(255) && !said.contains("nternal");
            return Ok(match is_answer {
                true => Assembled::Refused(said),
                false => Assembled::Crashed(format!("{}\n{said}", output.status)),
            });
        }
        let bytes = fs::read(&self.cubin)?;
        let Some(cubin) = Cubin::read(&bytes) else { return Ok(Assembled::Unread("it is no cubin".into())) };
        // Needed for instructions that our decoder's tables do not know.
        let disassembler = self.ptxas.with_file_name("nvdisasm");
        let disassemble = || match Command::new(&disassembler).arg("-c").arg(&self.cubin).output() {
            Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            _ => Err(format!("an instruction is not known, and {} is no disassembler", disassembler.display())),
        };
        let machine = Machine::new(&cubin, Approximation::Exact, disassemble);
        _ = fs::remove_file(&self.cubin);
        Ok(machine.map_or_else(Assembled::Unread, |machine| Assembled::Code(Box::new(machine))))
    }
}

/// Totals of comparisons
#[derive(Clone, Debug, Default)]
struct Totals {
    counts: BTreeMap<String, u64>,
    reasons: BTreeMap<String, u64>,
}

impl Totals {
    /// Returns the totals of earlier runs from the saved state.
    fn of_state(state: &Value) -> Self {
        let numbers = |name: &str| {
            let entries = state[name].as_object().into_iter().flatten();
            entries.filter_map(|(what, count)| Some((what.clone(), count.as_u64()?))).collect()
        };
        Self { counts: numbers("counts"), reasons: numbers("not comparable") }
    }

    fn count(&mut self, what: &str, by: u64) {
        *self.counts.entry(what.to_owned()).or_default() += by;
    }

    fn add(&mut self, other: &Self) {
        other.counts.iter().for_each(|(what, &by)| self.count(what, by));
        other.reasons.iter().for_each(|(reason, &by)| *self.reasons.entry(reason.clone()).or_default() += by);
    }

    /// Counts a reason, without its position, for the kind of program.
    fn reason(&mut self, program: usize, reason: &str) {
        let which = ["PTX", "machine code"][program.min(1)];
        let plain = reason.split(" (").next().unwrap_or_default();
        *self.reasons.entry(format!("{which}: {plain}")).or_default() += 1;
    }
}

/// Findings by kernel: a description of the difference for each ptxas.
type Findings = BTreeMap<String, String>;

/// Compares all kernels of a PTX module with the machine code of each assembly.
fn compared(
    text: &str,
    (seed, steps): (u64, u64),
    assembled: &[(String, Assembled)],
    totals: &mut Totals,
) -> Result<Findings, Failure> {
    let said_why = std::env::var_os("WHY").is_some();
    let module = Module::read("-", text.as_bytes()).map_err(|error| error.to_string())?;
    let program = Program::new(&module);
    let kernels: Vec<String> = program.kernels().map(str::to_owned).collect();
    let launches = launches(seed, steps);
    let mut findings = Findings::new();
    totals.count("kernels", kernels.len() as u64);
    for kernel in &kernels {
        let mut reference = Reference::new(&program, kernel, &launches);
        for (name, assembled) in assembled {
            let Assembled::Code(machine) = assembled else { continue };
            totals.count("comparisons", 1);
            let comparison = catch_unwind(AssertUnwindSafe(|| reference.compare(&machine.program)));
            let Ok(comparison) = comparison else {
                totals.count("panics", 1);
                _ = writeln!(findings.entry(kernel.clone()).or_default(), "{name}: the emulator panics");
                continue;
            };
            totals.count("launches", comparison.launches.len() as u64);
            totals.count("equal launches", comparison.equal() as u64);
            for launched in &comparison.launches {
                if let Verdict::NotComparable { program, reason } = &launched.verdict {
                    totals.reason(*program, reason);
                    if said_why {
                        println!("{seed} {kernel}: {name}: {reason}");
                    }
                }
            }
            let hazards = machine.hazards(kernel);
            if let Some(hazard) = hazards.iter().find(|hazard| Finding::is_certain(hazard)) {
                totals.count("hazards", 1);
                _ = writeln!(findings.entry(kernel.clone()).or_default(), "{name}: a hazard: {hazard}");
            }
            match (comparison.difference(), comparison.equal()) {
                (Some(difference), _) => {
                    totals.count("different", 1);
                    _ = writeln!(findings.entry(kernel.clone()).or_default(), "{name}: {difference}");
                }
                (None, 0) => totals.count("not comparable", 1),
                _ => totals.count("same", 1),
            }
        }
    }
    Ok(findings)
}

/// Starts every ptxas on a PTX file.
fn assemblies(arguments: &Arguments, seed: u64, text: &Path, all: bool) -> Result<Vec<Assembly>, Failure> {
    let mut started = Vec::new();
    for (which, ptxas) in arguments.ptxas.iter().enumerate() {
        let drawn = vec![arguments.options_of(seed, which)];
        let options = if all && !arguments.options.is_empty() { &arguments.options } else { &drawn };
        for options in options {
            let cubin = text.with_extension(format!("{}.cubin", started.len()));
            started.push(Assembly::start(ptxas, options, text, cubin)?);
        }
    }
    Ok(started)
}

/// The program of a seed, while every ptxas assembles it
struct Batch {
    seed: u64,
    text: String,
    path: PathBuf,
    assemblies: Vec<Assembly>,
}

fn started(arguments: &Arguments, seed: u64, scratch: &Path) -> Result<Batch, Failure> {
    let text = program(seed, &arguments.contents).text;
    let path = scratch.join(format!("{seed}.ptx"));
    fs::write(&path, &text)?;
    Ok(Batch { seed, assemblies: assemblies(arguments, seed, &path, false)?, text, path })
}

/// Compares a program and saves the findings.
fn ended(arguments: &Arguments, batch: Batch) -> Result<(Totals, Vec<String>), Failure> {
    let Batch { seed, text, path, assemblies } = batch;
    let mut totals = Totals::default();
    let mut said = Vec::new();
    totals.count("files", 1);
    let mut all = Vec::new();
    for assembly in assemblies {
        let name = assembly.name();
        let assembled = assembly.end()?;
        let (word, why) = match &assembled {
            Assembled::Refused(why) => ("refused", why),
            Assembled::Crashed(why) => ("crashed", why),
            Assembled::Unread(why) => ("unread", why),
            Assembled::Code(_) => ("assembled", &String::new()),
        };
        totals.count(word, 1);
        if word != "assembled" {
            let kept = arguments.folder.join(format!("{seed}.{word}"));
            fs::write(kept.with_extension(format!("{word}.ptx")), &text)?;
            fs::write(&kept, format!("{name}\n{why}"))?;
            said.push(format!("seed {seed}: {word} by {name}: {}", why.lines().next().unwrap_or_default()));
        }
        all.push((name, assembled));
    }
    for (kernel, what) in compared(&text, (seed, arguments.steps), &all, &mut totals)? {
        let number: usize = kernel.trim_start_matches('k').parse()?;
        let kept = arguments.folder.join(format!("{seed}_{kernel}.ptx"));
        fs::write(&kept, alone(seed, number, &arguments.contents))?;
        fs::write(kept.with_extension("txt"), &what)?;
        let line = what.lines().next().unwrap_or_default();
        said.push(format!("seed {seed}, {kernel}: {}", &line[..line.len().min(300)]));
    }
    fs::remove_file(path)?;
    Ok((totals, said))
}

/// State of a run: the next seed, the totals, and the time of the last report.
struct Progress {
    next: u64,
    totals: Totals,
    told: Instant,
}

fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    fs::create_dir_all(&arguments.folder)?;
    let state = arguments.folder.join("state.json");
    let last: Option<Value> = fs::read(&state).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let last = last.filter(|_| arguments.seed.is_none()).unwrap_or_default();
    let next = arguments.seed.or_else(|| last["next"].as_u64()).unwrap_or(1);
    let seconds_before = last["seconds"].as_u64().unwrap_or_default();
    let scratch = tempfile::tempdir()?;
    let begun = Instant::now();
    let progress = Mutex::new(Progress { next, totals: Totals::of_state(&last), told: begun });
    let jobs = arguments.jobs.max(1) as u64;
    let work = |job: u64| -> Result<(), Failure> {
        let mut seed = next + job;
        let mut batch = started(arguments, seed, scratch.path())?;
        loop {
            // ptxas assembles the next program while this program runs on the CPU.
            let is_over = begun.elapsed() >= Duration::from_secs(arguments.seconds);
            seed += jobs;
            let following = if is_over { None } else { Some(started(arguments, seed, scratch.path())?) };
            let (totals, said) = ended(arguments, batch)?;
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            said.iter().for_each(|line| println!("{line}"));
            progress.totals.add(&totals);
            // Other jobs may still work on lower seeds. These seeds therefore run again in the next run, and are not
            // skipped.
            progress.next = progress.next.max((seed - jobs).saturating_sub(jobs - 1) + 1).max(next);
            if progress.told.elapsed() >= Duration::from_secs(60) || is_over {
                progress.told = Instant::now();
                let seconds = seconds_before + begun.elapsed().as_secs();
                let Progress { next, totals, .. } = &*progress;
                let told = json!({
                    "next": next, "seconds": seconds, "counts": totals.counts, "not comparable": totals.reasons,
                });
                fs::write(&state, format!("{told:#}\n"))?;
                println!("{seconds} s, next seed {next}: {}", json!(totals.counts));
            }
            drop(progress);
            match following {
                Some(following) => batch = following,
                None => return Ok(()),
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|job| scope.spawn(move || work(job))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".into())))
    })?;
    let progress = progress.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{:#}", json!(progress.totals.reasons));
    Ok(ExitCode::SUCCESS)
}

/// Compares one file with the machine code of each ptxas.
fn file(arguments: &Arguments, path: &Path) -> Result<ExitCode, Failure> {
    let text = fs::read_to_string(path)?;
    let scratch = tempfile::tempdir()?;
    let copy = scratch.path().join("file.ptx");
    fs::write(&copy, &text)?;
    let seed = arguments.seed.unwrap_or(1);
    let mut assembled = Vec::new();
    for assembly in assemblies(arguments, seed, &copy, true)? {
        let name = assembly.name();
        match assembly.end()? {
            Assembled::Refused(why) => println!("{name}: refused: {why}"),
            Assembled::Crashed(why) => println!("{name}: crashed: {why}"),
            Assembled::Unread(why) => println!("{name}: unread: {why}"),
            code => assembled.push((name, code)),
        }
    }
    let mut totals = Totals::default();
    let findings = compared(&text, (seed, arguments.steps), &assembled, &mut totals)?;
    findings.iter().for_each(|(kernel, what)| print!("{kernel}: {what}"));
    println!("{} {}", json!(totals.counts), json!(totals.reasons));
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn main() -> Result<ExitCode, Failure> {
    let arguments = Arguments::read(std::env::args().skip(1))?;
    let words: Vec<&str> = arguments.rest.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["run"] => run(&arguments),
        ["file", path] => file(&arguments, Path::new(path)),
        ["print", seed] => {
            print!("{}", program(seed.parse()?, &arguments.contents).text);
            Ok(ExitCode::SUCCESS)
        }
        ["print", seed, kernel] => {
            print!("{}", alone(seed.parse()?, kernel.trim_start_matches('k').parse()?, &arguments.contents));
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(USAGE.into()),
    }
}
