//! The meaning of PTX mnemonics, as the PTX ISA 9.0 defines them.
//!
//! In a view that was made from PTX, an opcode has LLVM's name if LLVM has an opcode for the same instruction and
//! passes examine it: moves, plain loads and stores. The name of every other opcode is the mnemonic with its modifiers,
//! a `/`, and the form of its operands: `add.s32/ri`, `@mma.sync.…/v4v4v2v4`. A leading `@` means that the instruction
//! is under a predicate. No name of LLVM contains a `/`.
//!
//! One [table](rules) has the meaning of each mnemonic; the longest matching entry counts. [`adjust`] applies the
//! modifiers.

mod adjust;
mod rules;
#[cfg(test)]
mod tests;
mod vector_rows;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

pub(super) use vector_rows::vector_rows;

use super::info::OpcodeInfo;
use super::pattern;
use crate::function::ptx_opcode::PtxOpcode;
use crate::function::{Effects, MemorySpace, Role};

/// The operands that an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// No operand.
    Nothing,
    /// All registers of the first operand.
    First,
    /// The first operand, unless it is an address.
    FirstIfRegister,
    /// The first two operands.
    FirstTwo,
    /// The first operand, which is also read.
    Updates,
    /// A call, whose results have a rule of their own.
    Call,
}

impl Writes {
    /// Whether an operand is written. `number` is its position, and `is_address` is set for an address. Always false
    /// for a call.
    pub fn includes(self, number: usize, is_address: bool) -> bool {
        match self {
            Self::Nothing | Self::Call => false,
            Self::First | Self::Updates => number == 0,
            Self::FirstIfRegister => number == 0 && !is_address,
            Self::FirstTwo => number < 2,
        }
    }
}

/// The control flow after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Continues with the next instruction.
    Next,
    /// Jumps to its label.
    Branch,
    /// Jumps to one of the labels of its list.
    IndexedBranch,
    /// Ends the function or the thread.
    End,
    /// Calls a function and returns.
    Call,
}

/// The meaning of a mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The classification of its opcode.
    pub info: OpcodeInfo,
    /// The operands that it writes.
    pub writes: Writes,
    /// The control flow after it.
    pub control: Control,
    /// Whether it is asynchronous, so that its registers must stay unchanged until a wait.
    pub is_asynchronous: bool,
    /// Whether it waits for asynchronous instructions.
    pub is_wait: bool,
}

impl Meaning {
    pub(super) const fn new(info: OpcodeInfo, writes: Writes) -> Self {
        Self { info, writes, control: Control::Next, is_asynchronous: false, is_wait: false }
    }

    /// Returns the meaning of a mnemonic with its modifiers. `None` for an unknown mnemonic.
    pub fn of(mnemonic: &str) -> Option<Self> {
        let mut end = mnemonic.len();
        loop {
            if let Some(&&meaning) = MEANINGS.get(&mnemonic[..end]) {
                return Some(adjust::with_modifiers(meaning, mnemonic));
            }
            end = mnemonic[..end].rfind('.')?;
        }
    }

    /// Returns the effects and the memory space of an instruction with this mnemonic.
    pub fn effects(&self, mnemonic: &str) -> (Effects, MemorySpace) {
        adjust::effects(self, mnemonic)
    }
}

/// The meanings by mnemonic. The map is never iterated.
static MEANINGS: LazyLock<FxHashMap<String, &'static Meaning>> = LazyLock::new(|| {
    let mut meanings = FxHashMap::default();
    for rule in rules::RULES.iter().flat_map(|rules| rules.iter()) {
        for name in rule.names.split_ascii_whitespace() {
            pattern::expand(name, &mut |name| _ = meanings.insert(name.to_owned(), &rule.meaning));
        }
    }
    meanings
});

/// Returns the role of the opcode with this name, for names of PTX and of LLVM.
pub fn role(name: &str) -> Role {
    super::classify(name).role()
}

/// Returns the classification of the opcode with this name. `None` if it is not a name of PTX.
pub(super) fn classify(name: &str) -> Option<OpcodeInfo> {
    let opcode = PtxOpcode::of(name)?;
    if opcode.mnemonic == "mov" || opcode.mnemonic.starts_with("mov.") {
        return Some(adjust::special_register(&opcode));
    }
    let info = Meaning::of(opcode.mnemonic).map_or(OpcodeInfo::UNKNOWN, |meaning| meaning.info);
    Some(adjust::in_form(info, &opcode))
}
