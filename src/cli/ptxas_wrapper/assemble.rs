//! Runs ptxas on another PTX module with the invocation's own options.

use std::fs;
use std::process::Stdio;

use nvptx_ra::error::Error;
use nvptx_ra::ptx::other_names;

use super::invocation::Invocation;
use super::real_ptxas::RealPtxas;
use crate::ptxas::Folder;
use crate::ptxas_run::{Assembled, Failure};

/// Whether an invocation runs ptxas once or several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// Once. This run gets the options that concern one run, such as a trace of times.
    One,
    /// Several times: on the stock PTX, and for a search. Only the run on the stock PTX gets the options that concern
    /// one run.
    Several,
}

/// Assembles a PTX module as the invocation assembles its own module. Neither the output file nor the standard streams
/// are touched.
pub(super) fn assemble(invocation: &Invocation, ptxas: &RealPtxas, ptx: &[u8], runs: Runs) -> Result<Assembled, Error> {
    let folder = Folder::new("ptxas")?;
    let (text, output) = (folder.path("found.ptx"), folder.path("found.cubin"));
    fs::write(&text, ptx).map_err(|error| Error::file(&text, &error))?;
    let mut command = ptxas.command();
    command.args(invocation.verbose.then_some("--verbose")).args(&invocation.options);
    command.args(invocation.options_of_one_run.iter().filter(|_| runs == Runs::One));
    command.arg("--output-file").arg(&output).arg(&text);
    let done = command.stdin(Stdio::null()).output().map_err(|error| Error::file(&ptxas.path, &error))?;
    let messages = String::from_utf8_lossy(&done.stderr).into_owned();
    if let Some(failure) = Failure::of(done.status, &messages) {
        return Err(Error::pass(failure.about("the result"), "the unchanged result stays"));
    }
    let cubin = fs::read(&output).map_err(|error| Error::file(&output, &error))?;
    let named = |problem: String| Error::pass(problem, "the unchanged result stays");
    Assembled { cubin, messages }.with_own_names(&other_names(ptx)).map_err(named)
}
