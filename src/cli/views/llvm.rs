//! Functions of LLVM IR and of machine code: LLVM compiles them, in this process or in a child process.

use std::io::{BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};

use inkwell::context::Context;
use nvptx_ra::config::COPY_COALESCER;
use nvptx_ra::error::{Error, ErrorKind};
use nvptx_ra::ffi::codegen as llvm;
use nvptx_ra::function::Function;
use nvptx_ra::target::Classification;

use super::Source;
use crate::child_error::ChildError;
use crate::codegen::{self, Settings};
use crate::functions;
use crate::input;

impl Source {
    /// Returns the tool's arguments for compiling LLVM IR.
    pub(super) fn compile(&self, output: &Path) -> Vec<String> {
        let (path, output) = (self.path.to_string_lossy(), output.to_string_lossy());
        let command = ["compile", "-o", &output, "--cpu", &self.compilation.cpu, &path].map(str::to_owned);
        command.into_iter().chain(self.compilation.settings.arguments()).collect()
    }

    /// Returns the tool's arguments for printing the functions of machine code.
    pub(super) fn mir(&self) -> Vec<String> {
        let cpu = format!("-mcpu={}", self.compilation.cpu);
        let path = self.path.to_string_lossy();
        let command = ["mir", "-passes=machine-function(print<nvptx-ra-view>)", &cpu, &path, "-o", "/dev/null"];
        command.into_iter().map(str::to_owned).collect()
    }

    /// Runs this tool in a child process, because LLVM's options are set once for a process, and reads its output. If
    /// the input is standard input, the child gets the content through a pipe.
    pub(super) fn run_tool(
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
        let mut child_error = ChildError::default();
        let (input, output) = (child.stdin.take(), child.stderr.take());
        let result = std::thread::scope(|scope| {
            // If writing to the process fails, the process has failed, and reports the reason itself.
            scope.spawn(move || input.map(|mut input| input.write_all(content)));
            let output = output.map(BufReader::new);
            let hear = |output| functions::for_each(&self.path, output, each, &mut |line| child_error.hear(line));
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
        let problem = child_error.problem().unwrap_or_else(|| format!("LLVM has no message, {status}"));
        Err(Error::new(ErrorKind::View, problem, format!("{} does not compile", input::name(&self.path))))
    }
}

/// Compiles LLVM IR in process up to the coalescer.
pub(super) fn generate(
    content: &[u8],
    path: &Path,
    settings: &Settings,
    cpu: &str,
) -> Result<Vec<(Function, Arc<Classification>)>, Error> {
    // LLVM's options are set once for a process. They stop code generation after the coalescer, because this process
    // compiles nothing else.
    static STOP: LazyLock<Result<(), String>> =
        LazyLock::new(|| llvm::parse_llvm_options(&[format!("-stop-after={COPY_COALESCER}")]));
    STOP.clone().map_err(|message| Error::new(ErrorKind::Option, message, "report this"))?;
    let context = Context::create();
    let module = codegen::parse(&context, content, path)?;
    let name = input::name(path);
    codegen::end_after_fatal_errors(&name, cpu);
    settings.warn_of_unoptimised(&module, &name);
    settings.views(&module, cpu, &name)
}
