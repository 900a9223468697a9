//! Writes statements from their parts.
//!
//! The parts define the order of the words and all punctuation. White space and comments come from the original
//! statement: each written token gets the white space and comments before the original token with the same number.
//! Parts that differ from the original statement give other bytes.

use crate::ptx::text::Text;
use crate::ptx::token::{Token, TokenKind};

/// A writer of statements, one after another.
#[derive(Debug)]
pub(super) struct Writer<'t, 'a> {
    text: &'t Text<'a>,
    at: Token,
    out: Vec<u8>,
}

impl<'t, 'a> Writer<'t, 'a> {
    /// Creates a writer of the statement that begins with a token.
    pub(super) fn new(text: &'t Text<'a>, first: Token) -> Self {
        Self { text, at: first, out: Vec::new() }
    }

    /// Writes a word, number or string of the file.
    pub(super) fn token(&mut self, token: Token) {
        self.trivia();
        self.out.extend_from_slice(self.text.of(token));
    }

    /// Writes a punctuation character.
    pub(super) fn punctuation(&mut self, character: u8) {
        self.trivia();
        self.out.push(character);
    }

    /// Writes items separated by commas.
    pub(super) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        for (number, item) in items.iter().enumerate() {
            if number > 0 {
                self.punctuation(b',');
            }
            write(self, item);
        }
    }

    /// Writes the white space and comments before the next token.
    fn trivia(&mut self) {
        let next = self.text.skip_trivia(self.at);
        while self.at.0 < next.0 {
            self.out.extend_from_slice(self.text.of(self.at));
            self.at.0 += 1;
        }
        self.at.0 += 1;
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }

    /// Copies everything up to a token.
    pub(super) fn verbatim(&mut self, first: Token, end: Token) {
        for number in first.0..end.0 {
            if self.text.kind(Token(number)) != TokenKind::Trivia {
                self.token(Token(number));
            }
        }
    }
}
