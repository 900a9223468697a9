//! A kernel and everything that it refers to, as a separate file, which ptxas compiles without the other kernels.

use rustc_hash::FxHashMap;

use super::file::File;
use super::parts::Parts;
use super::statement::{Statement, StatementKind};
use super::token::{Token, TokenKind};
use crate::index::EntityIndex;

/// A top-level item: a function with its body, a variable, or a section.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// The first statement, and the statement after the last.
    pub(super) first: Statement,
    pub(super) end: Statement,
    /// The names that the item defines. An item without names stays in every slice.
    pub(super) names: Vec<&'a str>,
}

/// A file with an index of its items.
pub(super) struct Slicer<'f, 'a> {
    file: &'f File<'a>,
    items: Vec<Item<'a>>,
    /// The items that define a name.
    by_name: FxHashMap<&'a str, Vec<usize>>,
}

impl<'f, 'a> Slicer<'f, 'a> {
    /// O(bytes).
    pub(super) fn new(file: &'f File<'a>) -> Self {
        let items = items(file);
        let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (number, item) in items.iter().enumerate() {
            for name in &item.names {
                by_name.entry(name).or_default().push(number);
            }
        }
        Self { file, items, by_name }
    }

    /// Returns a file with the kernel, the items that it refers to directly or indirectly, and the items without names,
    /// in order. Statements keep their bytes. `None` if the file has no such function. O(items + bytes of the slice).
    pub(super) fn slice(&self, kernel: &str) -> Option<Vec<u8>> {
        let (file, items) = (self.file, &self.items);
        let mut is_kept = vec![false; items.len()];
        let mut waiting = self.by_name.get(kernel)?.clone();
        waiting.extend((0..items.len()).filter(|&number| items[number].names.is_empty()));
        while let Some(number) = waiting.pop() {
            if std::mem::replace(&mut is_kept[number], true) {
                continue;
            }
            let (first, end) = tokens(file, items[number].first, items[number].end);
            let words = (first.0..end.0).map(Token).filter(|&token| file.text().kind(token) == TokenKind::Word);
            waiting.extend(words.filter_map(|word| self.by_name.get(file.text().str(word))).flatten());
        }
        let kept = items.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
        let statements = kept.flat_map(|(item, _)| (item.first.0..item.end.0).map(Statement));
        Some(statements.flat_map(|statement| file.bytes_of(statement)).copied().collect())
    }
}

/// Returns the tokens of some statements: the first token, and the token after the last.
fn tokens(file: &File<'_>, first: Statement, end: Statement) -> (Token, Token) {
    (file.statements().first(first), file.statements().end(file.text(), Statement(end.0 - 1)))
}

/// Returns the items of a file, which cover it.
pub(super) fn items<'a>(file: &File<'a>) -> Vec<Item<'a>> {
    let (statements, text) = (file.statements(), file.text());
    let mut items = Vec::new();
    let mut at = Statement(0);
    let end_of_file = Statement::new(statements.ids().len());
    while at < end_of_file {
        let first = at;
        at.0 += 1;
        let kind = statements.kind(first);
        if kind == StatementKind::Open || (kind == StatementKind::Function && is_open(file, at, end_of_file)) {
            at = behind_body(file, first, end_of_file);
        }
        let named = |token: Token| vec![text.str(token)];
        let names = match (kind, file.parts(first)) {
            (StatementKind::Function, Some(Parts::Function(head))) => named(head.name),
            (StatementKind::Variable, Some(Parts::Declaration(declaration))) => {
                let names = declaration.declarators.iter().filter_map(|declarator| declarator.name);
                names.map(|name| text.str(name)).collect()
            }
            // A section has the names of its labels. The machine code does not need sections whose labels are unused.
            (StatementKind::Section, Some(Parts::Section(section))) => {
                let (inside, end) = section.inside;
                let words = (inside.0..end.0).map(Token).filter(|&token| text.kind(token) == TokenKind::Word);
                let is_label = |&token: &Token| text.is(text.skip_trivia(Token(token.0 + 1)), b':');
                let own = text.str(section.name);
                words.filter(is_label).map(|token| text.str(token)).chain([own]).collect()
            }
            _ => Vec::new(),
        };
        items.push(Item { first, end: at, names });
    }
    items
}

fn is_open(file: &File<'_>, statement: Statement, end: Statement) -> bool {
    statement < end && file.statements().kind(statement) == StatementKind::Open
}

/// Returns the statement after the braces that begin at `first` or directly after it.
fn behind_body(file: &File<'_>, first: Statement, end: Statement) -> Statement {
    let (mut at, mut depth) = (first, 0usize);
    while at < end {
        let kind = file.statements().kind(at);
        at.0 += 1;
        match kind {
            StatementKind::Open => depth += 1,
            StatementKind::Close if depth <= 1 => return at,
            StatementKind::Close => depth -= 1,
            _ => {}
        }
    }
    at
}
