//! Programs that may hang, or be interrupted.

use std::fs::File;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::interrupt::is_interrupted;

/// Why a program came to no end of its own. Prints as what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It was ended at the limit.
    TooLong(Duration),
    /// For a reason that has nothing to do with what it was given.
    Lost(String),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong(limit) => write!(f, "takes more than {} s", (limit.as_secs_f64() * 10.0).round() / 10.0),
            Self::Lost(problem) => f.write_str(problem),
        }
    }
}

/// The signal with which a machine without memory, or a person, ends programs.
const KILL: i32 = 9;

/// Runs a program to its end, or to the limit, its output in files, which may be one. How it ended; an error
/// where there was no end. Whatever it has started and not waited for is ended with it then.
pub(super) fn run(mut command: Command, output: &Path, errors: &Path, limit: Duration) -> Result<ExitStatus, Trouble> {
    let lost = |problem: String| Trouble::Lost(problem);
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
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.signal() == Some(KILL) => return Err(lost("was killed".into())),
            Ok(Some(status)) => return Ok(status),
            Ok(None) if is_interrupted() => {
                end(&mut child);
                return interrupted();
            }
            Ok(None) if start.elapsed() >= limit => {
                end(&mut child);
                return Err(Trouble::TooLong(limit));
            }
            Ok(None) => std::thread::sleep(pause),
            Err(error) => return Err(lost(format!("is lost: {error}"))),
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Ends a program and what it has started: its process group. The standard library knows no way to do that.
fn end(child: &mut Child) {
    let group = format!("kill -KILL -{}", child.id());
    // It may have ended meanwhile; where there is no shell at least the program itself ends.
    let _ = Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status();
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that does not end is ended, with what it has started; one that fails has failed, but for one that was
    /// killed: nobody knows what it would have done.
    #[test]
    fn time_limit() {
        let folder = tempfile::tempdir().expect("there is space");
        let (log, started) = (folder.path().join("log"), folder.path().join("pid"));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("sleep 60 & echo $! > {}; wait", started.display()));
        let trouble = run(shell, &log, &log, Duration::from_millis(300)).expect_err("it is stopped");
        assert_eq!(trouble.to_string(), "takes more than 0.3 s");
        let sleep = std::fs::read_to_string(&started).expect("it began");
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", sleep.trim())).unwrap_or_default();
        let is_over = || state().is_empty() || state().contains(") Z ");
        // On a busy machine a signal takes its time.
        let waited = Instant::now();
        while !is_over() && waited.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(is_over(), "{}", state());
        let ended = |command: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]);
            run(shell, &log, &log, Duration::from_secs(30)).map(|status| (status.code(), status.signal()))
        };
        assert_eq!(ended("exit 1"), Ok((Some(1), None)));
        assert_eq!(ended("kill -SEGV $$"), Ok((None, Some(11))));
        assert_eq!(ended("kill -KILL $$"), Err(Trouble::Lost("was killed".into())));
    }
}
