//! The functions of a file as the coalescer gets them: out of SSA form, from LLVM IR, machine code or text.

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use inkwell::context::Context;
use nvptx_ra::config::COPY_COALESCER;
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::ffi::codegen as llvm;
use nvptx_ra::function::Function;

use crate::codegen::{self, Settings};
use crate::functions;

/// A file, and how it is compiled where it is LLVM IR.
pub(crate) struct Source {
    /// `.ll`, `.bc`, `.mir`; anything else is functions in text form.
    pub path: PathBuf,
    /// The processor.
    pub cpu: String,
    /// Its features; for LLVM IR.
    pub mattr: String,
    /// The optimisation level; for LLVM IR.
    pub level: u8,
}

impl Source {
    /// Whether LLVM has to make the functions.
    pub(crate) fn is_for_llvm(&self) -> bool {
        self.is_ir() || self.extension() == Some("mir")
    }

    /// Whether it is LLVM IR.
    pub(crate) fn is_ir(&self) -> bool {
        matches!(self.extension(), Some("ll" | "bc"))
    }

    /// Calls `each` with every function, in order.
    pub(crate) fn for_each(&self, each: &mut dyn FnMut(Function) -> Result<(), Error>) -> Result<(), Error> {
        match self.extension() {
            _ if self.is_ir() => self.generate()?.into_iter().try_for_each(each),
            Some("mir") => self.views(&self.mir(), each),
            _ => functions::for_each(&self.path, functions::open(&self.path)?, each, &mut |_| {}),
        }
    }

    /// Compiles LLVM IR in process as far as the coalescer.
    fn generate(&self) -> Result<Vec<Function>, Error> {
        // LLVM's options are set once for a process, in which nothing else is compiled.
        static STOP: LazyLock<Result<(), String>> =
            LazyLock::new(|| llvm::parse_llvm_options(&[format!("-stop-after={COPY_COALESCER}")]));
        let content = codegen::read(&self.path)?;
        STOP.clone().map_err(|message| Error::new(ErrorKind::Option, message, "report this"))?;
        let context = Context::create();
        let module = codegen::parse(&context, &content, &self.path)?;
        Settings::new(&self.mattr, self.level).views(&module, &self.cpu, &self.path.to_string_lossy())
    }

    fn extension(&self) -> Option<&str> {
        self.path.extension().and_then(|extension| extension.to_str())
    }

    /// Compiles LLVM IR to a file of PTX.
    pub(crate) fn write_ptx(&self, output: &Path) -> Result<(), Error> {
        self.views(&self.compile(output), &mut |_| Ok(()))
    }

    /// How to have the tool itself compile LLVM IR.
    fn compile(&self, output: &Path) -> Vec<String> {
        let (path, output) = (self.path.to_string_lossy(), output.to_string_lossy());
        let command = ["compile", "-o", &output, "--cpu", &self.cpu, &path].map(str::to_owned);
        command.into_iter().chain(Settings::new(&self.mattr, self.level).arguments()).collect()
    }

    /// How to have the tool itself print the functions of machine code.
    fn mir(&self) -> Vec<String> {
        let cpu = format!("-mcpu={}", self.cpu);
        let path = self.path.to_string_lossy();
        let command = ["mir", "-passes=machine-function(print<nvptx-ra-view>)", &cpu, &path, "-o", "/dev/null"];
        command.into_iter().map(str::to_owned).collect()
    }

    /// Runs this tool in a process of its own, because LLVM's options are set once for a process, and reads what it
    /// prints.
    fn views(&self, command: &[String], each: &mut dyn FnMut(Function) -> Result<(), Error>) -> Result<(), Error> {
        let path = &self.path;
        let failed = |problem: String| Error::pass(problem, "see its messages");
        let program = std::env::current_exe().map_err(|error| Error::file("/proc/self/exe".as_ref(), &error))?;
        let mut child = Command::new(program)
            .args(command)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(format!("{}: {error}", command[0])))?;
        let mut complaint = Complaint::default();
        if let Some(output) = child.stderr.take() {
            let reader = BufReader::new(output);
            let result = functions::for_each(path, reader, each, &mut |line| complaint.hear(line));
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
        let problem = complaint.problem().unwrap_or_else(|| format!("LLVM says nothing, {status}"));
        Err(Error::new(ErrorKind::View, problem, format!("{} does not compile", path.display())))
    }
}

/// What a process that fails says of it, among warnings, headings of functions and, where LLVM aborts, the stack.
#[derive(Default)]
struct Complaint {
    /// The first line that says it is an error.
    error: Option<String>,
    /// The first line of all.
    first: Option<String>,
    /// What follows is where LLVM was, and not why.
    is_over: bool,
}

impl Complaint {
    /// Takes up a line that belongs to no function.
    fn hear(&mut self, line: &str) {
        self.is_over |= line.starts_with("PLEASE submit a bug report") || line.starts_with("Stack dump:");
        if self.is_over || line.trim().is_empty() || line.starts_with("nvptx-ra: trace of '") {
            return;
        }
        let said = line.trim_start_matches("nvptx-ra: ");
        let error = said.strip_prefix("error: ").or_else(|| said.strip_prefix("LLVM ERROR: "));
        if let Some(error) = error {
            self.error.get_or_insert_with(|| error.trim_start_matches("nvptx-ra: ").to_owned());
        }
        self.first.get_or_insert_with(|| said.to_owned());
    }

    fn problem(self) -> Option<String> {
        self.error.or(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(lines: &[&str]) -> Option<String> {
        let mut complaint = Complaint::default();
        lines.iter().for_each(|line| complaint.hear(line));
        complaint.problem()
    }

    /// The error is told, wherever it stands; without one the first line that is no heading and no part of a stack.
    #[test]
    fn errors_come_first() {
        let says = |problem: &str| Some(problem.to_owned());
        let (heading, stack) = ("nvptx-ra: trace of 'k'", "PLEASE submit a bug report to …");
        let warning = "'+x' is not a recognized feature for this target (ignoring feature)";
        let aborted = [warning, heading, "LLVM ERROR: Cannot select: x", stack, "Stack dump:", "error: y"];
        assert_eq!(problem(&aborted), says("Cannot select: x"));
        assert_eq!(problem(&["error: nvptx-ra: kernel 'k': no", "error: other"]), says("kernel 'k': no"));
        assert_eq!(problem(&["", heading, "nvptx-ra: k.ll:1:1: expected x", "later"]), says("k.ll:1:1: expected x"));
        assert_eq!(problem(&[heading, stack, "0. Program arguments: llc"]), None);
    }
}
