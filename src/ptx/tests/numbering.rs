//! Statements numbered by source lines.

use std::collections::BTreeSet;

use crate::config::NamedLoad;
use crate::ptx::{Module, Numbered};

const TEXT: &str = ".version 8.7\n.target sm_90a, debug\n.address_size 64\n.file 1 \"a.py\"\n\
    .visible .entry k(.param .u64 p)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<6>;\n\t.reg .b64 %rd<3>;\n\t.loc 1 7 3\n\
    \tld.param.u64 %rd1, [p];\n\tld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1]; // all four\n$L:\n\
    \tsetp.eq.s32 %p1, %r1, %r2;\n\t@%p1 add.s64 %rd1, %rd1, 8;\n\
    \t{ .reg .b32 %t; mov.b32 %t, %r3; add.s32 %r5, %t, %r4; }\n\tst.global.b32 [%rd1], %r5;\n\t@%p1 bra $L;\n\tret;\n}\n\
    .section .debug_str\n{\n.b8 65,0\n}\n";

/// A product is spilled only if no sum that reads it was fused with it.
#[test]
fn products_and_sums() {
    let text = ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n\t.reg .f32 %f<9>;\n\
        \tmul.f32 %f1, %f8, %f8;\n\tadd.f32 %f2, %f1, %f8;\n\tmul.rn.f32 %f3, %f8, %f8;\n\tadd.f32 %f4, %f3, %f8;\n\tret;\n}\n";
    let numbered = Module::read("k.ptx", text.as_bytes()).expect("it is right").numbered();
    let is_fused = |register, lines: &[u32]| numbered.is_fused(register, &lines.iter().copied().collect());
    assert!(is_fused("%f1", &[2]) && is_fused("%f1", &[2, 4]));
    assert!(!is_fused("%f1", &[1, 4]) && !is_fused("%f3", &[2, 4]) && !is_fused("%f2", &[2, 4]));
}

/// Each instruction has a line of its own. Labels and declarations have none. The original lines are removed.
#[test]
fn every_instruction_has_a_line() {
    let numbered = Module::read("k.ptx", TEXT.as_bytes()).expect("it is right").numbered();
    let text = String::from_utf8(numbered.text).expect("it was text");
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| line.starts_with(".loc")).collect();
    assert_eq!(lines.len(), 9, "{text}");
    assert!((0..9).all(|at| lines[at] == format!(".loc 1 {} 1", at + 1)), "{lines:?}");
    let behind = |number: usize| text.split(&format!(".loc 1 {number} 1\n")).nth(1).expect("it is there").trim_start();
    assert!(behind(1).starts_with("ld.param") && behind(9).starts_with("ret;"), "{text}");
    assert!(text.contains(".target sm_90a\n") && !text.contains("a.py") && !text.contains(".debug_str"), "{text}");
    assert!(text.ends_with(".file 1 \"statements.ptx\"\n"));
    let without = |text: &str| {
        let is_code = |line: &&str| !line.starts_with('.') && !line.is_empty();
        text.lines().map(str::trim).filter(is_code).map(str::to_owned).collect::<Vec<_>>()
    };
    let code = TEXT.split(".section").next().expect("a first part");
    let kept: Vec<String> = without(&text);
    assert!(without(code).iter().filter(|line| line.ends_with(';')).all(|line| {
        line.split(';')
            .filter(|part| !part.trim().is_empty())
            .all(|part| kept.iter().any(|kept| kept.contains(part.trim())))
    }));
}

/// Each word of a statement's result is in the register that the statement names for this word. If a statement has one
/// register, all words are in this register.
#[test]
fn registers_of_words() {
    let numbered = Module::read("k.ptx", TEXT.as_bytes()).expect("it is right").numbered();
    assert_eq!(numbered.register(1, 1, 2), Some("%rd1"));
    assert_eq!([0, 1, 3].map(|word| numbered.register(2, word, 4)), [Some("%r1"), Some("%r2"), Some("%r4")]);
    // If the machine instruction writes another number of words, the register is unknown.
    assert_eq!((numbered.register(2, 0, 2), numbered.register(2, 4, 4)), (None, None));
    // Predicates are in no 32-bit register, and registers of an inner scope are unknown outside.
    assert_eq!((numbered.register(3, 0, 1), numbered.register(4, 0, 1)), (None, Some("%rd1")));
    assert_eq!([5, 7, 0, 99].map(|line| numbered.register(line, 0, 1)), [None; 4]);
}

/// A value whose only reader packs or copies it is in the register of the result.
#[test]
fn carriers() {
    let numbered = numbered(
        "mov.b32 %r1, 1; mov.b32 %r2, %r1; mov.b64 %rd1, {%r2, %r3}; mov.b64 {%r4, %r5}, %rd1; st.shared.b32 [%r4], %r5;",
    );
    let carriers = ["%r1", "%r2", "%r3", "%rd1", "%r4"].map(|name| numbered.carrier(name));
    assert_eq!(carriers, ["%rd1", "%rd1", "%rd1", "%rd1", "%r4"]);
}

/// A load serves the reads that are on the lines of the load's readers. If there are no such reads, it serves the reads
/// whose results reach one of these lines. Loads of the same read are merged, and loads without a read are left out.
#[test]
fn reads_of_loads() {
    let numbered = numbered(
        "add.s32 %r2, %r1, %r1; shl.b32 %r3, %r1, 2; add.s32 %r4, %r3, %r2; st.shared.b32 [%r4], %r2; xor.b32 %r5, %r1, 1;",
    );
    let loads = |loads: &[(u32, &[u32])]| -> Vec<(Vec<u32>, u32)> {
        let lines: Vec<(u32, BTreeSet<u32>)> =
            loads.iter().map(|&(times, lines)| (times, lines.iter().copied().collect())).collect();
        let found = numbered.loads("%r1", lines.iter().map(|(times, lines)| (*times, lines)));
        found.into_iter().map(|NamedLoad { reads, times }| (reads, times)).collect()
    };
    assert_eq!(loads(&[(10, &[5]), (1, &[1])]), [(vec![1], 1), (vec![3], 10)]);
    assert_eq!(loads(&[(1, &[1, 2]), (10, &[2, 5]), (1, &[6])]), [(vec![1, 2, 3], 10)]);
    // Both the sum and the shift are folded into the address.
    assert_eq!((loads(&[(1, &[3])]), loads(&[(1, &[6])])), (vec![(vec![1, 2], 1)], vec![]));
}

fn numbered(body: &str) -> Numbered {
    let text = format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<3>;\n\
         {body}\n\tret;\n}}\n"
    );
    Module::read("k.ptx", text.as_bytes()).expect("it is right").numbered()
}
