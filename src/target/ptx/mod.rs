//! What the mnemonics of PTX mean, as the PTX ISA 9.0 defines them.
//!
//! An opcode of a view that was made from PTX has LLVM's name where LLVM has one for the same thing and passes look at
//! it: moves, plain loads and stores. Every other opcode is a mnemonic with its modifiers, then a `/`, then the form of
//! its operands: `add.s32/ri`, `@mma.sync.…/v4v4v2v4`. An `@` in front says that the instruction stands under a
//! predicate. No name of LLVM has a `/`.
//!
//! One [table](rules) says what each mnemonic means, the longest that fits first. [`adjust`] adds what modifiers say.

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

/// Which operands an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// None.
    Nothing,
    /// The first one, all registers of it.
    First,
    /// The first one, unless that is an address.
    FirstIfRegister,
    /// The first two.
    FirstTwo,
    /// The first one, which it reads, too.
    Updates,
    /// What the instruction is, its own rule says: calls.
    Call,
}

impl Writes {
    /// Whether an operand is written: by its number, and whether it is an address. Of a call none is.
    pub fn includes(self, number: usize, is_address: bool) -> bool {
        match self {
            Self::Nothing | Self::Call => false,
            Self::First | Self::Updates => number == 0,
            Self::FirstIfRegister => number == 0 && !is_address,
            Self::FirstTwo => number < 2,
        }
    }
}

/// Where control goes behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// To the next one.
    Next,
    /// To its label.
    Branch,
    /// To one of the labels of its list.
    IndexedBranch,
    /// Nowhere: the function or the thread ends.
    End,
    /// To a function, and back.
    Call,
}

/// What a mnemonic means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// What passes ask of its opcode.
    pub info: OpcodeInfo,
    /// Which operands it writes.
    pub writes: Writes,
    /// Where control goes.
    pub control: Control,
    /// Whether it goes on when the next instruction begins, so that its registers must stay until a wait.
    pub is_asynchronous: bool,
    /// Whether it waits for such.
    pub is_wait: bool,
}

impl Meaning {
    pub(super) const fn new(info: OpcodeInfo, writes: Writes) -> Self {
        Self { info, writes, control: Control::Next, is_asynchronous: false, is_wait: false }
    }

    /// What the mnemonic with its modifiers means; `None` of one that is not known.
    pub fn of(mnemonic: &str) -> Option<Self> {
        let mut end = mnemonic.len();
        loop {
            if let Some(&&meaning) = MEANINGS.get(&mnemonic[..end]) {
                return Some(adjust::with_modifiers(meaning, mnemonic));
            }
            end = mnemonic[..end].rfind('.')?;
        }
    }

    /// What an instruction of the mnemonic does beyond registers, and in which memory.
    pub fn effects(&self, mnemonic: &str) -> (Effects, MemorySpace) {
        adjust::effects(self, mnemonic)
    }
}

/// The rules by mnemonic. Nothing goes through it in order.
static MEANINGS: LazyLock<FxHashMap<String, &'static Meaning>> = LazyLock::new(|| {
    let mut meanings = FxHashMap::default();
    for rule in rules::RULES.iter().flat_map(|rules| rules.iter()) {
        for name in rule.names.split_ascii_whitespace() {
            pattern::expand(name, &mut |name| _ = meanings.insert(name.to_owned(), &rule.meaning));
        }
    }
    meanings
});

/// The role of the opcode of that name, whether it is one of PTX or of LLVM.
pub fn role(name: &str) -> Role {
    super::classify(name).role()
}

/// What the opcode of that name is, if it is one of PTX.
pub(super) fn classify(name: &str) -> Option<OpcodeInfo> {
    let opcode = PtxOpcode::of(name)?;
    if opcode.mnemonic == "mov" || opcode.mnemonic.starts_with("mov.") {
        return Some(adjust::special_register(&opcode));
    }
    let info = Meaning::of(opcode.mnemonic).map_or(OpcodeInfo::UNKNOWN, |meaning| meaning.info);
    Some(adjust::in_form(info, &opcode))
}
