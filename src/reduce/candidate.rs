//! A PTX module and the launch of one of its kernels.

use super::registers::has_unset;
use super::statements::instructions;
use crate::error::Error;
use crate::ptx::Module;

/// Launch of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of each block.
    pub block: [u32; 3],
    /// The bytes of each parameter, in order; `None` for a parameter with random bytes.
    pub arguments: Vec<Option<Vec<u8>>>,
    /// Seed of random contents.
    pub seed: u64,
}

/// A PTX module and a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// The PTX module's text.
    pub text: String,
    /// The launch.
    pub launch: Launch,
}

impl Candidate {
    /// Parses the text into statements.
    ///
    /// # Errors
    /// The text cannot be split into statements.
    pub fn module(&self) -> Result<Module<'_>, Error> {
        Module::read("reduced.ptx", self.text.as_bytes())
    }

    /// Returns the candidate without functions and variables that the kernel does not reference.
    pub(super) fn slice(&self, kernel: &str) -> Option<Self> {
        let text = String::from_utf8(self.module().ok()?.slices(&[kernel]).pop()??).ok()?;
        Some(Self { text, launch: self.launch.clone() })
    }

    /// Whether an instruction reads a register that no instruction writes.
    pub fn has_unset_registers(&self) -> bool {
        self.module().is_ok_and(|module| has_unset(&module))
    }

    /// Returns the number of instructions.
    pub fn instructions(&self) -> usize {
        self.module().map_or(0, |module| instructions(&module).count())
    }
}
