//! Statistics: what was done to each function and how long it took.
//!
//! They are a log of events, one line of JSON each, appended to the file that the option `stats` names. A compiler
//! plugin cannot rely on the end of its process (a driver may abort, or leave by `_exit`), and one build runs many
//! compilers at once, so nothing is held back and nothing is overwritten: a line is written by one call on a file opened
//! for appending, which keeps lines of different threads and processes whole. [`Totals`] adds them up.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// How often each of several named things happened. Prints in the order of the names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Counts(BTreeMap<Cow<'static, str>, u64>);

impl Counts {
    /// Counts `by` more of `name`.
    pub fn add(&mut self, name: &'static str, by: u64) {
        *self.0.entry(Cow::Borrowed(name)).or_default() += by;
    }

    /// How many of `name` were counted.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// How many of all names together.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names with their counts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, &count)| (name.as_ref(), count))
    }

    fn merge(&mut self, other: &Self) {
        for (name, count) in &other.0 {
            let sum = self.0.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
}

/// How often each of several named things runs, by estimated block frequencies. Prints in the order of the names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Frequencies(BTreeMap<Cow<'static, str>, f64>);

impl Frequencies {
    /// Counts `by` more runs of `name`.
    pub fn add(&mut self, name: &'static str, by: f64) {
        *self.0.entry(Cow::Borrowed(name)).or_default() += by;
    }

    /// How often `name` runs.
    pub fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    fn merge(&mut self, other: &Self) {
        for (name, frequency) in &other.0 {
            *self.0.entry(name.clone()).or_default() += frequency;
        }
    }
}

/// What a pass did to one function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FunctionStats {
    /// The function.
    pub function: String,
    /// The pass.
    pub pass: String,
    /// The processor that the code is for.
    pub target: String,
    /// What it did.
    #[serde(flatten)]
    pub work: Work,
}

/// What a pass did, to one function or to many.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    /// Instructions before the pass.
    pub insts: u64,
    /// Copies before the pass, by family.
    pub copies_before: Counts,
    /// Copies after the pass, by family.
    pub copies_after: Counts,
    /// How often the copies before the pass run in one run of the function, by family.
    pub executed_before: Frequencies,
    /// How often the copies after the pass run in one run of the function, by family.
    pub executed_after: Frequencies,
    /// Pairs of registers that became one.
    pub merges: u64,
    /// PHIs before the pass.
    pub phis: u64,
    /// Registers that occur before a pass that renames them.
    pub registers_before: u64,
    /// Registers that occur after it.
    pub registers_after: u64,
    /// Instructions that a pass put behind others than before.
    pub moved: u64,
    /// Copies that stay, by reason.
    pub refusals: Counts,
    /// Constants written anew.
    pub constants_rematerialised: u64,
    /// Edits by kind.
    pub edits: Counts,
    /// Nanoseconds by phase.
    pub time_ns: Counts,
}

impl Work {
    /// Adds the time since `start` to a phase and returns now, where the next phase starts.
    pub fn lap(&mut self, phase: &'static str, start: Instant) -> Instant {
        let now = Instant::now();
        self.time_ns.add(phase, nanoseconds(now - start));
        now
    }

    fn merge(&mut self, other: &Self) {
        self.insts = self.insts.saturating_add(other.insts);
        self.merges = self.merges.saturating_add(other.merges);
        self.registers_before = self.registers_before.saturating_add(other.registers_before);
        self.registers_after = self.registers_after.saturating_add(other.registers_after);
        self.phis = self.phis.saturating_add(other.phis);
        self.moved = self.moved.saturating_add(other.moved);
        self.constants_rematerialised = self.constants_rematerialised.saturating_add(other.constants_rematerialised);
        self.copies_before.merge(&other.copies_before);
        self.copies_after.merge(&other.copies_after);
        self.executed_before.merge(&other.executed_before);
        self.executed_after.merge(&other.executed_after);
        self.refusals.merge(&other.refusals);
        self.edits.merge(&other.edits);
        self.time_ns.merge(&other.time_ns);
    }
}

/// The duration in nanoseconds; as many as fit for one of centuries.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// What ptxas is expected to make of the kernels of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModuleFigures {
    /// The processor that the code is for.
    pub target: String,
    /// The kernels, in the module's order.
    pub kernels: Vec<KernelFigures>,
    /// Nanoseconds by phase, without what was spent on each function.
    pub time_ns: Counts,
}

/// What ptxas is expected to make of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelFigures {
    /// The kernel.
    pub function: String,
    /// General registers of a thread.
    pub registers: u32,
    /// It calls what was not there to be seen: it may take more.
    pub at_least: bool,
    /// Bytes that a thread stores to spill slots, in the code.
    pub spill_store_bytes: u32,
    /// Bytes that it loads from them.
    pub spill_load_bytes: u32,
    /// Bytes of static shared memory of a block.
    pub shared_bytes: u64,
    /// Warps that an SM holds at once.
    pub occupancy_warps: u32,
    /// What keeps it from more.
    pub limited_by: String,
    /// The most registers with which it holds more, if any do.
    pub next_step_registers: Option<u32>,
    /// The limit on registers that it got because of that.
    pub limited_to: Option<u32>,
}

/// A line of the statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A pass ran on a function.
    Run(Box<FunctionStats>),
    /// The time that the C++ side needed for a function, known only after the pass.
    Shim {
        /// The function.
        function: String,
        /// The pass.
        pass: String,
        /// Nanoseconds by phase.
        time_ns: Counts,
    },
    /// A function was left as it was because of an error.
    Failure {
        /// The function.
        function: String,
        /// The pass.
        pass: String,
        /// The diagnostic.
        message: String,
    },
    /// The kernels of a module were forecast.
    Forecast(ModuleFigures),
}

/// Keeps the threads of this process from interleaving where the system writes a long line in parts.
static WRITING: Mutex<()> = Mutex::new(());

impl Event {
    /// Appends the event to a file, which is made if it is not there.
    pub fn append(&self, path: &Path) -> Result<(), Error> {
        let write = || -> std::io::Result<()> {
            let mut line = serde_json::to_vec(self)?;
            line.push(b'\n');
            let _guard = WRITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            OpenOptions::new().create(true).append(true).open(path)?.write_all(&line)
        };
        write().map_err(|error| Error::file(path, &error))
    }
}

/// The sum of many events. The same events in any order give the same totals.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// How often a pass ran on a function.
    pub runs: u64,
    /// How often a function was left as it was because of an error.
    pub failures: u64,
    /// Kernels that were forecast.
    pub forecasts: u64,
    /// The sums over all runs, with the C++ side's time.
    #[serde(flatten)]
    pub sum: Work,
    /// The diagnostics, each once, with their number.
    pub errors: Counts,
}

impl Totals {
    /// Adds an event.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::Run(stats) => {
                self.runs += 1;
                self.sum.merge(&stats.work);
            }
            Event::Shim { time_ns, .. } => self.sum.time_ns.merge(time_ns),
            Event::Forecast(module) => {
                self.forecasts += module.kernels.len() as u64;
                self.sum.time_ns.merge(&module.time_ns);
            }
            Event::Failure { message, .. } => {
                self.failures += 1;
                *self.errors.0.entry(message.clone().into()).or_default() += 1;
            }
        }
    }

    /// Adds up a file's lines. A line that is no event is an error that names it.
    pub fn read(path: &Path, reader: impl BufRead) -> Result<Self, Error> {
        let mut totals = Self::default();
        for (index, line) in reader.lines().enumerate() {
            let line = line.map_err(|error| Error::file(path, &error))?;
            let event = serde_json::from_str(&line).map_err(|error| {
                let reason = std::io::Error::new(
                    std::io::ErrorKind::InvalidData,
                    format!("line {}: no line of statistics: {error}", index + 1),
                );
                Error::file(path, &reason)
            })?;
            totals.add(&event);
        }
        Ok(totals)
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = &self.sum;
        writeln!(f, "{:<32}{:>14}", "functions", self.runs)?;
        writeln!(f, "{:<32}{:>14}", "instructions", sum.insts)?;
        writeln!(f, "{:<32}{:>14}", "merges", sum.merges)?;
        writeln!(f, "{:<32}{:>14}", "constants rematerialised", sum.constants_rematerialised)?;
        if self.forecasts > 0 {
            writeln!(f, "{:<32}{:>14}", "kernels forecast", self.forecasts)?;
        }
        writeln!(f, "{:<32}{:>14}", "errors", self.failures)?;
        if !sum.copies_before.is_empty() || !sum.copies_after.is_empty() {
            writeln!(f, "\n{:<32}{:>14}{:>14}{:>18}{:>18}", "copies", "before", "after", "run before", "run after")?;
            let mut families = sum.copies_before.clone();
            families.merge(&sum.copies_after);
            for (family, _) in families.iter() {
                let (before, after) = (sum.copies_before.get(family), sum.copies_after.get(family));
                let (run, run_after) = (sum.executed_before.get(family), sum.executed_after.get(family));
                writeln!(f, "  {family:<30}{before:>14}{after:>14}{run:>18.1}{run_after:>18.1}")?;
            }
            writeln!(f, "  {:<30}{:>14}{:>14}", "all", sum.copies_before.total(), sum.copies_after.total())?;
        }
        section(f, "copies kept, by reason", &sum.refusals)?;
        section(f, "edits", &sum.edits)?;
        section(f, "time, ns", &sum.time_ns)?;
        if !self.errors.is_empty() {
            writeln!(f, "\nerrors")?;
        }
        // The messages are long: they go last in their lines.
        self.errors.iter().try_for_each(|(message, count)| writeln!(f, "{count:>8}  {message}"))
    }
}

fn section(f: &mut fmt::Formatter<'_>, title: &str, counts: &Counts) -> fmt::Result {
    if counts.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{title}")?;
    for (name, count) in counts.iter() {
        writeln!(f, "  {name:<30}{count:>14}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn run(function: &str, merges: u64) -> Event {
        let mut work = Work { merges, ..Work::default() };
        work.copies_before.add("move", merges + 1);
        work.copies_after.add("move", 1);
        work.time_ns.add("coalesce", 10);
        Event::Run(Box::new(FunctionStats { function: function.into(), work, ..FunctionStats::default() }))
    }

    fn events() -> Vec<Event> {
        let mut time_ns = Counts::default();
        time_ns.add("flatten", 5);
        vec![
            run("a", 3),
            Event::Shim { function: "a".into(), pass: "p".into(), time_ns },
            run("b", 4),
            Event::Failure { function: "c".into(), pass: "p".into(), message: "nvptx-ra: no".into() },
        ]
    }

    fn temporary(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("nvptx-ra-{name}-{}.jsonl", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    /// What is appended reads back, and the totals do not depend on the order of events.
    #[test]
    fn appended_events_add_up() {
        let path = temporary("stats");
        for event in events() {
            event.append(&path).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text.lines().count(), 4);
        let totals = Totals::read(&path, text.as_bytes()).unwrap();
        assert_eq!((totals.runs, totals.failures, totals.sum.merges), (2, 1, 7));
        assert_eq!((totals.sum.copies_before.get("move"), totals.sum.copies_after.total()), (9, 2));
        assert_eq!((totals.sum.time_ns.get("coalesce"), totals.sum.time_ns.get("flatten")), (20, 5));
        let mut backwards = Totals::default();
        events().iter().rev().for_each(|event| backwards.add(event));
        assert_eq!(backwards, totals);
        assert!(totals.to_string().contains("nvptx-ra: no"));
    }

    /// Threads that write at once leave whole lines.
    #[test]
    fn threads_write_whole_lines() {
        let path = temporary("threads");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|merges| run("k", merges).append(&path).unwrap()));
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(Totals::read(&path, text.as_bytes()).unwrap().sum.merges, 4 * 4950);
    }

    /// A file that cannot be written, and a line that is no event, are errors with place and reason.
    #[test]
    fn errors_name_file_and_line() {
        let error = run("k", 1).append(Path::new("/nonexistent/stats")).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/stats") && error.ends_with("; check the path"), "{error}");
        let error = Totals::read(Path::new("s"), "{}\n".as_bytes()).unwrap_err().to_string();
        assert!(error.contains("s: line 1: no line of statistics"), "{error}");
    }
}
