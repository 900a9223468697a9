//! The types of registers, and smaller declarations of registers.

use std::collections::{BTreeMap, BTreeSet};

use super::minimise::Edit;
use super::statements::instructions;
use crate::ptx::{Module, Parts, Token, TokenKind};

/// The types of the registers of a file, by the declared names. The declared name of a family (`%r<9>`) has no number.
pub(super) struct Registers<'a> {
    types: BTreeMap<&'a str, &'a str>,
}

impl<'a> Registers<'a> {
    pub(super) fn new(module: &Module<'a>) -> Self {
        let file = module.file();
        let text = file.text();
        let mut types = BTreeMap::new();
        for statement in file.statements().ids() {
            let Some(Parts::Declaration(declaration)) = file.parts(statement) else { continue };
            if text.of(declaration.space) != b".reg" {
                continue;
            }
            let ty = declaration.type_name(text);
            let names = declaration.declarators.iter().filter_map(|declarator| declarator.name);
            types.extend(names.map(|name| (text.str(name), ty)));
        }
        Self { types }
    }

    /// Returns the type of a register: `.b32`, `.pred`.
    pub(super) fn ty(&self, name: &str) -> Option<&'a str> {
        let family = name.trim_end_matches(|character: char| character.is_ascii_digit());
        self.types.get(name).or_else(|| self.types.get(family)).copied()
    }

    /// Returns the width of a register in bits; 1 for a predicate.
    pub(super) fn bits(&self, name: &str) -> Option<u32> {
        match self.ty(name)? {
            ".pred" => Some(1),
            ty => ty.get(2..)?.parse().ok(),
        }
    }
}

/// Reduces the counts in declarations of families (`%r<9>`) to the highest number that is referenced.
pub(super) fn shortened(module: &Module<'_>) -> Vec<Edit> {
    let file = module.file();
    let text = file.text();
    let mut largest: BTreeMap<&str, u32> = BTreeMap::new();
    let words = (0..text.num_tokens() as u32).map(Token).filter(|&token| text.kind(token) == TokenKind::Word);
    for word in words.map(|word| text.str(word)) {
        let family = word.trim_end_matches(|character: char| character.is_ascii_digit());
        if let Ok(number) = word[family.len()..].parse::<u32>() {
            let known = largest.entry(family).or_default();
            *known = number.max(*known);
        }
    }
    let mut edits = Vec::new();
    for statement in file.statements().ids() {
        let Some(Parts::Declaration(declaration)) = file.parts(statement) else { continue };
        for declarator in &declaration.declarators {
            let (Some(name), Some(count)) = (declarator.name, declarator.count) else { continue };
            let Some(most) = largest.get(text.str(name)) else { continue };
            let range = text.start(count)..text.start(Token(count.0 + 1));
            edits.push(Edit { range, with: (most + 1).to_string() });
        }
    }
    edits
}

/// Removes unreferenced registers from declarations that list several names.
pub(super) fn unnamed(module: &Module<'_>) -> Vec<Edit> {
    let file = module.file();
    let text = file.text();
    let words = (0..text.num_tokens() as u32).map(Token).filter(|&token| text.kind(token) == TokenKind::Word);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    words.for_each(|word| *counts.entry(text.str(word)).or_default() += 1);
    let mut edits = Vec::new();
    for statement in file.statements().ids() {
        let Some(Parts::Declaration(declaration)) = file.parts(statement) else { continue };
        let names = declaration.declarators.iter().map(|declarator| declarator.name.map(|name| text.str(name)));
        let is_named = |name: &Option<&str>| name.is_none_or(|name| counts.get(name).copied().unwrap_or(0) > 1);
        let [first, last] = [declaration.declarators.first(), declaration.declarators.last()];
        let (Some(first), Some(last)) = (first.and_then(|one| one.name), last.and_then(|one| one.name)) else {
            continue;
        };
        let is_plain = declaration.declarators.iter().all(|one| one.count.is_none() && one.initial.is_none());
        let kept: Vec<&str> = names.clone().filter(is_named).flatten().collect();
        if is_plain && text.of(declaration.space) == b".reg" && !kept.is_empty() && kept.len() < names.len() {
            edits.push(Edit { range: text.start(first)..text.start(Token(last.0 + 1)), with: kept.join(", ") });
        }
    }
    edits
}

/// Whether an instruction reads a register that no instruction writes.
pub(super) fn has_unset(module: &Module<'_>) -> bool {
    let text = module.file().text();
    let registers = Registers::new(module);
    let mut written: BTreeSet<&str> = BTreeSet::new();
    let mut read: Vec<&str> = Vec::new();
    for (id, instruction) in instructions(module) {
        let range = module.file().statements().first(id)..module.file().statements().end(text, id);
        let words = (range.start.0..range.end.0).map(Token).filter(|&token| text.kind(token) == TokenKind::Word);
        let mut results = Vec::new();
        instruction.results(text).for_each(|operand| operand.add_words(&mut results));
        let results: Vec<&str> = results.into_iter().map(|word| text.str(word)).collect();
        // A register that is both result and source occurs twice among the words.
        let mut left = results.clone();
        for name in words.map(|word| text.str(word)).filter(|name| registers.ty(name).is_some()) {
            match left.iter().position(|result| *result == name) {
                Some(place) => _ = left.swap_remove(place),
                None => read.push(name),
            }
        }
        written.extend(results);
    }
    let calls = instructions(module).any(|(_, instruction)| text.of(instruction.word) == b"call");
    !calls && read.iter().any(|name| !written.contains(name))
}
