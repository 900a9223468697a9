//! Runs ptxas on the stock PTX. Its result stays in place if the search finds nothing better.
//!
//! ptxas writes its options into the cubin as a note: `-v -O 3 -arch sm_90`. So this run gets exactly the given
//! arguments, and figures are only printed if the user requests them.

use std::io::{Read, Write as _};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use nvptx_ra::error::Error;

use super::invocation::{Invocation, Source};
use super::real_ptxas::RealPtxas;
use crate::interrupt;

/// Linux's unit for memory.
const KIB: u64 = 1024;

/// ptxas's result for the stock PTX.
#[derive(Clone, Debug)]
pub(crate) struct StockResult {
    pub status: ExitStatus,
    /// Its standard output.
    pub output: Vec<u8>,
    /// Its standard error.
    pub messages: Vec<u8>,
    /// The output file; empty if ptxas fails.
    pub cubin: Vec<u8>,
    /// Its CPU time.
    pub took: Duration,
    /// Its peak memory, in bytes.
    pub peak_memory: u64,
}

/// Runs ptxas with exactly the given arguments, because a cubin contains some of them, `--verbose` among them.
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
            // A ptxas that refuses its arguments reads no input.
            scope.spawn(move || input.write_all(text));
        }
        let messages = scope.spawn(move || read_all(messages));
        let output = read_all(output);
        let messages = messages.join().unwrap_or_default();
        let status = interrupt::wait(&mut child).map_err(problem)?;
        let cubin = if status.success() { std::fs::read(&invocation.output).unwrap_or_default() } else { Vec::new() };
        let used = used_by_programs();
        let took = time(&used).saturating_sub(time(&before));
        // Earlier child processes, if any, only tested an option, and used less memory.
        let peak_memory = used.map_or(0, |used| u64::try_from(used.max_rss()).unwrap_or(0) * KIB);
        Ok(StockResult { status, output, messages, cubin, took, peak_memory })
    })
}

/// Returns the resources that all ended child processes have used in total.
fn used_by_programs() -> Option<Usage> {
    getrusage(UsageWho::RUSAGE_CHILDREN).ok()
}

fn time(usage: &Option<Usage>) -> Duration {
    let microseconds = |usage: &Usage| usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(usage.as_ref().map_or(0, microseconds).try_into().unwrap_or(0))
}

/// Reads a program's whole output.
fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}
