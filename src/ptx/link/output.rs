//! The linked file: our own file, with kernel bodies of the other file and everything that they need.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::resolution::{Needs, Resolver};
use super::symbols::{Symbol, Uses};
use crate::ptx::edit::Patch;
use crate::ptx::statement::Statement;
use crate::ptx::token::Token;

/// A kernel whose body comes from the other file.
pub(super) struct Replacement<'a> {
    /// The item in our own file, and the item in the other file.
    pub(super) own: usize,
    pub(super) other: usize,
    pub(super) uses: Uses<'a>,
    pub(super) needs: Needs<'a>,
    /// Our parameter name for each parameter name of the other kernel.
    pub(super) parameters: FxHashMap<&'a str, &'a str>,
    /// Whether our own debug information refers to labels of the old body, or of the new one.
    pub(super) is_described: bool,
}

/// Returns the patch that makes the replacements, in our file's order.
pub(super) fn replace<'a>(resolver: &Resolver<'_, 'a>, replacements: &[Replacement<'a>]) -> Patch {
    let names = names(resolver, replacements);
    let mut patch = Patch::default();
    let mut placed = BTreeSet::new();
    let text = resolver.own.file.text();
    for replacement in replacements {
        let mut copies = Vec::new();
        for (&number, uses) in replacement.needs.copied.iter().filter(|(number, _)| placed.insert(**number)) {
            copies.extend(copy(resolver, number, uses, &names));
        }
        let item = &resolver.own.items[replacement.own];
        let at = text.start(resolver.own.file.statements().first(item.first));
        if !copies.is_empty() {
            patch.pieces.push((at, at, copies));
        }
        let body = |end: Statement| resolver.own.file.statements().end(text, Statement(end.0 - 1));
        let begin = text.skip_trivia(resolver.own.file.statements().first(Statement(item.first.0 + 1)));
        patch.pieces.push((text.start(begin), text.start(body(item.end)), new_body(resolver, replacement, &names)));
    }
    if replacements.iter().any(|replacement| replacement.is_described) {
        for section in resolver.own.sections_apart_from_lines() {
            let statements = resolver.own.file.statements();
            let end = statements.end(text, Statement(section.end.0 - 1));
            patch.pieces.push((text.start(statements.first(section.first)), text.start(end), Vec::new()));
        }
        // Sections may be before functions and between them.
        patch.pieces.sort_by_key(|&(begin, ..)| begin);
    }
    patch
}

/// Returns our names of the other file's symbols, if they differ: the names of copies, and of our symbols that replace
/// them.
fn names<'a>(resolver: &Resolver<'_, 'a>, replacements: &[Replacement<'a>]) -> BTreeMap<&'a str, String> {
    let copied: BTreeSet<usize> = replacements.iter().flat_map(|one| one.needs.copied.keys().copied()).collect();
    let all = copied.iter().flat_map(|&number| resolver.other.items[number].names.iter().copied());
    let copies = all.map(|name| (name, resolver.name_of_copy(name)));
    let ours = replacements.iter().flat_map(|one| one.needs.ours.iter().copied());
    let ours = ours.map(|name| (name, resolver.name_of_ours(name).to_owned()));
    copies.chain(ours).filter(|(name, new)| name != new).collect()
}

/// Returns the body of the other kernel, from brace to brace.
fn new_body(resolver: &Resolver<'_, '_>, replacement: &Replacement<'_>, names: &BTreeMap<&str, String>) -> Vec<u8> {
    let item = &resolver.other.items[replacement.other];
    let mut tokens = renamed(&replacement.uses, names);
    for one in &replacement.uses.parameters {
        if let Some(&new) = replacement.parameters.get(one.name).filter(|&&new| new != one.name) {
            tokens.insert(one.token, new.to_owned());
        }
    }
    let first =
        resolver.other.file.text().skip_trivia(resolver.other.file.statements().first(Statement(item.first.0 + 1)));
    write(resolver, (Statement(item.first.0 + 1), item.end), first, &replacement.uses, &tokens)
}

/// Returns a copy of an item, with internal linkage and its new name.
fn copy(resolver: &Resolver<'_, '_>, number: usize, uses: &Uses<'_>, names: &BTreeMap<&str, String>) -> Vec<u8> {
    let (file, item) = (resolver.other.file, &resolver.other.items[number]);
    let text = file.text();
    let mut tokens = renamed(uses, names);
    let mut rename = |token: Token| drop(names.get(text.str(token)).map(|new| tokens.insert(token, new.clone())));
    match item.names.first().and_then(|name| resolver.other.symbol(name)) {
        Some(Symbol::Variable(declaration, _)) => {
            declaration.declarators.iter().filter_map(|one| one.name).for_each(&mut rename);
        }
        Some(Symbol::Function(_, is_defined)) => {
            if let Some(crate::ptx::Parts::Function(head)) = file.parts(item.first) {
                rename(head.name);
                // The copy is not visible to other files.
                let linkage = head.linkage.iter().filter(|_| is_defined);
                linkage.for_each(|&word| drop(tokens.insert(word, String::new())));
            }
        }
        _ => {}
    }
    write(resolver, (item.first, item.end), file.statements().first(item.first), uses, &tokens)
}

fn renamed(uses: &Uses<'_>, names: &BTreeMap<&str, String>) -> FxHashMap<Token, String> {
    let new = |name| names.get(name).cloned();
    uses.uses.iter().filter_map(|one| Some((one.token, new(one.name)?))).collect()
}

/// Writes statements of the other file with changed tokens. Source lines are left out, because our file lacks their
/// files.
fn write(
    resolver: &Resolver<'_, '_>,
    (begin, end): (Statement, Statement),
    first: Token,
    uses: &Uses<'_>,
    tokens: &FxHashMap<Token, String>,
) -> Vec<u8> {
    let (text, statements) = (resolver.other.file.text(), resolver.other.file.statements());
    let lines: FxHashSet<Statement> = uses.lines.iter().copied().collect();
    let mut out = Vec::new();
    for statement in (begin.0..end.0).map(Statement).filter(|statement| !lines.contains(statement)) {
        let range = statements.first(statement).0.max(first.0)..statements.end(text, statement).0;
        for token in range.map(Token) {
            match tokens.get(&token) {
                Some(new) => out.extend_from_slice(new.as_bytes()),
                None => out.extend_from_slice(text.of(token)),
            }
        }
    }
    out
}
