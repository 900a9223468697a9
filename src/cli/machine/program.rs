//! A cubin as a program that runs on the CPU.

use std::path::Path;

use nvptx_ra::emulate::{Program, Side};
use nvptx_ra::error::Error;
use nvptx_ra::sass::counts::Counts;
use nvptx_ra::sass::cubin::Cubin;
use nvptx_ra::sass::instruction::Function;
use nvptx_ra::sass::{lower, text};

use super::disassembler;
use crate::ptxas;

/// A program, and the machine code that it was made of.
pub(crate) struct Loaded {
    pub(crate) program: Program,
    pub(crate) code: Option<Vec<Function>>,
}

impl Loaded {
    /// What a kernel executed, if it is machine code.
    pub(crate) fn counts(&self, kernel: &str, side: &Side) -> Option<Counts> {
        let code = self.code.as_ref()?.iter().find(|code| code.name == kernel)?;
        let number = self.program.kernels().position(|name| name == kernel)?;
        Some(Counts::new(code, side.counts(&self.program).get(number)?))
    }
}

/// The program of a cubin, whose code the disassembler prints.
///
/// # Errors
/// That says that it is no cubin, or why the disassembler did not read it.
pub(crate) fn program(bytes: &[u8], name: &str) -> Result<Loaded, Error> {
    let cubin = Cubin::read(bytes)
        .ok_or_else(|| Error::pass(format!("{name}: it is cut or damaged"), "build the file again"))?;
    let copy = tempfile::NamedTempFile::new().map_err(|error| Error::file(&std::env::temp_dir(), &error))?;
    std::fs::write(copy.path(), bytes).map_err(|error| Error::file(copy.path(), &error))?;
    let text = disassembler::text(Path::new(&ptxas::tool("nvdisasm")), copy.path(), name)?;
    let (code, unread) = text::read(&text, &cubin.code());
    for line in &unread {
        log::debug!("{name}: {:#06x} of {}: {}", line.address, line.function, line.text);
    }
    Ok(Loaded { program: lower::program(&cubin, &code), code: Some(code) })
}
