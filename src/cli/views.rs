//! The functions of a file as the coalescer gets them: out of SSA form, from LLVM IR, machine code or text.

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};

use inkwell::context::Context;
use nvptx_ra::config::COPY_COALESCER;
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::ffi::codegen as llvm;
use nvptx_ra::function::Function;
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::target::Classification;

use crate::codegen::{self, Settings};
use crate::functions;
use crate::input::{self, Input};

/// An input, and how it is compiled where it is LLVM IR.
pub(crate) struct Source {
    path: PathBuf,
    content: Content,
    /// The processor.
    cpu: String,
    /// Its features; for LLVM IR.
    mattr: String,
    /// The optimisation level; for LLVM IR.
    level: u8,
}

/// What the input holds.
enum Content {
    /// LLVM IR.
    Ir(Vec<u8>),
    /// Machine code.
    MachineCode(Vec<u8>),
    /// Functions in text form, which may be many and large: they are read one by one.
    Functions(Box<dyn BufRead>),
}

impl Source {
    /// Reads an input, as far as that is needed before its functions are asked for.
    pub(crate) fn read(input: Input, cpu: &str, mattr: &str, level: u8) -> Result<Self, Error> {
        let (path, kind) = (input.path.clone(), input.kind);
        let content = match kind {
            InputKind::MachineCode => Content::MachineCode(input.content()?),
            kind if input::IR.contains(&kind) => Content::Ir(input.content()?),
            _ => Content::Functions(input.reader),
        };
        Ok(Self { path, content, cpu: cpu.to_owned(), mattr: mattr.to_owned(), level })
    }

    /// Whether it is LLVM IR.
    pub(crate) fn is_ir(&self) -> bool {
        matches!(self.content, Content::Ir(_))
    }

    /// Has LLVM IR compiled at another level from now on.
    pub(crate) fn set_level(&mut self, level: u8) {
        self.level = level;
    }

    /// Calls `each` with every function and what its opcodes mean, in order. Functions in text form are there once.
    pub(crate) fn for_each(
        &mut self,
        each: &mut dyn FnMut(Function, Arc<Classification>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Content::Ir(content) = &self.content {
            let settings = Settings::new(&self.mattr, self.level);
            let functions = generate(content, &self.path, &settings, &self.cpu)?;
            return functions.into_iter().try_for_each(|(function, classification)| each(function, classification));
        }
        // Of a text nothing but the names is known.
        let by_name = &mut |function: Function| {
            let classification = Arc::new(Classification::by_name(function.opcodes()));
            each(function, classification)
        };
        if let Content::Functions(reader) = &mut self.content {
            return functions::for_each(&self.path, reader, by_name, &mut |_| {});
        }
        match &self.content {
            Content::MachineCode(content) => self.run_tool(&self.mir(), content, by_name),
            Content::Ir(_) | Content::Functions(_) => Ok(()),
        }
    }

    /// Compiles LLVM IR to a file of PTX.
    pub(crate) fn write_ptx(&self, output: &Path) -> Result<(), Error> {
        match &self.content {
            Content::Ir(content) => self.run_tool(&self.compile(output), content, &mut |_| Ok(())),
            _ => Err(Error::internal("no LLVM IR to compile", None)),
        }
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
    /// prints. It gets the content where ours was standard input.
    fn run_tool(
        &self,
        command: &[String],
        content: &[u8],
        each: &mut dyn FnMut(Function) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let failed = |error: std::io::Error| Error::pass(format!("{}: {error}", command[0]), "see its messages");
        let program = std::env::current_exe().map_err(|error| Error::file("/proc/self/exe".as_ref(), &error))?;
        let is_piped = input::is_stream(&self.path);
        let mut child = Command::new(program)
            .args(command)
            .stdin(if is_piped { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut complaint = Complaint::default();
        let (input, output) = (child.stdin.take(), child.stderr.take());
        let result = std::thread::scope(|scope| {
            // A process that reads no more has failed, and says why.
            scope.spawn(move || input.map(|mut input| input.write_all(content)));
            let output = output.map(BufReader::new);
            let hear = |output| functions::for_each(&self.path, output, each, &mut |line| complaint.hear(line));
            let result = output.map_or(Ok(()), hear);
            if result.is_err() {
                let _ = child.kill();
            }
            result
        });
        let status = child.wait().map_err(failed)?;
        result?;
        if status.success() {
            return Ok(());
        }
        let problem = complaint.problem().unwrap_or_else(|| format!("LLVM says nothing, {status}"));
        Err(Error::new(ErrorKind::View, problem, format!("{} does not compile", input::name(&self.path))))
    }
}

/// Compiles LLVM IR in process as far as the coalescer.
fn generate(
    content: &[u8],
    path: &Path,
    settings: &Settings,
    cpu: &str,
) -> Result<Vec<(Function, Arc<Classification>)>, Error> {
    // LLVM's options are set once for a process, in which nothing else is compiled.
    static STOP: LazyLock<Result<(), String>> =
        LazyLock::new(|| llvm::parse_llvm_options(&[format!("-stop-after={COPY_COALESCER}")]));
    STOP.clone().map_err(|message| Error::new(ErrorKind::Option, message, "report this"))?;
    let context = Context::create();
    let module = codegen::parse(&context, content, path)?;
    settings.views(&module, cpu, &input::name(path))
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
