//! A file of PTX: its text, cut into statements.

use super::parts::Parts;
use super::statement::{Statement, StatementKind, Statements};
use super::text::Text;
use super::token::TokenKind;
use crate::error::Error;

/// A file of PTX. Nothing of the text is copied.
#[derive(Clone, Debug)]
pub struct File<'a> {
    text: Text<'a>,
    statements: Statements,
}

impl<'a> File<'a> {
    /// Cuts a text into statements. `name` is the file's, for messages. O(bytes), at most ten times as much memory.
    ///
    /// # Errors
    /// A text that cannot be cut, with line and column.
    pub fn read(name: &'a str, bytes: &'a [u8]) -> Result<Self, Error> {
        let text = Text::new(name, bytes)?;
        let statements = Statements::new(&text)?;
        Ok(Self { text, statements })
    }

    /// The text.
    pub fn text(&self) -> &Text<'a> {
        &self.text
    }

    /// The statements.
    pub fn statements(&self) -> &Statements {
        &self.statements
    }

    /// The parts of a statement; `None` where it is opaque.
    pub fn parts(&self, statement: Statement) -> Option<Parts> {
        Parts::read(&self.text, &self.statements, statement)
    }

    /// The bytes of a statement, with the white space and comments ahead of it.
    pub fn bytes_of(&self, statement: Statement) -> &'a [u8] {
        let (first, end) = (self.statements.first(statement), self.statements.end(&self.text, statement));
        &self.text.bytes()[self.text.start(first)..self.text.start(end)]
    }

    /// The text again, statement by statement: from their parts, and opaque ones as they stand.
    pub fn print(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.text.bytes().len());
        for statement in self.statements.ids() {
            match self.parts(statement) {
                Some(parts) => out.extend(parts.write(&self.text, &self.statements, statement)),
                None => out.extend_from_slice(self.bytes_of(statement)),
            }
        }
        out
    }

    /// The opaque statements, each with the word that it begins with.
    pub fn opaque(&self) -> impl Iterator<Item = (Statement, &'a str)> + '_ {
        let is_opaque = |&statement: &Statement| self.parts(statement).is_none();
        self.statements.ids().filter(is_opaque).map(|statement| (statement, self.first_word(statement)))
    }

    /// The word that a statement begins with, behind its predicate.
    pub fn first_word(&self, statement: Statement) -> &'a str {
        let (text, end) = (&self.text, self.statements.end(&self.text, statement));
        let mut at = text.skip_trivia(self.statements.first(statement));
        if self.statements.kind(statement) == StatementKind::Instruction && text.is(at, b'@') {
            let mut words = 0;
            while at.0 < end.0 && words < 2 {
                words += usize::from(text.kind(at) == TokenKind::Word);
                at.0 += u32::from(words < 2);
            }
        }
        if at.0 < end.0 { text.str(at) } else { "" }
    }
}
