//! A cubin as a program that runs on the CPU.

use std::path::Path;

use nvptx_ra::emulate::{Count, Program, Side};
use nvptx_ra::error::Error;
use nvptx_ra::sass::counts::Counts;
use nvptx_ra::sass::cubin::Cubin;
use nvptx_ra::sass::hazards::Finding;
use nvptx_ra::sass::machine::Machine;
use nvptx_ra::sass::meaning::Approximation;

use super::disassembler;
use crate::ptxas;

/// A file whose kernels run.
pub(crate) enum Loaded {
    Ptx(Program),
    Machine(Machine),
}

impl Loaded {
    pub(crate) fn program(&self) -> &Program {
        match self {
            Self::Ptx(program) => program,
            Self::Machine(machine) => &machine.program,
        }
    }

    /// Where a kernel's machine code does not wait for what it needs.
    pub(crate) fn hazards(&self, kernel: &str) -> Vec<Finding> {
        match self {
            Self::Ptx(_) => Vec::new(),
            Self::Machine(machine) => machine.hazards(kernel),
        }
    }

    /// How often each instruction of a kernel ran, by its address, if it is machine code.
    pub(crate) fn count_by_address(&self, kernel: &str, side: &Side) -> Vec<(u32, Count)> {
        let Self::Machine(machine) = self else { return Vec::new() };
        machine.count_by_address(kernel, side)
    }

    /// What a kernel executed, if it is machine code.
    pub(crate) fn counts(&self, kernel: &str, side: &Side) -> Option<Counts> {
        match self {
            Self::Ptx(_) => None,
            Self::Machine(machine) => machine.counts(kernel, side),
        }
    }
}

/// The program of a cubin. The disassembler is asked only for what our own tables do not know.
///
/// # Errors
/// That says that it is no cubin, or why the disassembler did not read it.
pub(crate) fn program(bytes: &[u8], name: &str, approximation: Approximation) -> Result<Loaded, Error> {
    let cubin = Cubin::read(bytes)
        .ok_or_else(|| Error::pass(format!("{name}: it is cut or damaged"), "build the file again"))?;
    let disassemble = || {
        log::debug!("{name}: it has instructions that only the disassembler knows");
        let copy = tempfile::NamedTempFile::new().map_err(|error| Error::file(&std::env::temp_dir(), &error))?;
        std::fs::write(copy.path(), bytes).map_err(|error| Error::file(copy.path(), &error))?;
        disassembler::text(Path::new(&ptxas::tool("nvdisasm")), copy.path(), name)
    };
    Machine::new(&cubin, approximation, disassemble).map(Loaded::Machine)
}
