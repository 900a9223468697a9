//! The names of opcodes that are mnemonics of PTX, and the form of operands in them.
//!
//! * [`mod@equivalent`]: the opcodes of LLVM that do the same.

mod equivalent;

pub use equivalent::{as_llvm, equivalent};

/// The name of an opcode, in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxOpcode<'a> {
    /// Whether it stands under a predicate.
    pub is_guarded: bool,
    /// The mnemonic with its modifiers.
    pub mnemonic: &'a str,
    /// The form of its operands.
    pub form: &'a str,
}

impl<'a> PtxOpcode<'a> {
    /// The parts of a name; `None` of a name of LLVM.
    pub fn of(name: &'a str) -> Option<Self> {
        let (mnemonic, form) = name.split_once('/')?;
        let bare = mnemonic.strip_prefix('@');
        Some(Self { is_guarded: bare.is_some(), mnemonic: bare.unwrap_or(mnemonic), form })
    }
}

/// The form of an instruction's operands, one letter or more each.
#[derive(Clone, Debug, Default)]
pub struct Form(String);

impl Form {
    /// Adds an operand: `r` a register, `i` a number, `s` a symbol, `a` an address, `n` a predicate that is negated, ….
    pub fn push(&mut self, letter: char) {
        self.0.push(letter);
    }

    /// Adds a vector of so many registers.
    pub fn push_vector(&mut self, length: usize) {
        self.0.push_str(&format!("v{length}"));
    }

    /// The letters.
    pub fn letters(&self) -> &str {
        &self.0
    }
}

/// The operands of a form, in order: the letter of each, how many operands of the view stand ahead of it, and how many it is.
/// Every letter is one operand, but an address is two, and a vector has its length behind its letter.
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

/// The operands of the view that are the bases of a mnemonic's addresses; `None` of an opcode of LLVM.
pub(crate) fn bases_of_addresses(name: &str) -> Option<Vec<usize>> {
    let opcode = PtxOpcode::of(name)?;
    Some(operands(opcode.form).filter(|&(letter, ..)| letter == 'a').map(|(_, at, _)| at).collect())
}

/// The bits of a type, and whether it is one of integers; `None` of what is no type.
pub(crate) fn scalar_type(word: &str) -> Option<(u32, bool)> {
    let bits = word.get(1..)?.parse().ok().filter(|bits| [8, 16, 32, 64, 128].contains(bits))?;
    match word.as_bytes()[0] {
        b's' | b'u' | b'b' => Some((bits, true)),
        b'f' => Some((bits, false)),
        _ => None,
    }
}
