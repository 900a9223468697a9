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

/// A file whose kernels can run.
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

    /// Returns the instructions of a kernel that do not wait for a value that they need.
    pub(crate) fn hazards(&self, kernel: &str) -> Vec<Finding> {
        match self {
            Self::Ptx(_) => Vec::new(),
            Self::Machine(machine) => machine.hazards(kernel),
        }
    }

    /// Returns how often each instruction of a kernel was executed, by address; empty if the kernel is not machine
    /// code.
    pub(crate) fn count_by_address(&self, kernel: &str, side: &Side) -> Vec<(u32, Count)> {
        let Self::Machine(machine) = self else { return Vec::new() };
        machine.count_by_address(kernel, side)
    }

    /// Returns a kernel's execution counts; `None` if the kernel is not machine code.
    pub(crate) fn counts(&self, kernel: &str, side: &Side) -> Option<Counts> {
        match self {
            Self::Ptx(_) => None,
            Self::Machine(machine) => machine.counts(kernel, side),
        }
    }
}

/// Loads the program of a cubin. The disassembler only runs for instructions that this project's tables do not contain.
///
/// # Errors
/// The file is no cubin, or the disassembler cannot read it.
pub(crate) fn program(bytes: &[u8], name: &str, approximation: Approximation) -> Result<Loaded, Error> {
    let cubin = Cubin::read(bytes)
        .ok_or_else(|| Error::pass(format!("{name}: it is truncated or damaged"), "build the file again"))?;
    let disassemble = || {
        log::debug!("{name}: it has instructions that only the disassembler knows");
        let copy = tempfile::NamedTempFile::new().map_err(|error| Error::file(&std::env::temp_dir(), &error))?;
        std::fs::write(copy.path(), bytes).map_err(|error| Error::file(copy.path(), &error))?;
        disassembler::text(Path::new(&ptxas::tool("nvdisasm")), copy.path(), name)
    };
    Machine::new(&cubin, approximation, disassemble).map(Loaded::Machine)
}
