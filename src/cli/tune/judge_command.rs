//! `nvptx-ra judge`: one run of ptxas, an edge of the graph that `tune --ninja` writes.

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

/// Run ptxas on one PTX file for the cache of `tune`; the graph that `tune --ninja` writes calls this
///
/// A refusal of ptxas and the end of the time limit are results, too. A problem of this machine is an error and writes
/// nothing.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The PTX
    input: PathBuf,
    /// The answer: an entry of the cache, under the name that the graph has for it
    #[arg(short, long)]
    output: PathBuf,
    /// The processor
    #[arg(long)]
    cpu: String,
    /// How long ptxas may take
    #[arg(long, value_name = "MS")]
    limit_ms: u64,
    /// The assembler
    #[arg(long, value_name = "PROGRAM")]
    ptxas: PathBuf,
    /// The disassembler
    #[arg(long, value_name = "PROGRAM")]
    cuobjdump: PathBuf,
    /// The disassembler with tables of registers
    #[arg(long, value_name = "PROGRAM")]
    nvdisasm: PathBuf,
    /// An option for ptxas, of the compiler that made the code
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    option: Vec<OsString>,
    /// Look for the values that ptxas spills, by the source lines that the PTX gives its instructions
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
        let problem = format!("{}: an answer to something else", arguments.output.display());
        let remedy = "the graph belongs to another version of ptxas or of this tool, or the file has changed; \
            write the graph again with the programs that run it";
        return Err(Error::new(ErrorKind::File, problem, remedy));
    }
    let inspection = if arguments.spills { Inspection::Spills } else { Inspection::Disassembler };
    // Elsewhere most machine code is read without the disassembler, for time alone.
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
