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

/// The vectors of a mnemonic's operands: how many operands of the view stand ahead of each, how long it is, and what
/// kind of row. The form counts operands of the view: every letter is one, but an address is two.
pub(in super::super) fn vector_rows(name: &str) -> Option<Vec<(usize, usize, TupleKind)>> {
    let opcode = PtxOpcode::of(name)?;
    let kind = kind_of(opcode.mnemonic)?;
    let (mut rows, mut at) = (Vec::new(), 0);
    let mut letters = opcode.form.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != 'v' {
            at += if letter == 'a' { 2 } else { 1 };
            continue;
        }
        let mut length = 0;
        while let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(10)) {
            length = 10 * length + digit as usize;
            letters.next();
        }
        if length > 1 {
            rows.push((at, length, kind));
        }
        at += length;
    }
    Some(rows)
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
