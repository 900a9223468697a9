//! The names of opcodes that are mnemonics, and the form of operands in them.

use super::super::TupleKind;

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
fn operands(form: &str) -> impl Iterator<Item = (char, usize, usize)> + '_ {
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

/// The vectors of a mnemonic's operands: how many operands of the view stand ahead of each, how long it is, and what
/// kind of row.
pub(in super::super) fn vector_rows(name: &str) -> Option<Vec<(usize, usize, TupleKind)>> {
    let opcode = PtxOpcode::of(name)?;
    let kind = kind_of(opcode.mnemonic)?;
    let vectors = operands(opcode.form).filter(|&(letter, _, length)| letter == 'v' && length > 1);
    Some(vectors.map(|(_, at, length)| (at, length, kind)).collect())
}

/// The operands of the view that are the bases of a mnemonic's addresses; `None` of an opcode of LLVM.
pub(crate) fn bases_of_addresses(name: &str) -> Option<Vec<usize>> {
    let opcode = PtxOpcode::of(name)?;
    Some(operands(opcode.form).filter(|&(letter, ..)| letter == 'a').map(|(_, at, _)| at).collect())
}

/// What kind of row the vectors of a mnemonic are; `None` where they are no rows of the hardware.
fn kind_of(mnemonic: &str) -> Option<TupleKind> {
    let has = |part: &str| mnemonic.split('.').any(|word| word == part);
    Some(match mnemonic.split('.').next().unwrap_or_default() {
        "ld" | "st" if has("param") || has("param::func") || has("param::entry") => return None,
        "ld" | "ldu" | "st" | "suld" | "sust" | "multimem" | "atom" | "red" => TupleKind::Memory,
        "tex" | "tld4" => TupleKind::Texture,
        "wgmma" => TupleKind::Warpgroup,
        "mma" | "wmma" | "ldmatrix" | "stmatrix" => TupleKind::Matrix,
        "tcgen05" => TupleKind::TensorMemory,
        _ => return None,
    })
}
