//! Forwards ptxas's output and exit status as this process's own.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};

use nix::sys::signal::{Signal, raise};
/// Writes ptxas's output. A closed stream is not an error, because it has no reader.
pub(super) fn say(output: &[u8], messages: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(output).and_then(|()| stdout.flush());
    let _ = std::io::stderr().write_all(messages);
}

/// Ends this process like another process: with the same exit code, or by the same signal.
pub(super) fn end_as(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        if let Ok(signal) = Signal::try_from(signal) {
            // Rust's handler for faults may consume the first signal, and then uninstalls itself.
            let _ = raise(signal);
            let _ = raise(signal);
        }
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
