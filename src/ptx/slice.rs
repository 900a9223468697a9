//! A kernel with what it names, as a file of its own: ptxas compiles it without the other kernels.

use rustc_hash::FxHashMap;

use super::file::File;
use super::parts::Parts;
use super::statement::{Statement, StatementKind};
use super::token::{Token, TokenKind};
use crate::index::EntityIndex;

/// What stands at the top of a file and goes together: a function with its body, a variable, or a section.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// The first statement, and the one behind the last.
    pub(super) first: Statement,
    pub(super) end: Statement,
    /// The names that it gives to others. Empty: it stays in every slice.
    pub(super) names: Vec<&'a str>,
}

/// A file, ready to be cut.
pub(super) struct Slicer<'f, 'a> {
    file: &'f File<'a>,
    items: Vec<Item<'a>>,
    /// The items that give a name.
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

    /// The text of a kernel, of what it names, directly or not, and of what belongs to the whole file, in their order.
    /// Statements keep their bytes. `None` where the file has no such function. O(items + bytes of the slice).
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

/// The tokens of some statements: the first one, and the one behind the last.
fn tokens(file: &File<'_>, first: Statement, end: Statement) -> (Token, Token) {
    (file.statements().first(first), file.statements().end(file.text(), Statement(end.0 - 1)))
}

/// The items of a file, which cover it.
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
            // A section without labels, or whose labels nobody names, says nothing that the machine code needs.
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

/// The statement behind the braces that begin at or directly behind `first`.
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
