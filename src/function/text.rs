//! The text form of the view, `.mfv`.

use super::Function;

/// Why a text is not a view.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, and what is expected.
    pub reason: String,
}

impl Function {
    /// Parses the text form.
    pub fn parse(text: &str) -> Result<Function, ParseError> {
        let _ = text;
        Err(ParseError { line: 1, reason: "not built yet".into() })
    }
}
