//! Instructions: guard predicate, mnemonic with its modifiers, operands.

use super::operand::{self, Name, Operand, write_name, write_operand};
use super::reader::Reader;
use super::writer::Writer;
use crate::ptx::text::Text;
use crate::ptx::token::{Token, TokenKind};
use crate::target::ptx::{Meaning, Writes};

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The guard predicate.
    pub guard: Option<Guard>,
    /// The first word of the mnemonic.
    pub word: Token,
    /// The modifiers, each with its dot.
    pub modifiers: Vec<Token>,
    /// The operands.
    pub operands: Vec<Operand>,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Whether the instruction executes if the predicate is false.
    pub is_negated: bool,
    /// The predicate.
    pub name: Name,
}

impl Instruction {
    pub(super) fn read(mut reader: Reader<'_, '_>) -> Option<Self> {
        let guard = if reader.eat(b'@') {
            let is_negated = reader.eat(b'!');
            Some(Guard { is_negated, name: operand::name(&mut reader)? })
        } else {
            None
        };
        let word = reader.of_kind(TokenKind::Word)?;
        let mut modifiers = Vec::new();
        while let Some(modifier) = reader.of_kind(TokenKind::DotWord) {
            modifiers.push(modifier);
        }
        let operands = if reader.is(b';') { Vec::new() } else { operands(&mut reader)? };
        reader.expect(b';')?;
        reader.finish()?;
        Some(Self { guard, word, modifiers, operands })
    }

    pub(super) fn write(&self, writer: &mut Writer<'_, '_>) {
        if let Some(guard) = &self.guard {
            writer.punctuation(b'@');
            if guard.is_negated {
                writer.punctuation(b'!');
            }
            write_name(writer, &guard.name);
        }
        writer.token(self.word);
        self.modifiers.iter().for_each(|&modifier| writer.token(modifier));
        writer.list(&self.operands, write_operand);
        writer.punctuation(b';');
    }

    /// Returns the operands that the instruction writes. For an unknown instruction, returns the first operand, unless
    /// it is an address.
    pub fn results(&self, text: &Text<'_>) -> impl Iterator<Item = &Operand> {
        let writes = Meaning::of(&self.mnemonic(text)).map_or(Writes::FirstIfRegister, |meaning| meaning.writes);
        let is_result = move |(number, operand): &(usize, &Operand)| {
            writes.includes(*number, matches!(operand, Operand::Address(_)))
        };
        self.operands.iter().enumerate().filter(is_result).map(|(_, operand)| operand)
    }

    /// Returns the mnemonic with its modifiers, such as `ld.global.b32`.
    pub fn mnemonic(&self, text: &Text<'_>) -> String {
        let words = std::iter::once(&self.word).chain(&self.modifiers);
        words.map(|&word| text.str(word)).collect()
    }
}

fn operands(reader: &mut Reader<'_, '_>) -> Option<Vec<Operand>> {
    // A semicolon ends the last operand.
    let before_semicolon = reader.before(b';')?;
    let mut inside = before_semicolon;
    let operands = operand::operands(&mut inside, 0)?;
    inside.finish()?;
    reader.move_to(&inside);
    Some(operands)
}
