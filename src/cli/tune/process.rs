//! Child processes that may hang or be interrupted.

use std::fs::File;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::cpu_time::Meter;
use crate::interrupt::is_interrupted;

/// The time limit of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// Elapsed time.
    Elapsed(Duration),
    /// CPU time, and time during which the program only waits. Other work on the machine does not count.
    Computed(Duration),
}

/// Why a program did not end by itself. Prints as a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RunFailure {
    /// The program was killed at the limit.
    TooLong(Limit),
    /// The program failed for a reason other than its input.
    Lost(String),
}

impl std::fmt::Display for RunFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = |limit: &Duration| (limit.as_secs_f64() * 10.0).round() / 10.0;
        match self {
            Self::TooLong(Limit::Elapsed(limit)) => write!(f, "takes more than {} s", seconds(limit)),
            Self::TooLong(Limit::Computed(limit)) => write!(f, "takes more than {} s of CPU time", seconds(limit)),
            Self::Lost(problem) => f.write_str(problem),
        }
    }
}

/// How a program ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunResult {
    pub(super) status: ExitStatus,
    /// Its CPU time.
    pub(super) computed: Duration,
}

/// The signal that kills a program if memory is exhausted or if a user requests it.
const KILL: i32 = 9;

/// Runs a program until it ends or reaches the limit. Standard output and standard error go to files, which may be the
/// same file. Returns how the program ended. If the program does not end by itself, its children are killed, too, and
/// an error is returned.
pub(super) fn run(mut command: Command, output: &Path, errors: &Path, limit: Limit) -> Result<RunResult, RunFailure> {
    let lost = |problem: String| RunFailure::Lost(problem);
    let interrupted = || Err(lost("was interrupted".into()));
    if is_interrupted() {
        return interrupted();
    }
    let create = |path: &Path| File::create(path).map_err(|error| lost(format!("{}: {error}", path.display())));
    let out = create(output)?;
    let err =
        if errors == output { out.try_clone().map_err(|error| lost(error.to_string()))? } else { create(errors)? };
    let start = Instant::now();
    let child = command.process_group(0).stdin(Stdio::null()).stdout(out).stderr(err).spawn();
    let mut child = child.map_err(|error| lost(format!("cannot be started: {error}")))?;
    let mut meter = Meter::new(child.id());
    let mut pause = Duration::from_millis(1);
    loop {
        // The times of a program can be read only until its status is collected.
        let is_over = is_over(&child);
        meter.read();
        if is_over {
            let status = child.wait().map_err(|error| lost(format!("cannot be waited for: {error}")))?;
            return match status.signal() {
                Some(KILL) => Err(lost("was killed".into())),
                _ => Ok(RunResult { status, computed: meter.computed() }),
            };
        }
        let is_too_long = match limit {
            Limit::Elapsed(limit) => start.elapsed() >= limit,
            Limit::Computed(limit) => meter.used() >= limit,
        };
        if is_interrupted() || is_too_long {
            end(&mut child);
            return if is_too_long { Err(RunFailure::TooLong(limit)) } else { interrupted() };
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Whether a program has ended. Its status can still be collected.
fn is_over(child: &Child) -> bool {
    let Some(id) = i32::try_from(child.id()).ok().map(Pid::from_raw) else { return true };
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    !matches!(waitid(Id::Pid(id), flags), Ok(WaitStatus::StillAlive) | Err(nix::Error::EINTR))
}

/// Kills a program and its children, which are its process group. The standard library has no function for this.
fn end(child: &mut Child) {
    let group = format!("kill -KILL -{}", child.id());
    // The process may have ended already. Without a shell, at least the program itself is killed.
    let _ = Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status();
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that does not end is killed together with its children. A program that fails or crashes has a result.
    /// The result of a program that SIGKILL ended is unknown.
    #[test]
    fn time_limit() {
        let folder = tempfile::tempdir().expect("there is space");
        let (log, started) = (folder.path().join("log"), folder.path().join("pid"));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("sleep 60 & echo $! > {}; wait", started.display()));
        let failure = run(shell, &log, &log, Limit::Elapsed(Duration::from_millis(300))).expect_err("it is stopped");
        assert_eq!(failure.to_string(), "takes more than 0.3 s");
        let sleep = std::fs::read_to_string(&started).expect("it began");
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", sleep.trim())).unwrap_or_default();
        let is_over = || state().is_empty() || state().contains(") Z ");
        // On a busy machine, a signal may arrive late.
        let waited = Instant::now();
        while !is_over() && waited.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(is_over(), "{}", state());
        let ended = |command: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]);
            let end = run(shell, &log, &log, Limit::Elapsed(Duration::from_secs(30)));
            end.map(|RunResult { status, .. }| (status.code(), status.signal()))
        };
        assert_eq!(ended("exit 1"), Ok((Some(1), None)));
        assert_eq!(ended("kill -SEGV $$"), Ok((None, Some(11))));
        assert_eq!(ended("kill -KILL $$"), Err(RunFailure::Lost("was killed".into())));
    }

    /// A limit of CPU time ends a program that computes, a program whose child computes, and a program that only waits.
    /// Other work on the machine does not end such a program earlier. The CPU time of a program is known after its end.
    #[test]
    fn limits_of_cpu_time() {
        let folder = tempfile::tempdir().expect("there is space");
        let log = folder.path().join("log");
        let ended = |command: &str, limit: u64| {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]);
            run(shell, &log, &log, Limit::Computed(Duration::from_millis(limit)))
        };
        let endless = "while :; do :; done";
        for command in [endless, &format!("sh -c '{endless}'; :"), "sleep 60"] {
            let failure = ended(command, 300).expect_err(command);
            assert_eq!(failure.to_string(), "takes more than 0.3 s of CPU time", "{command}");
        }
        let counts = |to: u32| ended(&format!("n=0; while [ $n -lt {to} ]; do n=$((n+1)); done"), 60_000);
        let [short, long] = [1, 200_000].map(|to| counts(to).expect("it ends").computed);
        assert!(long > short && long > Duration::ZERO, "{short:?} {long:?}");
    }
}
