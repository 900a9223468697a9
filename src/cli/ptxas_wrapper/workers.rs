//! Searches PTX modules concurrently, each in a separate process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use nvptx_ra::error::{Error, ErrorKind};
use serde::Deserialize;

use super::recorded_search::Found;
use super::records::Record;
use crate::interrupt::is_interrupted;
use crate::ptxas::Folder;

/// Interval at which the program checks whether a process has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Arguments that all processes share.
#[derive(Clone, Copy)]
pub(super) struct Workers<'a> {
    pub(super) program: &'a Path,
    pub(super) folder: &'a Path,
    pub(super) runs: u32,
    pub(super) ptxas: &'a Path,
}

/// A process's output, in the form of `--json`.
#[derive(Deserialize)]
struct Answer {
    texts: Vec<Found>,
    problems: Vec<String>,
    done: usize,
}

/// Returns the path of this program.
pub(super) fn this_program() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(|error| {
        Error::new(ErrorKind::File, format!("this program's own path: {error}"), "start it by its path")
    })
}

impl Workers<'_> {
    /// Searches the modules, `jobs` at once. `add` gets the results, in the modules' order.
    pub(super) fn search(self, records: &[&Record], jobs: usize, add: &mut dyn FnMut(Result<Option<Found>, Error>)) {
        let next = AtomicUsize::new(0);
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            let turn = || {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let record = records.get(number).filter(|_| !is_interrupted())?;
                Some((number, self.one(record)))
            };
            for _ in 0..jobs.min(records.len()) {
                let send = send.clone();
                scope.spawn(move || std::iter::from_fn(turn).for_each(|result| drop(send.send(result))));
            }
            drop(send);
            let (mut waiting, mut printed) = (BTreeMap::new(), 0);
            for (number, result) in receive {
                waiting.insert(number, result);
                while let Some(result) = waiting.remove(&printed) {
                    printed += 1;
                    add(result);
                }
            }
            waiting.into_values().for_each(add);
        });
    }

    /// Searches a module; `None` if another process has searched it meanwhile.
    fn one(self, record: &Record) -> Result<Option<Found>, Error> {
        let of = |problem| Error::new(ErrorKind::File, format!("{}: {problem}", record.digest), "search again");
        self.run(&record.digest).map_err(of)
    }

    fn run(self, digest: &str) -> Result<Option<Found>, String> {
        let folder = Folder::new("search").map_err(|error| error.to_string())?;
        let answer = folder.path("answer.json");
        let said = fs::File::create(&answer).map_err(|error| error.to_string())?;
        let mut command = Command::new(self.program);
        command.arg("search").arg(self.folder).args(["--json", "--runs", &self.runs.to_string(), "--only", digest]);
        command.arg("--ptxas").arg(self.ptxas).stdin(Stdio::null()).stdout(said).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut is_told = false;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                break status;
            }
            if is_interrupted() && !is_told {
                is_told = true;
                // The process id belongs to the child until the child's status is collected.
                let _ = i32::try_from(child.id()).map(|id| kill(Pid::from_raw(id), Signal::SIGTERM));
            }
            std::thread::sleep(LOOK);
        };
        let read = || serde_json::from_slice::<Answer>(&fs::read(&answer).ok()?).ok();
        let Some(Answer { mut texts, problems, done }) = read() else {
            return Err(format!("the search ended with {status}"));
        };
        match (texts.pop(), problems.into_iter().next()) {
            (Some(found), _) => Ok(Some(found)),
            (None, Some(problem)) => Err(problem),
            (None, None) if done > 0 => Ok(None),
            (None, None) => Err(format!("the search ended with {status}")),
        }
    }
}
