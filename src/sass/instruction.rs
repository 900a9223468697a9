//! A machine instruction, as it is read from the disassembler's text or from its bits.

use super::control::Control;
use super::operand::{Operand, Predicate};

/// Bytes of an instruction, on all processors since sm_70.
pub const BYTES: u32 = 16;

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// In bytes from the start of the function.
    pub address: u32,
    /// The predicate that it stands under; none where it is always done.
    pub guard: Option<Predicate>,
    /// The name with its modifiers: `IMAD.WIDE.U32`.
    pub mnemonic: Box<str>,
    /// The operands, in the order in which the disassembler prints them.
    pub operands: Vec<Operand>,
    /// When it may issue.
    pub control: Control,
    /// All of its bits.
    pub bits: u128,
}

impl Instruction {
    /// The name without modifiers.
    pub fn word(&self) -> &str {
        self.mnemonic.split('.').next().unwrap_or_default()
    }

    /// The modifiers, in order.
    pub fn modifiers(&self) -> impl Iterator<Item = &str> {
        self.mnemonic.split('.').skip(1)
    }

    /// Whether there is a modifier.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers().any(|one| one == modifier)
    }
}

/// A function's machine code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its instructions, 16 bytes each, in order.
    pub instructions: Vec<Instruction>,
    /// The names of other functions that operands name.
    pub callees: Vec<String>,
}
