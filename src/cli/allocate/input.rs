//! What there is to allocate: functions, from LLVM or from text, or a problem.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use nvptx_ra::allocate::Problem;
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::function::Function;

use super::Arguments;
use crate::functions;

/// One thing to allocate.
pub(super) enum Given<'a> {
    /// A function that has left SSA form.
    Function(&'a Function),
    /// A problem.
    Problem(&'a Problem),
}

/// Calls `each` with what the input holds, in order.
pub(super) fn for_each(
    arguments: &Arguments,
    each: &mut dyn FnMut(Given<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let path = &arguments.input;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("ll" | "bc") => views(arguments, &compile(arguments), each),
        Some("mir") => views(arguments, &mir(arguments), each),
        _ if path.as_os_str() == "-" => text(path, std::io::stdin().lock(), each),
        _ => text(path, BufReader::new(File::open(path).map_err(|error| Error::file(path, &error))?), each),
    }
}

/// Functions in text form, or a problem, told apart by the first line.
fn text(
    path: &Path,
    mut reader: impl BufRead,
    each: &mut dyn FnMut(Given<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let begin = reader.fill_buf().map_err(|error| Error::file(path, &error))?;
    if !begin.starts_with(b"allocation ") {
        return functions::for_each(path, reader, &mut |function| each(Given::Function(function)), &mut |_| {});
    }
    let mut text = String::new();
    reader.read_to_string(&mut text).map_err(|error| Error::file(path, &error))?;
    each(Given::Problem(&Problem::parse(&text)?))
}

/// How to have the tool itself print the functions of LLVM IR as the coalescer would get them.
fn compile(arguments: &Arguments) -> Vec<String> {
    let level = format!("-O{}", arguments.level);
    let path = arguments.input.to_string_lossy();
    // Renaming would print its functions too.
    let fixed = ["compile", "--set", "trace=view;rename=off", "-o", "/dev/null", "--cpu", &arguments.cpu];
    fixed.into_iter().chain([level.as_str(), &path]).map(str::to_owned).collect()
}

/// How to have the tool itself print the functions of machine code.
fn mir(arguments: &Arguments) -> Vec<String> {
    let cpu = format!("-mcpu={}", arguments.cpu);
    let path = arguments.input.to_string_lossy();
    let command = ["mir", "-passes=machine-function(print<nvptx-ra-view>)", &cpu, &path, "-o", "/dev/null"];
    command.into_iter().map(str::to_owned).collect()
}

/// Runs this tool in a process of its own, because LLVM's options are set once for a process, and reads what it prints.
fn views(
    arguments: &Arguments,
    command: &[String],
    each: &mut dyn FnMut(Given<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let path = &arguments.input;
    let failed = |problem: String| Error::pass(problem, "see its messages");
    let program = std::env::current_exe().map_err(|error| Error::file("/proc/self/exe".as_ref(), &error))?;
    let mut child = Command::new(program)
        .args(command)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("{}: {error}", command[0])))?;
    let mut message = None;
    if let Some(output) = child.stderr.take() {
        let keep = |line: &str| Some(line.to_owned()).filter(|line| !line.trim().is_empty());
        let reader = BufReader::new(output);
        let result = functions::for_each(path, reader, &mut |function| each(Given::Function(function)), &mut |line| {
            message = message.take().or_else(|| keep(line));
        });
        if result.is_err() {
            let _ = child.kill();
            let _ = child.wait();
            return result;
        }
    }
    let status = child.wait().map_err(|error| failed(format!("{}: {error}", command[0])))?;
    if status.success() {
        return Ok(());
    }
    let problem = message.as_deref().unwrap_or("no message").trim_start_matches("nvptx-ra: ").to_owned();
    Err(Error::new(ErrorKind::View, problem, format!("{} does not compile", path.display())))
}
