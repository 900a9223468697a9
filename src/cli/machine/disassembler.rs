//! Runs NVIDIA's disassemblers: nvdisasm for a cubin, cuobjdump for a file with several cubins.

use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use nvptx_ra::error::Error;

use super::cubin::with_fewer_registers;
use super::life_ranges::{self, LifeRanges};
use super::source_lines::SourceLines;
use crate::ptxas;
use crate::ptxas_run::crash;

/// Most letters shown of a program's error message.
const SHOWN: usize = 300;

/// Functions of a cubin, by symbol number; all functions if empty.
pub(crate) type Functions = [usize];

/// Part of the error message of CUDA 12.8's nvdisasm for a function that has all registers.
const TOO_MANY_REGISTERS: &str = "Invalid register count";

/// Calls `each` with the live registers of a cubin's functions. The table is parsed while it is printed.
pub(crate) fn life_ranges(
    nvdisasm: &Path,
    cubin: &Path,
    functions: &Functions,
    name: &str,
    mut each: impl FnMut(LifeRanges),
) -> Result<(), Error> {
    let error = match table(nvdisasm, cubin, functions, name, &mut each) {
        Err(error) if error.to_string().contains(TOO_MANY_REGISTERS) => error,
        done => return done,
    };
    let bytes = std::fs::read(cubin).map_err(|error| Error::file(cubin, &error))?;
    let Some(changed) = with_fewer_registers(&bytes) else { return Err(error) };
    let copy = tempfile::NamedTempFile::new().map_err(|error| Error::file(&std::env::temp_dir(), &error))?;
    std::fs::write(copy.path(), changed).map_err(|error| Error::file(copy.path(), &error))?;
    table(nvdisasm, copy.path(), functions, name, &mut each)
}

fn table(
    nvdisasm: &Path,
    cubin: &Path,
    functions: &Functions,
    name: &str,
    each: &mut impl FnMut(LifeRanges),
) -> Result<(), Error> {
    let read = |output: BufReader<ChildStdout>| {
        life_ranges::for_each(output, |function| {
            each(function);
            Ok::<(), String>(())
        })
    };
    run(nvdisasm, &["-c", "-plr", "-lrm", "narrow"], cubin, functions, name, read)?.map_err(|problem| {
        let remedy = "use the nvdisasm of CUDA 12.8 to 13.5";
        Error::pass(format!("{name}: nvdisasm's table of registers: {problem}"), remedy)
    })
}

/// Returns the disassembly of a cubin's code.
pub(crate) fn text(nvdisasm: &Path, cubin: &Path, name: &str) -> Result<String, Error> {
    let read = |mut output: BufReader<ChildStdout>| {
        let mut text = String::new();
        output.read_to_string(&mut text).map(|_| text)
    };
    run(nvdisasm, &["-c"], cubin, &[], name, read)?.map_err(|error| Error::file(cubin, &error))
}

/// Returns the source lines of a cubin's instructions.
pub(crate) fn source_lines(
    nvdisasm: &Path,
    cubin: &Path,
    functions: &Functions,
    name: &str,
) -> Result<SourceLines, Error> {
    run(nvdisasm, &["-c", "-gi"], cubin, functions, name, SourceLines::read)?
        .map_err(|error| Error::file(cubin, &error))
}

/// Runs nvdisasm on a cubin. Messages call the cubin `name`.
fn run<T>(
    nvdisasm: &Path,
    options: &[&str],
    cubin: &Path,
    functions: &Functions,
    name: &str,
    read: impl FnOnce(BufReader<ChildStdout>) -> T,
) -> Result<T, Error> {
    let failed = |error: std::io::Error| Error::pass(format!("nvdisasm: {error}"), REMEDY);
    // Errors go to a file: with two pipes, a program could block on one while this process reads the other.
    let said = tempfile::NamedTempFile::new().map_err(|error| Error::file(&std::env::temp_dir(), &error))?;
    let errors = said.reopen().map_err(|error| Error::file(said.path(), &error))?;
    let numbers: Vec<String> = functions.iter().map(usize::to_string).collect();
    let only = (!numbers.is_empty()).then(|| ["-fun".to_owned(), numbers.join(",")]).into_iter().flatten();
    let mut child = Command::new(nvdisasm)
        .args(options)
        .args(only)
        .arg(cubin)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .map_err(failed)?;
    let output = child.stdout.take().ok_or_else(|| Error::internal("nvdisasm has no output", None))?;
    let read = read(BufReader::with_capacity(1 << 16, output));
    // If this process stops reading early, the disassembler's pipe closes and SIGPIPE ends the disassembler.
    let status = child.wait().map_err(failed)?;
    let words = std::fs::read(said.path()).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).into_owned();
    if status.success() || status.code().is_none() && words.is_empty() && is_broken_pipe(status) {
        return Ok(read);
    }
    let words = if words.trim().is_empty() { status.to_string() } else { shortened(words.trim()) };
    let refused = || format!("nvdisasm refuses it: {words}");
    let problem = crash("nvdisasm", status).unwrap_or_else(refused);
    Err(Error::pass(format!("{name}: {problem}"), "build the file again, because it may be truncated or damaged"))
}

/// Remedy for a missing program.
const REMEDY: &str = "put NVIDIA's nvdisasm and cuobjdump on PATH, or set CUDA_PATH to a CUDA toolkit";

/// Returns whether a program ended because its output pipe was closed.
fn is_broken_pipe(status: std::process::ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    const PIPE: i32 = 13;
    status.signal() == Some(PIPE)
}

fn shortened(words: &str) -> String {
    words.lines().collect::<Vec<_>>().join("; ").chars().take(SHOWN).collect()
}

/// Extracts the cubins of a file into a folder. Returns their paths, by name.
pub(crate) fn extract(file: &Path, name: &str, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let file = std::path::absolute(file).map_err(|error| Error::file(file, &error))?;
    let output = Command::new(ptxas::tool("cuobjdump"))
        .args(["-xelf", "all"])
        .arg(&file)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Error::pass(format!("cuobjdump: {error}"), REMEDY))?;
    let entries = std::fs::read_dir(folder).map_err(|error| Error::file(folder, &error))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut cubins: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "cubin")).collect();
    cubins.sort();
    if !cubins.is_empty() {
        return Ok(cubins);
    }
    let crash = crash("cuobjdump", output.status).map_or(String::new(), |crash| crash + "; ");
    let words = shortened((crash + String::from_utf8_lossy(&output.stderr).trim()).trim_end_matches("; "));
    let words = if words.is_empty() { String::new() } else { format!(": {words}") };
    let problem = format!("{name}: cuobjdump finds no machine code for a GPU{words}");
    Err(Error::pass(problem, "give a cubin, a file that was linked with one, or PTX"))
}
