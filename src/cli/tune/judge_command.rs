//! `nvptx-ra judge`: one ptxas run, an edge of the graph that `tune --ninja` writes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::tune::question::NoAnswer;

use super::judge::cached::sealed;
use super::judge::ptxas::{Ptxas, Tools};
use super::judge::{Inspection, Judge as _};
use crate::input;

/// Run ptxas on one PTX file for the cache of `tune`; the graph of `tune --ninja` calls this command
///
/// If ptxas refuses the file or reaches the time limit, that is the result. A problem of this machine is an error and
/// writes nothing.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// PTX file
    input: PathBuf,
    /// Output file for the result: a cache entry, under the name that the graph uses
    #[arg(short, long)]
    output: PathBuf,
    /// Processor
    #[arg(long)]
    cpu: String,
    /// Time limit of ptxas
    #[arg(long, value_name = "MS")]
    limit_ms: u64,
    /// Assembler
    #[arg(long, value_name = "PROGRAM")]
    ptxas: PathBuf,
    /// Disassembler
    #[arg(long, value_name = "PROGRAM")]
    cuobjdump: PathBuf,
    /// Disassembler with register tables
    #[arg(long, value_name = "PROGRAM")]
    nvdisasm: PathBuf,
    /// Option for ptxas, from the compiler that made the code
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    option: Vec<OsString>,
    /// Find the values that ptxas spills, by the source lines that the PTX gives its instructions
    #[arg(long)]
    spills: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let ptx = input::read(&arguments.input, "judge", &[InputKind::Ptx])?;
    let Arguments { ptxas, cuobjdump, nvdisasm, .. } = arguments;
    let tools = Tools { ptxas: ptxas.clone(), cuobjdump: cuobjdump.clone(), nvdisasm: nvdisasm.clone() };
    let ptxas = Ptxas::new(tools, &arguments.cpu, &arguments.option)?;
    let key = ptxas.key(&ptx);
    if arguments.output.file_stem().is_none_or(|name| name.to_string_lossy() != key.to_string()) {
        let problem = format!("{}: the answer belongs to another question", arguments.output.display());
        let remedy = "the graph belongs to another version of ptxas or of this tool, or the file has changed; \
            write the graph again with the programs that run it";
        return Err(Error::new(ErrorKind::File, problem, remedy));
    }
    let inspection = if arguments.spills { Inspection::Spills } else { Inspection::Disassembler };
    // All other callers read most machine code without the disassembler, to save time.
    let answer = match ptxas.judge(&ptx, Duration::from_millis(arguments.limit_ms), inspection) {
        Ok(judged) => Ok(judged),
        Err(NoAnswer::Refused(problem)) => Err(problem),
        Err(trouble) => {
            return Err(Error::pass(format!("{}: {trouble}", arguments.input.display()), "run it again"));
        }
    };
    crate::output::write(&arguments.output, &sealed(&key, &answer))?;
    Ok(ExitCode::SUCCESS)
}
