//! Directives at the top of a function, and the limit of its registers.

use crate::function::{Edit, EditList};
use crate::ptx::body::Body;
use crate::ptx::file::File;
use crate::ptx::token::TokenKind;
use crate::ptx::view::View;

/// What changes at the top of a function.
pub(super) struct Head {
    /// Lines ahead of the first instruction.
    pub(super) lines: String,
    /// Bytes of the head that change: where they begin and end, and the new text.
    pub(super) piece: Option<(usize, usize, Vec<u8>)>,
}

impl Head {
    pub(super) fn new(file: &File<'_>, body: &Body, view: &View<'_>, edits: &EditList) -> Result<Self, String> {
        let mut head = Self { lines: String::new(), piece: None };
        for edit in edits.edits() {
            match edit {
                Edit::InsertDirective { text } => head.lines += &format!("\n\t{text}"),
                Edit::SetAttribute { key, value } if key == "nvvm.maxnreg" => {
                    if view.function.kernel().is_none() {
                        return Err("only a kernel has a limit of registers of its own".into());
                    }
                    head.piece = Some(limit(file, body, value));
                }
                Edit::SetAttribute { key, .. } => return Err(format!("the attribute {key} has no directive")),
                _ => {}
            }
        }
        Ok(head)
    }
}

/// The change that sets `.maxnreg`.
fn limit(file: &File<'_>, body: &Body, value: &str) -> (usize, usize, Vec<u8>) {
    let (text, statements) = (file.text(), file.statements());
    let known = body.parts.directives.iter().find(|directive| text.of(directive.word) == b".maxnreg");
    if let Some(&(_, number)) = known.and_then(|directive| directive.values.first()) {
        let start = text.start(number);
        return (start, start + text.of(number).len(), value.as_bytes().to_vec());
    }
    // Behind the last word of the head: white space ahead of the brace belongs to the brace.
    let mut end = statements.end(text, body.head);
    while end.0 > 0 && text.kind(crate::ptx::Token(end.0 - 1)) == TokenKind::Trivia {
        end.0 -= 1;
    }
    let at = text.start(end);
    (at, at, format!("\n.maxnreg {value}").into_bytes())
}
