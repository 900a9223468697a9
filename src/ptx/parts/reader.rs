//! A cursor over the tokens of one statement, without its trivia.

use crate::index::EntityIndex;
use crate::ptx::text::Text;
use crate::ptx::token::{Token, TokenKind};

/// A cursor. Each method advances after the part that it finds, and does not move if it finds nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'t, 'a> {
    pub(super) text: &'t Text<'a>,
    at: Token,
    end: Token,
}

impl<'t, 'a> Reader<'t, 'a> {
    pub(super) fn new(text: &'t Text<'a>, first: Token, end: Token) -> Self {
        let mut reader = Self { text, at: first, end };
        reader.skip();
        reader
    }

    fn skip(&mut self) {
        while self.at.0 < self.end.0 && self.text.kind(self.at) == TokenKind::Trivia {
            self.at.0 += 1;
        }
    }

    /// Returns the next token. `None` at the end.
    pub(super) fn peek(&self) -> Option<Token> {
        (self.at.0 < self.end.0).then_some(self.at)
    }

    /// Returns the kind of the next token.
    pub(super) fn peek_kind(&self) -> Option<TokenKind> {
        self.peek().map(|token| self.text.kind(token))
    }

    /// Whether the next token is a character.
    pub(super) fn is(&self, character: u8) -> bool {
        self.peek().is_some_and(|token| self.text.is(token, character))
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        let token = self.peek()?;
        self.at.0 += 1;
        self.skip();
        Some(token)
    }

    pub(super) fn eat(&mut self, character: u8) -> bool {
        let is_it = self.is(character);
        if is_it {
            self.next();
        }
        is_it
    }

    pub(super) fn expect(&mut self, character: u8) -> Option<()> {
        self.eat(character).then_some(())
    }

    pub(super) fn of_kind(&mut self, kind: TokenKind) -> Option<Token> {
        if self.peek_kind()? == kind { self.next() } else { None }
    }

    /// Reads the next token if it is one of the words, each of which begins with a dot.
    pub(super) fn one_of(&mut self, words: &[&str]) -> Option<Token> {
        let token = self.peek()?;
        let is_one = words.iter().any(|word| self.text.of(token) == word.as_bytes());
        if is_one { self.next() } else { None }
    }

    /// Returns `None` unless all tokens are read.
    pub(super) fn finish(&self) -> Option<()> {
        self.peek().is_none().then_some(())
    }

    /// Returns a cursor over the same tokens without the last one, which must be a given character.
    pub(super) fn before(&self, character: u8) -> Option<Self> {
        let mut last = self.end;
        while last.0 > self.at.0 {
            last.0 -= 1;
            if self.text.kind(last) != TokenKind::Trivia {
                return self.text.is(last, character).then_some(Self { end: last, ..*self });
            }
        }
        None
    }

    /// Moves to the position of another cursor over the same statement.
    pub(super) fn move_to(&mut self, other: &Self) {
        self.at = other.at;
    }

    /// Returns the number of tokens that are left, white space included.
    pub(super) fn left(&self) -> usize {
        self.end.index().saturating_sub(self.at.index())
    }
}
