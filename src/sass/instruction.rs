//! A machine instruction, read from the disassembler's text or from its bits.

use super::control::Control;
use super::operand::{Operand, Predicate};

/// The size of an instruction in bytes, on all processors since sm_70.
pub const BYTES: u32 = 16;

/// A machine instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The address, in bytes from the start of the function.
    pub address: u32,
    /// The guard predicate. `None` if the instruction always executes.
    pub guard: Option<Predicate>,
    /// The name with its modifiers: `IMAD.WIDE.U32`.
    pub mnemonic: Box<str>,
    /// The operands, in the disassembler's order.
    pub operands: Vec<Operand>,
    /// The control codes.
    pub control: Control,
    /// All of its bits.
    pub bits: u128,
}

impl Instruction {
    /// Returns the name without modifiers.
    pub fn word(&self) -> &str {
        self.mnemonic.split('.').next().unwrap_or_default()
    }

    /// Returns the modifiers, in order.
    pub fn modifiers(&self) -> impl Iterator<Item = &str> {
        self.mnemonic.split('.').skip(1)
    }

    /// Whether the instruction has a modifier.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers().any(|one| one == modifier)
    }
}

/// A function's machine code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// The name.
    pub name: String,
    /// The instructions, 16 bytes each, in order.
    pub instructions: Vec<Instruction>,
    /// The names of other functions that operands refer to.
    pub callees: Vec<String>,
}
