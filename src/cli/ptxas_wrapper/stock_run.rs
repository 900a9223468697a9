//! ptxas on the unchanged text. Whatever happens afterwards, its result is in place.
//!
//! ptxas writes its options into the cubin, as a note: `-v -O 3 -arch sm_90`. So the run on the unchanged text has the
//! arguments as they are, and figures are there only where the user asks for them.

use std::io::{Read, Write as _};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use nvptx_ra::error::Error;

use super::invocation::{Invocation, Source};
use super::real_ptxas::RealPtxas;
use crate::interrupt;

/// Linux tells memory in these.
const KIB: u64 = 1024;

/// What ptxas makes of the unchanged text.
#[derive(Clone, Debug)]
pub(crate) struct StockResult {
    pub status: ExitStatus,
    /// What it writes to the standard output.
    pub output: Vec<u8>,
    /// What it writes to the standard error.
    pub messages: Vec<u8>,
    /// The output file; empty where ptxas fails.
    pub cubin: Vec<u8>,
    /// Its CPU time.
    pub took: Duration,
    /// The most memory that it had, in bytes.
    pub peak_memory: u64,
}

/// Runs ptxas with the arguments as they are: a cubin has some of them in it, `--verbose` among them.
pub(super) fn run(invocation: &Invocation, ptxas: &RealPtxas) -> Result<StockResult, Error> {
    let problem = |error: std::io::Error| Error::file(&ptxas.path, &error);
    let mut command = ptxas.command();
    command.args(&invocation.arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let text = invocation.inputs.iter().find(|input| input.source == Source::StandardInput).map(|input| &input.text);
    command.stdin(if text.is_some() { Stdio::piped() } else { Stdio::inherit() });
    let before = used_by_programs();
    let mut child = command.spawn().map_err(problem)?;
    interrupt::end_with_us(&child);
    let (input, output, messages) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        if let (Some(mut input), Some(text)) = (input, text) {
            // A ptxas that refuses its arguments reads nothing.
            scope.spawn(move || input.write_all(text));
        }
        let messages = scope.spawn(move || read_all(messages));
        let output = read_all(output);
        let messages = messages.join().unwrap_or_default();
        let status = interrupt::wait(&mut child).map_err(problem)?;
        let cubin = if status.success() { std::fs::read(&invocation.output).unwrap_or_default() } else { Vec::new() };
        let used = used_by_programs();
        let took = time(&used).saturating_sub(time(&before));
        // Programs ahead of it were asked for an option at most, and had less.
        let peak_memory = used.map_or(0, |used| u64::try_from(used.max_rss()).unwrap_or(0) * KIB);
        Ok(StockResult { status, output, messages, cubin, took, peak_memory })
    })
}

/// What all programs together have used that this one has started and waited for.
fn used_by_programs() -> Option<Usage> {
    getrusage(UsageWho::RUSAGE_CHILDREN).ok()
}

fn time(usage: &Option<Usage>) -> Duration {
    let microseconds = |usage: &Usage| usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(usage.as_ref().map_or(0, microseconds).try_into().unwrap_or(0))
}

/// Everything that a program writes.
fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}
