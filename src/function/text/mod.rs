//! The text forms of the view, `.mfv`, and of edits to it, `.edits`.
//!
//! [`Display`](std::fmt::Display) prints a view, and [`Function::parse`] parses it.
//! [`Edit::display`](super::Edit::display) and [`EditList::parse`] do the same for edits.
//!
//! The grammar is in `docs/mfv.md`. Parsing a printed function gives an equal function, except that opcodes are
//! renumbered. Two functions are equal if their texts are equal. A printed text parses and prints byte for byte to
//! itself.

mod cursor;
mod edits;
mod parse;
mod print;
#[cfg(test)]
mod tests;
mod words;

use super::{EditList, Function, OpcodeTable};
use crate::error::{Error, ErrorKind};

/// The reason for which a text is not a view, or not a list of edits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ParseError {
    /// The line number, from 1.
    pub line: usize,
    /// The error, and the expected token.
    pub reason: String,
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Self {
        Self::new(ErrorKind::View, error.to_string(), "see docs/mfv.md for the text form")
    }
}

impl Function {
    /// Parses the text form. The function's table holds the opcodes that the text declares, and [those that edits
    /// insert](OpcodeTable::inserted).
    ///
    /// Every id of the result is in range, so that no accessor panics. The other rules are those of
    /// [`validate`](Function::validate). Linear in the text, in time and in memory.
    pub fn parse(text: &str) -> Result<Function, ParseError> {
        Self::parse_with(text, &OpcodeTable::inserted())
    }

    /// Parses the text form into a table that also holds `known` opcodes, so that edits can use them. If both declare
    /// an opcode, the text's role is used.
    pub fn parse_with(text: &str, known: &OpcodeTable) -> Result<Function, ParseError> {
        parse::parse(text, known)
    }
}

impl EditList {
    /// Parses the edits to `function` from a text that may also have edits to other functions. `None` if the text has
    /// none for `function`.
    ///
    /// The edits are not sorted and need not fit the function: see [`finish`](Self::finish) and [`apply`](Self::apply).
    pub fn parse(text: &str, function: &Function) -> Result<Option<EditList>, ParseError> {
        edits::parse(text, function)
    }
}
