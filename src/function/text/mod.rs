//! The text forms of the view, `.mfv`, and of edits to it, `.edits`.
//!
//! [`Display`](std::fmt::Display) prints a view, [`Function::parse`] reads it; [`Edit::display`](super::Edit::display)
//! and [`EditList::parse`] do so for edits.
//!
//! The grammar is in `docs/mfv.md`. A printed function parses back to an equal one, except that opcodes are numbered
//! anew: two functions are the same where their texts are. A canonical text (one that was printed) prints back byte for
//! byte.

mod cursor;
mod edits;
mod parse;
mod print;
#[cfg(test)]
mod tests;
mod words;

use super::{EditList, Function, OpcodeTable};
use crate::error::{Error, ErrorKind};

/// Why a text is not a view, or not a list of edits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, and what is expected.
    pub reason: String,
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Self {
        Self::new(ErrorKind::View, error.to_string(), "see docs/mfv.md for the text form")
    }
}

impl Function {
    /// Parses the text form. The function's table holds the opcodes that the text declares, and
    /// [those that edits insert](OpcodeTable::inserted).
    ///
    /// Every id of the result is in range, so that no accessor panics; the other rules are those of
    /// [`validate`](Function::validate). Linear in the text, in time and in memory.
    pub fn parse(text: &str) -> Result<Function, ParseError> {
        Self::parse_with(text, &OpcodeTable::inserted())
    }

    /// Parses the text form into a table that also holds `known` opcodes, so that edits can use them. Where both
    /// declare an opcode, the text's role counts.
    pub fn parse_with(text: &str, known: &OpcodeTable) -> Result<Function, ParseError> {
        parse::parse(text, known)
    }
}

impl EditList {
    /// Reads the edits to `function` from a text that may have edits to others; `None` where it has none.
    ///
    /// They are not sorted and need not fit the function: see [`finish`](Self::finish) and [`apply`](Self::apply).
    pub fn parse(text: &str, function: &Function) -> Result<Option<EditList>, ParseError> {
        edits::parse(text, function)
    }
}
