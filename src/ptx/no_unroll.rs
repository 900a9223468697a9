//! The directive `.pragma "nounroll"`.

use super::file::File;
use super::parts::Parts;
use super::statement::{Statement, StatementKind};
use super::token::Token;

/// Whether a statement is `.pragma "nounroll"`.
pub(super) fn stops_unrolling(file: &File<'_>, statement: Statement) -> bool {
    file.statements().kind(statement) == StatementKind::Pragma
        && match file.parts(statement) {
            Some(Parts::Values(pragma)) => pragma.values.iter().any(|&(_, value)| is_no_unroll(file, value)),
            _ => false,
        }
}

/// Whether a value of a `.pragma` asks ptxas to unroll no loop.
pub(super) fn is_no_unroll(file: &File<'_>, value: Token) -> bool {
    file.text().of(value) == b"\"nounroll\""
}
