//! Directives at the top of a function, and its limits on registers and threads.

use super::Patch;
use crate::function::{Edit, EditList};
use crate::ptx::body::Body;
use crate::ptx::file::File;
use crate::ptx::token::{Token, TokenKind};
use crate::ptx::view::View;

/// Returns the patch that adds limit directives to a kernel, and a first line to its body. The body is not read.
pub(in crate::ptx) fn begin(file: &File<'_>, body: &Body, bounds: &[(&str, u32)], line: Option<&str>) -> Patch {
    let mut patch = Patch::default();
    patch.pieces.extend(bounds.iter().map(|(directive, value)| limit(file, body, directive, &value.to_string())));
    if let Some(line) = line {
        // The line is inserted directly after the opening brace of the body.
        let (text, statements) = (file.text(), file.statements());
        let at = text.start(statements.first(body.statements.start));
        patch.pieces.push((at, at, format!("\n\t{line}").into_bytes()));
    }
    patch
}

/// The changes at the top of a function.
pub(super) struct Head {
    /// Lines before the first instruction.
    pub(super) lines: String,
    /// Changed bytes of the head: begin, end, and the new bytes.
    pub(super) pieces: Vec<(usize, usize, Vec<u8>)>,
}

impl Head {
    pub(super) fn new(file: &File<'_>, body: &Body, view: &View<'_>, edits: &EditList) -> Result<Self, String> {
        let mut head = Self { lines: String::new(), pieces: Vec::new() };
        for edit in edits.edits() {
            match edit {
                Edit::InsertDirective { text } => head.lines += &format!("\n\t{text}"),
                Edit::SetAttribute { key, value } => {
                    let directive = match key.as_str() {
                        "nvvm.maxnreg" => ".maxnreg",
                        "nvvm.maxntid" => ".maxntid",
                        _ => return Err(format!("the attribute {key} has no directive")),
                    };
                    if view.function.kernel().is_none() {
                        return Err(format!("only a kernel can have {directive}"));
                    }
                    head.pieces.push(limit(file, body, directive, value));
                }
                _ => {}
            }
        }
        Ok(head)
    }
}

/// Returns the change that sets a directive of the head.
fn limit(file: &File<'_>, body: &Body, directive: &str, value: &str) -> (usize, usize, Vec<u8>) {
    let (text, statements) = (file.text(), file.statements());
    let known = body.parts.directives.iter().find(|known| text.of(known.word) == directive.as_bytes());
    if let Some(&(_, number)) = known.and_then(|known| known.values.first()) {
        let start = text.start(number);
        return (start, start + text.of(number).len(), value.as_bytes().to_vec());
    }
    // The directive follows the last word of the head. White space before the brace belongs to the brace.
    let mut end = statements.end(text, body.head);
    while end.0 > 0 && text.kind(Token(end.0 - 1)) == TokenKind::Trivia {
        end.0 -= 1;
    }
    let at = text.start(end);
    (at, at, format!("\n{directive} {value}").into_bytes())
}
