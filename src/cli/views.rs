//! The functions of a file as the coalescer gets them: out of SSA form, from LLVM IR, machine code, PTX or text.

#[cfg(feature = "llvm")]
mod llvm;

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nvptx_ra::error::Error;
use nvptx_ra::function::Function;
use nvptx_ra::input_kind::InputKind;
use nvptx_ra::ptx::Module;
use nvptx_ra::target::Classification;

#[cfg(feature = "llvm")]
use crate::codegen::Settings;
use crate::functions;
use crate::input::{self, Input};

/// Compilation options for LLVM IR and machine code; empty without LLVM.
#[derive(Clone)]
pub(crate) struct Compilation {
    /// The processor.
    #[cfg(feature = "llvm")]
    pub(crate) cpu: String,
    /// All other options.
    #[cfg(feature = "llvm")]
    pub(crate) settings: Settings,
}

/// An input, and its compilation options for LLVM IR.
pub(crate) struct Source {
    path: PathBuf,
    content: Content,
    #[cfg_attr(not(feature = "llvm"), expect(dead_code, reason = "LLVM asks for it"))]
    compilation: Compilation,
}

/// The content of an input.
enum Content {
    /// LLVM IR.
    #[cfg(feature = "llvm")]
    Ir(Vec<u8>),
    /// Machine code.
    #[cfg(feature = "llvm")]
    MachineCode(Vec<u8>),
    /// PTX.
    Ptx(Vec<u8>),
    /// Functions in text form. There may be many large ones, so they are read one by one.
    Functions(Box<dyn BufRead>),
}

impl Source {
    /// Reads as much of an input as is needed before its functions are requested.
    pub(crate) fn read(input: Input, compilation: Compilation) -> Result<Self, Error> {
        let (path, kind) = (input.path.clone(), input.kind);
        let content = match kind {
            InputKind::Ptx => Content::Ptx(input.content()?),
            #[cfg(feature = "llvm")]
            InputKind::MachineCode => Content::MachineCode(input.content()?),
            #[cfg(feature = "llvm")]
            kind if input::IR.contains(&kind) => Content::Ir(input.content()?),
            _ => Content::Functions(input.reader),
        };
        Ok(Self { path, content, compilation })
    }

    /// Returns whether it is LLVM IR.
    pub(crate) fn is_ir(&self) -> bool {
        match &self.content {
            #[cfg(feature = "llvm")]
            Content::Ir(_) => true,
            _ => false,
        }
    }

    /// Returns the processor in PTX, or the processor for which LLVM IR is compiled.
    pub(crate) fn processor(&self) -> Result<Option<String>, Error> {
        let named = match &self.content {
            Content::Ptx(content) => Module::read(&input::name(&self.path), content)?.target().to_owned(),
            #[cfg(feature = "llvm")]
            Content::Ir(_) => self.compilation.cpu.clone(),
            _ => return Ok(None),
        };
        Ok(Some(named).filter(|named| !named.is_empty()))
    }

    /// Returns whether the input can be written as PTX for ptxas.
    pub(crate) fn has_ptx(&self) -> bool {
        self.is_ir() || matches!(self.content, Content::Ptx(_))
    }

    /// Sets another level for compiling LLVM IR.
    #[cfg(feature = "llvm")]
    pub(crate) fn set_level(&mut self, level: u8) {
        self.compilation.settings = self.compilation.settings.at_level(level);
    }

    /// Calls `each` with every function and the meaning of its opcodes, in order. Functions in text form can only be
    /// read once. If a function of PTX has no view, it is skipped with a message.
    pub(crate) fn for_each(
        &mut self,
        each: &mut dyn FnMut(Function, Arc<Classification>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // For text, only the names of the opcodes are known.
        let mut by_name = |function: Function| {
            let classification = Arc::new(Classification::by_name(function.opcodes()));
            each(function, classification)
        };
        if let Content::Functions(reader) = &mut self.content {
            return functions::for_each(&self.path, reader, &mut by_name, &mut |_| {});
        }
        match &self.content {
            Content::Functions(_) => Ok(()),
            Content::Ptx(content) => functions_of_ptx(&input::name(&self.path), content, each),
            #[cfg(feature = "llvm")]
            Content::Ir(content) => {
                let Compilation { cpu, settings } = &self.compilation;
                let functions = llvm::generate(content, &self.path, settings, cpu)?;
                functions.into_iter().try_for_each(|(function, classification)| each(function, classification))
            }
            #[cfg(feature = "llvm")]
            Content::MachineCode(content) => self.run_tool(&self.mir(), content, &mut by_name),
        }
    }

    /// Writes the PTX to a file; LLVM IR is compiled.
    pub(crate) fn write_ptx(&self, output: &Path) -> Result<(), Error> {
        match &self.content {
            Content::Ptx(content) => std::fs::write(output, content).map_err(|error| Error::file(output, &error)),
            #[cfg(feature = "llvm")]
            Content::Ir(content) => self.run_tool(&self.compile(output), content, &mut |_| Ok(())),
            _ => Err(Error::internal("there is no PTX of it", None)),
        }
    }
}

/// Calls `each` with the functions of a PTX file. Copies in PTX become moves, as in LLVM.
fn functions_of_ptx(
    name: &str,
    content: &[u8],
    each: &mut dyn FnMut(Function, Arc<Classification>) -> Result<(), Error>,
) -> Result<(), Error> {
    let module = Module::read(name, content)?;
    for body in module.bodies() {
        match module.view(body) {
            Ok(view) => each(view.function, view.classification)?,
            Err(reason) => say!("nvptx-ra: {name}: '{}' is skipped: {reason}", body.name(module.file())),
        }
    }
    Ok(())
}
