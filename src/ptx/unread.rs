//! Functions that the reader cannot read. They are listed so that each is reported.
//!
//! The words `.entry` and `.func` are counted independently of statements. Even if a statement is divided at the wrong
//! place, no function is missed.

use std::fmt;

use super::body::Body;
use super::file::File;
use super::parts::Parts;
use super::statement::{Statement, StatementKind};
use super::token::{Token, TokenKind};
use crate::index::EntityIndex;
use crate::printable::one_line;

/// A function that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The name of its file.
    pub file: String,
    /// The line of its `.entry` or `.func`.
    pub line: usize,
    /// `.entry` or `.func`.
    pub word: String,
    /// The name. Empty if no name is found.
    pub name: String,
}

impl fmt::Display for Unread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, word, name } = self;
        let name = if name.is_empty() { "a function" } else { name };
        write!(
            formatter,
            "{}:{line}: {} ({word}) is left out: the head of the function cannot be parsed; check the function \
             with ptxas, and report the head if ptxas accepts it",
            one_line(file),
            one_line(name)
        )
    }
}

/// Returns the functions of a file that are neither bodies nor prototypes. O(tokens).
pub(super) fn unread(file: &File<'_>, bodies: &[Body]) -> Vec<Unread> {
    let (text, statements) = (file.text(), file.statements());
    let mut read: Vec<Token> = bodies.iter().map(|body| body.parts.word).collect();
    let (mut head, mut depth) = (None, 0usize);
    for statement in statements.ids() {
        match statements.kind(statement) {
            StatementKind::Function if depth == 0 => {
                read.extend(std::mem::replace(&mut head, prototype(file, statement)))
            }
            StatementKind::Open => {
                // A body after other statements belongs to a head that was ended too early.
                head = head.filter(|_| depth > 0);
                depth += 1;
            }
            StatementKind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    read.extend(head);
    read.sort_unstable();
    let is_unread = |&token: &Token| {
        text.kind(token) == TokenKind::DotWord
            && matches!(text.of(token), b".entry" | b".func")
            && read.binary_search(&token).is_err()
    };
    let (mut line, mut counted) = (1, 0);
    let tokens = (0..text.num_tokens()).map(Token::new).filter(is_unread);
    let unread = tokens.map(|token| {
        let start = text.start(token);
        line += text.bytes()[counted..start].iter().filter(|&&byte| byte == b'\n').count();
        counted = start;
        Unread {
            file: text.name().to_owned(),
            line,
            word: text.str(token).to_owned(),
            name: name_behind(file, token).to_owned(),
        }
    });
    unread.collect()
}

/// Returns the word `.entry` or `.func` of a prototype whose head can be read.
fn prototype(file: &File<'_>, statement: Statement) -> Option<Token> {
    match file.parts(statement)? {
        Parts::Function(head) => head.is_prototype.then_some(head.word),
        _ => None,
    }
}

/// Returns the first word after `.entry` or `.func` outside of parentheses, in the same head.
fn name_behind<'a>(file: &File<'a>, word: Token) -> &'a str {
    let text = file.text();
    let mut depth = 0usize;
    for token in (word.index() + 1..text.num_tokens()).map(Token::new) {
        match text.kind(token) {
            TokenKind::Punctuation => match text.of(token) {
                b"(" => depth += 1,
                b")" => depth = depth.saturating_sub(1),
                b"{" | b"}" | b";" => return "",
                _ => {}
            },
            TokenKind::Word if depth == 0 => return text.str(token),
            _ => {}
        }
    }
    ""
}
