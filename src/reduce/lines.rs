//! Removes text that does not compute anything: debug information, directives, labels, declarations, white space and
//! comments.

use super::minimise::Edit;
use super::statements::{bare, whole};
use crate::ptx::Token;
use crate::ptx::{Module, Parts, StatementKind, TokenKind};

/// Removes source lines, files and sections.
pub(super) fn debug_information(module: &Module<'_>) -> Vec<Edit> {
    let file = module.file();
    let is_debug = |statement: &_| match file.statements().kind(*statement) {
        StatementKind::Loc | StatementKind::Section | StatementKind::Line => true,
        StatementKind::Header => file.first_word(*statement) == ".file",
        _ => false,
    };
    file.statements().ids().filter(is_debug).map(|statement| Edit::delete(whole(file, statement))).collect()
}

/// Removes labels.
pub(super) fn labels(module: &Module<'_>) -> Vec<Edit> {
    of_kinds(module, &[StatementKind::Label, StatementKind::Targets])
}

/// Removes declarations of registers and variables.
pub(super) fn declarations(module: &Module<'_>) -> Vec<Edit> {
    of_kinds(module, &[StatementKind::Variable, StatementKind::CallPrototype])
}

fn of_kinds(module: &Module<'_>, kinds: &[StatementKind]) -> Vec<Edit> {
    let file = module.file();
    let found = file.statements().ids().filter(|&id| kinds.contains(&file.statements().kind(id)));
    found.map(|statement| Edit::delete(whole(file, statement))).collect()
}

/// Removes pragmas and other directives, including directives in the heads of functions.
pub(super) fn directives(module: &Module<'_>) -> Vec<Edit> {
    let file = module.file();
    let text = file.text();
    let mut edits = of_kinds(module, &[StatementKind::Pragma, StatementKind::Directive, StatementKind::Empty]);
    for statement in file.statements().ids() {
        let Some(Parts::Function(head)) = file.parts(statement) else { continue };
        for directive in &head.directives {
            let last = directive.values.last().map_or(directive.word, |&(_, value)| value);
            let mut end = Token(last.0 + 1);
            if text.kind(last) == TokenKind::String && text.is(end, b';') {
                end.0 += 1;
            }
            edits.push(Edit::delete(text.start(directive.word)..text.start(end)));
        }
        edits.extend(head.linkage.iter().map(|&word| Edit::delete(text.start(word)..text.start(Token(word.0 + 1)))));
    }
    edits.sort_by_key(|edit| edit.range.start);
    edits
}

/// Returns the text with one statement a line, without comments.
pub(super) fn tidy(module: &Module<'_>) -> String {
    let file = module.file();
    let mut out = String::new();
    let mut depth = 0usize;
    for statement in file.statements().ids() {
        let kind = file.statements().kind(statement);
        let range = bare(file, statement);
        let words =
            String::from_utf8_lossy(&file.text().bytes()[range]).split_whitespace().collect::<Vec<_>>().join(" ");
        depth = depth.saturating_sub(usize::from(kind == StatementKind::Close));
        if words.is_empty() {
            continue;
        }
        let indent = if kind == StatementKind::Label { 0 } else { depth };
        out += &format!("{}{words}\n", "    ".repeat(indent));
        depth += usize::from(kind == StatementKind::Open);
    }
    out
}
