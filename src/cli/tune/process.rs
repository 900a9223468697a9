//! Programs that may hang, or be interrupted.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::interrupt::is_interrupted;

/// Runs a program to its end, or to the limit, its output in files, which may be one. Whether it succeeded; an error
/// where there was no end. Whatever it has started and not waited for is ended with it then.
pub(super) fn run(mut command: Command, output: &Path, errors: &Path, limit: Duration) -> Result<bool, String> {
    let interrupted = || Err("was interrupted".into());
    if is_interrupted() {
        return interrupted();
    }
    let create = |path: &Path| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
    let out = create(output)?;
    let err = if errors == output { out.try_clone().map_err(|error| error.to_string())? } else { create(errors)? };
    let start = Instant::now();
    let child = command.process_group(0).stdin(Stdio::null()).stdout(out).stderr(err).spawn();
    let mut child = child.map_err(|error| format!("cannot be started: {error}"))?;
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if is_interrupted() => {
                end(&mut child);
                return interrupted();
            }
            Ok(None) if start.elapsed() >= limit => {
                end(&mut child);
                return Err(format!("takes more than {} s", limit.as_secs_f64()));
            }
            Ok(None) => std::thread::sleep(pause),
            Err(error) => return Err(format!("is lost: {error}")),
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

    /// A program that does not end is ended, with what it has started; one that fails has failed.
    #[test]
    fn time_limit() {
        let path = |name: &str| std::env::temp_dir().join(format!("nvptx-ra-limit-{}.{name}", std::process::id()));
        let (log, started) = (path("log"), path("pid"));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("sleep 60 & echo $! > {}; wait", started.display()));
        let problem = run(shell, &log, &log, Duration::from_millis(300)).expect_err("it is stopped");
        assert!(problem.contains("takes more than 0.3 s"), "{problem}");
        let sleep = std::fs::read_to_string(&started).expect("it began");
        let state = std::fs::read_to_string(format!("/proc/{}/stat", sleep.trim())).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{state}");
        assert_eq!(run(Command::new("false"), &log, &log, Duration::from_secs(30)), Ok(false));
        for path in [log, started] {
            std::fs::remove_file(path).expect("it was written");
        }
    }
}
