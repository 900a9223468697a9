//! The names of opcodes that are PTX mnemonics, and the operand forms in these names.
//!
//! * [`mod@equivalent`]: LLVM's equivalent opcodes.

mod equivalent;

pub use equivalent::{as_llvm, equivalent};

/// The parts of an opcode's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxOpcode<'a> {
    /// Whether the instruction has a predicate.
    pub is_guarded: bool,
    /// The mnemonic with its modifiers.
    pub mnemonic: &'a str,
    /// The form of the operands.
    pub form: &'a str,
}

impl<'a> PtxOpcode<'a> {
    /// Parses a name. `None` for one of LLVM's names.
    pub fn of(name: &'a str) -> Option<Self> {
        let (mnemonic, form) = name.split_once('/')?;
        let bare = mnemonic.strip_prefix('@');
        Some(Self { is_guarded: bare.is_some(), mnemonic: bare.unwrap_or(mnemonic), form })
    }
}

/// The form of an instruction's operands, with one or more characters for each operand.
#[derive(Clone, Debug, Default)]
pub struct Form(String);

impl Form {
    /// Adds an operand: `r` for a register, `i` a number, `s` a symbol, `a` an address, `n` a negated predicate, ….
    pub fn push(&mut self, letter: char) {
        self.0.push(letter);
    }

    /// Adds a vector of `length` registers.
    pub fn push_vector(&mut self, length: usize) {
        self.0.push_str(&format!("v{length}"));
    }

    /// Returns the characters.
    pub fn letters(&self) -> &str {
        &self.0
    }
}

/// Returns the operands of a form, in order: the letter, the index of the first operand of the view, and the number of
/// operands. An address counts as two operands, a vector has its length after its letter, and every other letter counts
/// as one.
pub(crate) fn operands(form: &str) -> impl Iterator<Item = (char, usize, usize)> + '_ {
    let (mut letters, mut at) = (form.chars().peekable(), 0);
    std::iter::from_fn(move || {
        let letter = letters.next()?;
        let mut length = 0;
        while let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(10)) {
            length = 10 * length + digit as usize;
            letters.next();
        }
        let count = match letter {
            'v' => length,
            'a' => 2,
            _ => 1,
        };
        at += count;
        Some((letter, at - count, count))
    })
}

/// Returns the indices of the operands of the view that are bases of a mnemonic's addresses. `None` for an opcode of
/// LLVM.
pub(crate) fn bases_of_addresses(name: &str) -> Option<Vec<usize>> {
    let opcode = PtxOpcode::of(name)?;
    Some(operands(opcode.form).filter(|&(letter, ..)| letter == 'a').map(|(_, at, _)| at).collect())
}

/// Returns the width of a type, and whether it is an integer type. `None` for any other word.
pub(crate) fn scalar_type(word: &str) -> Option<(u32, bool)> {
    let bits = word.get(1..)?.parse().ok().filter(|bits| [8, 16, 32, 64, 128].contains(bits))?;
    match word.as_bytes()[0] {
        b's' | b'u' | b'b' => Some((bits, true)),
        b'f' => Some((bits, false)),
        _ => None,
    }
}
