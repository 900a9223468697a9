//! Files are divided and printed unchanged.

use std::fmt::Write as _;

use crate::ptx::{File, Parts, StatementKind};

const DIRECTIVES: &str = include_str!("../../../tests/ptx/directives.ptx");

fn read(text: &str) -> File<'_> {
    File::read("a.ptx", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    File::read("a.ptx", text.as_bytes()).expect_err("this is no PTX").to_string()
}

/// Every directive and every form of operand is understood, and the parts of each statement give its bytes.
#[test]
fn all_directives() {
    let file = read(DIRECTIVES);
    let opaque: Vec<&str> = file.opaque().map(|(_, word)| word).collect();
    assert_eq!(opaque, Vec::<&str>::new());
    for statement in file.statements().ids() {
        let parts = file.parts(statement).expect("none is opaque");
        let written = parts.write(file.text(), file.statements(), statement);
        assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(file.bytes_of(statement)));
    }
    assert!(file.print() == DIRECTIVES.as_bytes());
}

/// Statements have the right kinds, several may be on a line, and a label is a statement.
#[test]
fn kinds_of_statements() {
    let file = read("$L: .pragma \"nounroll\"; @!%p mov.u32 %r1, 5; { } ;; .loc 1 2 3\n.reg .b32 a;");
    let kinds: Vec<StatementKind> = file.statements().ids().map(|id| file.statements().kind(id)).collect();
    use StatementKind::*;
    assert_eq!(kinds, [Label, Pragma, Instruction, Open, Close, Empty, Loc, Variable, End]);
}

/// An instruction has its predicate, its modifiers and the parts of its operands.
#[test]
fn parts_of_an_instruction() {
    let file = read("@!%p1 ld.global.v2.b32 {%r1, _}, [%rd1+-8];");
    let first = file.statements().ids().next().expect("a statement");
    let Some(Parts::Instruction(instruction)) = file.parts(first) else { panic!("it is an instruction") };
    assert!(instruction.guard.is_some_and(|guard| guard.is_negated));
    assert_eq!(instruction.mnemonic(file.text()), "ld.global.v2.b32");
    assert_eq!(instruction.operands.len(), 2);
}

/// Statements that are not understood stay unchanged, and are counted by their words.
#[test]
fn opaque_statements() {
    let text = "@%p1 strange.b32 %r1, [[%r2;\nmov.u32 %r1, \"text\"; ? 5; .reg = 3;\n";
    let file = read(text);
    let words: Vec<&str> = file.opaque().map(|(_, word)| word).collect();
    assert_eq!(words, ["strange", "mov", "?", ".reg"]);
    assert!(file.print() == text.as_bytes());
}

/// The error for a malformed file has line, column and a remedy.
#[test]
fn places_of_errors() {
    let remedy = "check that the file is complete PTX; ptxas may print more details";
    let at = |place: &str, problem: &str| format!("nvptx-ra: a.ptx:{place}: {problem}; {remedy}");
    assert_eq!(error("\n\n  {\n  mov"), at("4:3", "this statement does not end with a semicolon"));
    assert_eq!(error("\n { ret; "), at("2:2", "this brace is never closed"));
    assert_eq!(error("ret; }"), at("1:6", "this brace has no opening brace"));
    assert_eq!(error(" .file 1 \"abc"), at("1:10", "a string does not end"));
    assert_eq!(error(".version 9.0 /* abc"), at("1:14", "a comment does not end"));
    assert_eq!(error(".visible .entry k(\n"), at("1:1", "the head of this function does not end"));
    assert_eq!(error("\t.loc 1 2"), at("1:2", "this .loc lacks a number"));
    assert_eq!(error(".section .debug_info {"), at("1:1", "this section does not end"));
    assert_eq!(error(".version"), at("1:1", "this directive lacks a value"));
}

/// A file that is truncated anywhere is read or refused, and prints unchanged if it is read.
#[test]
fn cut_files() {
    for end in 0..DIRECTIVES.len() {
        if let Ok(file) = File::read("a.ptx", &DIRECTIVES.as_bytes()[..end]) {
            assert!(file.print() == DIRECTIVES.as_bytes()[..end], "{end}");
        }
    }
}

/// Many labels, a long statement and deep nesting take linear time and memory.
#[test]
fn hostile_texts() {
    let mut labels = String::new();
    for number in 0..1_000_000 {
        let _ = write!(labels, "L{number}:");
    }
    let long_vector = format!("mov.b32 {{a{}}}, b;", ",a".repeat(5_000_000));
    let long_value = format!(".global .b8 a[] = {{1{}}};", ",1".repeat(5_000_000));
    let braces = "{".repeat(100_000) + &"}".repeat(100_000);
    let operands = format!("mov.b32 {}a{}, b;", "{".repeat(20_000), "}".repeat(20_000));
    let parentheses = format!("mov.b32 a, {}1{};", "(".repeat(20_000), ")".repeat(20_000));
    for text in [labels, long_vector, long_value, braces, operands, parentheses] {
        let file = read(&text);
        assert!(file.print() == text.as_bytes());
    }
    assert!(error(&"{".repeat(100_000)).contains("1:1"));
}
