//! What ptxas has written goes to the streams of this program, which ends as ptxas has ended.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};

use nix::sys::signal::{Signal, raise};
/// Writes what ptxas has written. Where nobody listens any more, nothing is left to say.
pub(super) fn say(output: &[u8], messages: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(output).and_then(|()| stdout.flush());
    let _ = std::io::stderr().write_all(messages);
}

/// Ends as a program has ended: with its exit code, or by its signal.
pub(super) fn end_as(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        if let Ok(signal) = Signal::try_from(signal) {
            // A handler may take the first one for itself: Rust's, for faults, is done with it then.
            let _ = raise(signal);
            let _ = raise(signal);
        }
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
