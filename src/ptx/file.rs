//! A PTX file: its contents, divided into statements.

use super::parts::Parts;
use super::statement::{Statement, StatementKind, Statements};
use super::text::Text;
use super::token::TokenKind;
use crate::error::Error;

/// A PTX file. It borrows the contents.
#[derive(Clone, Debug)]
pub struct File<'a> {
    text: Text<'a>,
    statements: Statements,
}

impl<'a> File<'a> {
    /// Divides a file into statements. `name` is the name of the file, for messages. O(bytes), with at most ten times
    /// as much memory.
    ///
    /// # Errors
    /// The file cannot be divided into statements. The error has line and column.
    pub fn read(name: &'a str, bytes: &'a [u8]) -> Result<Self, Error> {
        let text = Text::new(name, bytes)?;
        let statements = Statements::new(&text)?;
        Ok(Self { text, statements })
    }

    /// Returns the contents.
    pub fn text(&self) -> &Text<'a> {
        &self.text
    }

    /// Returns the statements.
    pub fn statements(&self) -> &Statements {
        &self.statements
    }

    /// Returns the parts of a statement. `None` if it is opaque.
    pub fn parts(&self, statement: Statement) -> Option<Parts> {
        Parts::read(&self.text, &self.statements, statement)
    }

    /// Returns the bytes of a statement, with the white space and comments before it.
    pub fn bytes_of(&self, statement: Statement) -> &'a [u8] {
        let (first, end) = (self.statements.first(statement), self.statements.end(&self.text, statement));
        &self.text.bytes()[self.text.start(first)..self.text.start(end)]
    }

    /// Prints the file, statement by statement. Opaque statements are copied, and all others are written from their
    /// parts.
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

    /// Returns the opaque statements, each with its first word.
    pub fn opaque(&self) -> impl Iterator<Item = (Statement, &'a str)> + '_ {
        let is_opaque = |&statement: &Statement| self.parts(statement).is_none();
        self.statements.ids().filter(is_opaque).map(|statement| (statement, self.first_word(statement)))
    }

    /// Returns the first word of a statement after its predicate.
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
