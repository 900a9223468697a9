//! Properties of every link.

use std::collections::{BTreeMap, BTreeSet};

use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;

use super::linked;
use super::sources::{Source, Style};
use crate::emulate::{Launches, compare};
use crate::index::EntityIndex;
use crate::ptx::{File, Module, Parts, Statement, StatementKind, Token, TokenKind};

fn style(u: &mut Unstructured<'_>) -> Result<Style> {
    Ok(Style {
        version: u.choose(&["8.7", "9.0"])?,
        shift: u.int_in_range(0..=2)?,
        parameter: u.choose(&["p", "k_param_"])?,
        linkage: u.choose(&["", ".visible ", ".weak "])?,
        has_prototypes: u.arbitrary()?,
        has_lines: u.arbitrary()?,
        by_words: u.arbitrary()?,
    })
}

/// Checks that each top-level name is defined once, and before all its uses.
fn check_names(text: &str) {
    let file = File::read("linked.ptx", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let statements = file.statements();
    let mut tops: Vec<(Statement, &str, bool)> = Vec::new();
    let mut depth = 0usize;
    for statement in statements.ids() {
        match (statements.kind(statement), file.parts(statement)) {
            (StatementKind::Open, _) => depth += 1,
            (StatementKind::Close, _) => depth -= 1,
            (_, Some(Parts::Function(head))) => tops.push((statement, file.text().str(head.name), !head.is_prototype)),
            (_, Some(Parts::Declaration(one))) if depth == 0 => {
                let names = one.declarators.iter().filter_map(|one| one.name);
                tops.extend(names.map(|name| (statement, file.text().str(name), true)));
            }
            _ => {}
        }
    }
    let mut first: BTreeMap<&str, Statement> = BTreeMap::new();
    let mut defined = BTreeSet::new();
    for &(statement, name, is_definition) in &tops {
        first.entry(name).or_insert(statement);
        assert!(!is_definition || defined.insert(name), "'{name}' is defined twice\n{text}");
    }
    for statement in statements.ids().filter(|&id| statements.kind(id) == StatementKind::Instruction) {
        let (begin, end) = (statements.first(statement), statements.end(file.text(), statement));
        for token in (begin.index()..end.index()).map(Token::new) {
            let word = file.text().str(token);
            if file.text().kind(token) == TokenKind::Word
                && let Some(&declared) = first.get(word)
            {
                assert!(declared < statement, "'{word}' is used ahead of its declaration\n{text}");
            }
            let is_of_file = ["f", "$str$", "count", "host", "tile"].iter().any(|part| {
                word.strip_prefix(part).is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
            });
            assert!(!is_of_file || first.contains_key(word), "'{word}' is not declared\n{text}");
        }
    }
}

/// A program by two compilers is linked. The result computes the same. Names are defined before their uses, and data
/// that code writes exists once. Functions that are not replaced keep every byte.
#[test]
fn links_compute_the_same() {
    arbtest(|u| {
        let source = Source::new(u)?;
        let [own, other] = [source.print(&style(u)?), source.print(&style(u)?)];
        let all = ["k0", "k1", "k2"];
        let kernels: Vec<&str> = all.into_iter().filter(|_| u.arbitrary().unwrap_or(true)).collect();
        let text = linked(&own, &other, &kernels).unwrap_or_else(|reason| panic!("{reason}\n{own}\n{other}"));
        check_names(&text);
        for number in 0..3 {
            assert_eq!(text.matches(&format!(".u32 count{number}")).count(), 1, "{text}");
            assert_eq!(text.matches(&format!("host{number}[")).count(), 1, "{text}");
        }
        let module = |text| Module::read("a.ptx", text).expect("it is right");
        let (own, text) = (module(own.as_bytes()), module(text.as_bytes()));
        for body in own.bodies() {
            let name = body.name(own.file());
            let new = text.bodies().iter().find(|other| other.name(text.file()) == name).expect("it is there");
            if !kernels.contains(&name) {
                assert_eq!(own.text_of(body), text.text_of(new), "{name}");
            }
        }
        let launches = Launches { count: 1, more: 0, grid: Some([1, 1, 1]), ..Launches::default() };
        for kernel in kernels {
            let comparison = compare(&own, &text, kernel, &launches);
            assert!(comparison.is_same(), "{comparison:?}");
        }
        Ok(())
    })
    .budget_ms(1500);
}

/// A kernel linked from its own file gives the same bytes.
#[test]
fn own_kernels_change_nothing() {
    arbtest(|u| {
        let source = Source::new(u)?;
        let style = Style { has_lines: false, ..style(u)? };
        let own = source.print(&style);
        assert_eq!(linked(&own, &own, &["k0", "k2"]), Ok(own.clone()));
        Ok(())
    })
    .budget_ms(500);
}
