//! Statistics: the work of passes on each function, and its duration.
//!
//! Statistics are a log of events, one line of JSON each, appended to the file of the option `stats`. A compiler plugin
//! cannot rely on the end of its process (a driver may abort, or exit by `_exit`), and one build runs many compilers at
//! once. Therefore, each event is written immediately, and no event is overwritten. A line is written by one call on a
//! file opened for appending, so lines of different threads and processes do not mix. [`Totals`] sums the events.

mod copy_refusal;
mod counts;
mod figures;
mod spill_bytes;
mod totals;
mod work;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::error::Error;
pub use copy_refusal::CopyRefusal;
pub use counts::{Counts, Frequencies};
pub use figures::{KernelFigures, ModuleFigures};
pub use spill_bytes::SpillBytes;
pub use totals::Totals;
pub use work::{FunctionStats, Work, nanoseconds};

/// A line of the statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A pass ran on a function.
    Run(Box<FunctionStats>),
    /// Time that the C++ shim takes for a function, known only after the pass.
    Shim {
        /// The function's name.
        function: String,
        /// The pass's name.
        pass: String,
        /// Nanoseconds by phase.
        time_ns: Counts,
    },
    /// A function was left unchanged because of an error.
    Failure {
        /// The function's name.
        function: String,
        /// The pass's name.
        pass: String,
        /// The diagnostic.
        message: String,
    },
    /// The kernels of a module were forecast.
    Forecast(ModuleFigures),
    /// A clone of a module was compiled for the forecast. LLVM's diagnostics for it are discarded.
    Clone {
        /// Number of errors. A clone with errors is not used.
        errors: u64,
        /// Number of warnings.
        warnings: u64,
        /// The first error; empty if there was none.
        first_error: String,
    },
}

/// Keeps the threads of this process from interleaving if the system writes a long line in parts.
static WRITING: Mutex<()> = Mutex::new(());

impl Event {
    /// Appends the event to a file, which is created if needed.
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

#[cfg(test)]
mod tests {
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

    /// Appended events can be read again, and the totals do not depend on the order of events.
    #[test]
    fn appended_events_add_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stats.jsonl");
        for event in events() {
            event.append(&path).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
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

    /// Spills are summed under ptxas's names. If there are any, they are printed as ptxas prints them.
    #[test]
    fn spills_add_up() {
        let spills = SpillBytes { shared_stored: 8, shared_loaded: 24, loaded: 4, ..SpillBytes::default() };
        let work = Work { spills, values_kept: 2, slot_bytes: 1024, cache_given_up: 8192, ..Work::default() };
        let event = Event::Run(Box::new(FunctionStats { work, ..FunctionStats::default() }));
        let line = serde_json::to_string(&event).unwrap();
        assert!(line.contains(r#""SSpillB":8,"SRefillB":24,"LowLmemSpillSize":0"#), "{line}");
        let totals = Totals::read(Path::new("s"), format!("{line}\n{line}\n").as_bytes()).unwrap();
        let text = totals.to_string();
        for expected in [
            "values spilled to shared memory              4\nbytes of their slots                      2048\n\
             L1 cache lost, at most                    8192\n",
            "# [LSpillB=0] [LRefillB=0], [SSpillB=16], [SRefillB=48], [LowLmemSpillSize=0] [FrameLmemSpillSize=0]\n\
             # [LNonSpillB=0] [LNonRefillB=8], [NonSpillSize=0]\n",
        ] {
            assert!(text.contains(expected), "{text}");
        }
        assert!(!Totals::default().to_string().contains("LSpillB"));
    }

    /// Threads that write at the same time write whole lines.
    #[test]
    fn threads_write_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stats.jsonl");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|merges| run("k", merges).append(&path).unwrap()));
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(Totals::read(&path, text.as_bytes()).unwrap().sum.merges, 4 * 4950);
    }

    /// A file that cannot be written, and a line that is not an event, cause errors that contain the file or line, and
    /// the reason.
    #[test]
    fn errors_name_file_and_line() {
        let error = run("k", 1).append(Path::new("/nonexistent/stats")).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/stats") && error.ends_with("; check the path"), "{error}");
        let error = Totals::read(Path::new("s"), "{}\n".as_bytes()).unwrap_err().to_string();
        assert!(error.contains("s: line 1: not a line of statistics"), "{error}");
    }
}
