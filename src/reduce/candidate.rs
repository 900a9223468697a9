//! A text and the launch of a kernel in it.

use super::registers::has_unset;
use super::statements::instructions;
use crate::error::Error;
use crate::ptx::Module;

/// How a kernel is launched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// The blocks of the grid.
    pub grid: [u32; 3],
    /// The threads of a block.
    pub block: [u32; 3],
    /// The bytes of each parameter, in order; `None` of one that is drawn.
    pub arguments: Vec<Option<Vec<u8>>>,
    /// What is drawn depends on it.
    pub seed: u64,
}

/// A text of PTX and a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// The text.
    pub text: String,
    /// The launch.
    pub launch: Launch,
}

impl Candidate {
    /// The text with its statements.
    ///
    /// # Errors
    /// It cannot be cut into statements.
    pub fn module(&self) -> Result<Module<'_>, Error> {
        Module::read("reduced.ptx", self.text.as_bytes())
    }

    /// The same without what the kernel does not name.
    pub(super) fn slice(&self, kernel: &str) -> Option<Self> {
        let text = String::from_utf8(self.module().ok()?.slices(&[kernel]).pop()??).ok()?;
        Some(Self { text, launch: self.launch.clone() })
    }

    /// Whether an instruction reads a register that nothing sets.
    pub fn has_unset_registers(&self) -> bool {
        self.module().is_ok_and(|module| has_unset(&module))
    }

    /// How many instructions the text has.
    pub fn instructions(&self) -> usize {
        self.module().map_or(0, |module| instructions(&module).count())
    }
}
