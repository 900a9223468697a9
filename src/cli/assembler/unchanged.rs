//! ptxas on the unchanged text. Whatever happens afterwards, its result is in place.

use std::io::{Read, Write as _};
use std::process::{ExitStatus, Output, Stdio};

use nvptx_ra::error::Error;

use super::invocation::{Invocation, Source};
use super::messages;
use super::real::RealPtxas;
use crate::interrupt;

/// What ptxas makes of the unchanged text.
#[expect(dead_code, reason = "the search reads the report and the cubin")]
#[derive(Clone, Debug)]
pub(crate) struct UnchangedResult {
    pub status: ExitStatus,
    /// What it writes to the standard output.
    pub output: Vec<u8>,
    /// What it writes to the standard error for the arguments as they are.
    pub messages: Vec<u8>,
    /// The same with figures, whether the invocation asks for them or not: what [`crate::ptxas::parse`] reads.
    pub report: String,
    /// The output file; empty where ptxas fails.
    pub cubin: Vec<u8>,
}

/// Runs ptxas with the arguments as they are, and with `--verbose`. That changes messages alone, and where it is not
/// certain which of them it adds, ptxas runs once more without it.
pub(super) fn run(invocation: &Invocation, real: &RealPtxas) -> Result<UnchangedResult, Error> {
    let done = start(invocation, real, true)?;
    let report = String::from_utf8_lossy(&done.stderr).into_owned();
    let hidden = if invocation.verbose { Some(done.stderr.clone()) } else { messages::without_figures(&done.stderr) };
    let (done, messages) = match hidden {
        Some(messages) => (done, messages),
        None => {
            let plain = start(invocation, real, false)?;
            let messages = plain.stderr.clone();
            (plain, messages)
        }
    };
    let cubin = if done.status.success() { std::fs::read(&invocation.output).unwrap_or_default() } else { Vec::new() };
    Ok(UnchangedResult { status: done.status, output: done.stdout, messages, report, cubin })
}

fn start(invocation: &Invocation, real: &RealPtxas, with_figures: bool) -> Result<Output, Error> {
    let problem = |error: std::io::Error| Error::file(&real.path, &error);
    let mut command = real.command();
    if with_figures && !invocation.verbose {
        command.arg("--verbose");
    }
    command.args(&invocation.arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let text = invocation.inputs.iter().find(|input| input.source == Source::StandardInput).map(|input| &input.text);
    command.stdin(if text.is_some() { Stdio::piped() } else { Stdio::inherit() });
    let mut child = command.spawn().map_err(problem)?;
    interrupt::end_with_us(&child);
    let (input, output, messages) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        if let (Some(mut input), Some(text)) = (input, text) {
            // A ptxas that refuses its arguments reads nothing.
            scope.spawn(move || input.write_all(text));
        }
        let messages = scope.spawn(move || read_all(messages));
        let stdout = read_all(output);
        let stderr = messages.join().unwrap_or_default();
        let status = interrupt::wait(&mut child).map_err(problem)?;
        Ok(Output { status, stdout, stderr })
    })
}

/// Everything that a program writes.
fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}
