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
            _ if self.is_ir() => {
                let functions = self.generate().map_err(|error| self.does_not_compile(&error.to_string()))?;
                functions.into_iter().try_for_each(each)
            }
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

    /// An error by the first line of its message, which may have been printed.
    fn does_not_compile(&self, message: &str) -> Error {
        let first = message.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message");
        let problem = first.trim_start_matches("nvptx-ra: ").to_owned();
        Error::new(ErrorKind::View, problem, format!("{} does not compile", self.path.display()))
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
        let level = format!("-O{}", self.level);
        let features = format!("--mattr={}", self.mattr);
        let (path, output) = (self.path.to_string_lossy(), output.to_string_lossy());
        let fixed = ["-o", &output, "--cpu", &self.cpu, &level, &features, &path];
        ["compile"].iter().chain(&fixed).copied().map(str::to_owned).collect()
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
        let mut message = None;
        if let Some(output) = child.stderr.take() {
            let keep = |line: &str| Some(line.to_owned()).filter(|line| !line.trim().is_empty());
            let reader = BufReader::new(output);
            let result = functions::for_each(path, reader, each, &mut |line| {
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
        Err(self.does_not_compile(message.as_deref().unwrap_or_default()))
    }
}
