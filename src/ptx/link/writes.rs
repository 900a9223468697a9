//! The variables of a file that its code may write. A variable counts as written if its address reaches a store or
//! escapes.
//!
//! Addresses are tracked from register to register within a function, without regard to the order of its code. An
//! address escapes if it is stored, passed to a function, or part of an initialiser.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::symbols::{Symbol, Symbols, Uses, callee, words};
use crate::ptx::parts::{Instruction, Operand, Parts};
use crate::ptx::statement::{Statement, StatementKind};
use crate::ptx::token::Token;

/// System functions that write nothing through their arguments.
const READERS: [&str; 2] = ["vprintf", "__assertfail"];

/// Instructions that create no address and write to none of their operands.
const HARMLESS: [&str; 11] =
    ["ld", "ldu", "prefetch", "prefetchu", "setp", "isspacep", "bra", "ret", "exit", "bar", "membar"];

/// The effect of a statement on addresses.
enum Step<'a> {
    /// The words of the first list may get the addresses that the words of the second list have.
    Flow(Vec<&'a str>, Vec<&'a str>),
    /// The variables at the addresses that the words have are written, or the addresses escape.
    Escape(Vec<&'a str>),
    /// These names are declared anew.
    Forget(Vec<&'a str>),
}

/// Returns the variables of a file that its code may write. O(statements · variables) in the worst case.
pub(super) fn written<'a>(symbols: &Symbols<'_, 'a>) -> FxHashSet<&'a str> {
    let mut written = FxHashSet::default();
    for number in 0..symbols.items.len() {
        let item = &symbols.items[number];
        match symbols.file.statements().kind(item.first) {
            StatementKind::Function if symbols.has_body(number) => match symbols.uses(number) {
                Ok(uses) => in_function(symbols, number, &uses, &mut written),
                // If the function is not understood, all names in it count as written.
                Err(_) => {
                    let statements = (item.first.0..item.end.0).map(Statement);
                    let words = statements.flat_map(|statement| words(symbols.file, statement));
                    written.extend(words.map(|word| symbols.file.text().str(word)));
                }
            },
            StatementKind::Variable => match symbols.uses(number) {
                Ok(uses) => written.extend(uses.uses.iter().map(|one| one.name)),
                Err(_) => written.extend(words(symbols.file, item.first).map(|word| symbols.file.text().str(word))),
            },
            _ => {}
        }
    }
    written
}

fn in_function<'a>(symbols: &Symbols<'_, 'a>, number: usize, uses: &Uses<'a>, written: &mut FxHashSet<&'a str>) {
    let is_variable = |name: &str| matches!(symbols.symbol(name), Some(Symbol::Variable(..)));
    let names: BTreeSet<&str> = uses.uses.iter().map(|one| one.name).filter(|name| is_variable(name)).collect();
    if names.is_empty() {
        return;
    }
    let steps = steps(symbols, number);
    // Each call declares some names anew. Each pass over the code forgets and adds the addresses of these names, which
    // is no progress.
    let of_call: FxHashSet<&str> = steps
        .iter()
        .flat_map(|step| match step {
            Step::Forget(words) => &words[..],
            _ => &[],
        })
        .copied()
        .collect();
    let mut held: FxHashMap<&str, BTreeSet<&str>> = FxHashMap::default();
    let of = |held: &FxHashMap<&str, BTreeSet<&'a str>>, words: &[&'a str]| {
        let mut found: BTreeSet<&'a str> = words.iter().copied().filter(|word| names.contains(word)).collect();
        words.iter().filter_map(|word| held.get(word)).for_each(|addresses| found.extend(addresses));
        found
    };
    loop {
        let mut is_new = false;
        for step in &steps {
            match step {
                Step::Flow(to, from) => {
                    let found = of(&held, from);
                    for word in to.iter().filter(|_| !found.is_empty()) {
                        let addresses = held.entry(word).or_default();
                        let before = addresses.len();
                        addresses.extend(&found);
                        is_new |= addresses.len() > before && !of_call.contains(word);
                    }
                }
                Step::Escape(words) => written.extend(of(&held, words)),
                Step::Forget(words) => words.iter().for_each(|word| drop(held.remove(word))),
            }
        }
        if !is_new {
            return;
        }
    }
}

fn steps<'a>(symbols: &Symbols<'_, 'a>, number: usize) -> Vec<Step<'a>> {
    let (file, item) = (symbols.file, &symbols.items[number]);
    let text = file.text();
    let mut steps = Vec::new();
    for statement in (item.first.0 + 1..item.end.0).map(Statement) {
        match file.parts(statement) {
            Some(Parts::Declaration(declaration)) if text.of(declaration.space) == b".param" => {
                let names = declaration.declarators.iter().filter_map(|one| one.name);
                steps.push(Step::Forget(names.map(|name| text.str(name)).collect()));
            }
            Some(Parts::Instruction(instruction)) => {
                let all: Vec<Token> = words(file, statement).filter(|&token| token != instruction.word).collect();
                steps.extend(step(symbols, &instruction, &all));
            }
            _ => {}
        }
    }
    steps
}

fn step<'a>(symbols: &Symbols<'_, 'a>, instruction: &Instruction, all: &[Token]) -> Option<Step<'a>> {
    let text = symbols.file.text();
    let names = |tokens: &[Token]| tokens.iter().map(|&token| text.str(token)).collect::<Vec<_>>();
    let modifiers = instruction.modifiers.iter().map(|&modifier| text.str(modifier));
    let mut to = Vec::new();
    let is_address = |operand: &Operand| matches!(operand, Operand::Address(_));
    match text.str(instruction.word) {
        "call" => {
            let callee = callee(&instruction.operands);
            let is_reader = callee.is_some_and(|callee| {
                let name = text.str(callee);
                READERS.contains(&name) && matches!(symbols.symbol(name), Some(Symbol::Function(_, false)))
            });
            return (!is_reader).then(|| Step::Escape(names(all)));
        }
        word if HARMLESS.contains(&word) => return None,
        "st" if modifiers.clone().any(|modifier| modifier.starts_with(".param")) => {
            instruction.operands.first().into_iter().for_each(|operand| operand.add_words(&mut to));
        }
        "st" => return Some(Step::Escape(names(all))),
        _ if instruction.operands.iter().any(is_address) => return Some(Step::Escape(names(all))),
        _ => instruction.operands.first().into_iter().for_each(|operand| operand.add_words(&mut to)),
    }
    let from: Vec<Token> = all.iter().copied().filter(|token| !to.contains(token)).collect();
    Some(Step::Flow(names(&to), names(&from)))
}
