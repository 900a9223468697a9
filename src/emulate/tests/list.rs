//! The list of instructions in `tests/ptx`: each is executed, hashed, or refused with a reason.

use super::{Launches, file, program};
use crate::emulate::program::Op;

/// Returns the instructions of the list, with patterns expanded.
fn instructions() -> Vec<String> {
    let text = include_str!("../../../tests/ptx/instructions.txt");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '[']));
    lines
        .flat_map(|line| {
            let guard = if line.starts_with('@') { line.find(' ').map_or(0, |at| at + 1) } else { 0 };
            let end = line[guard..].find([' ', ';']).map_or(line.len(), |at| guard + at);
            let whole = |mnemonic: String| format!("{}{mnemonic}{}", &line[..guard], &line[end..]);
            expanded(&line[guard..end]).into_iter().map(whole).collect::<Vec<_>>()
        })
        .collect()
}

fn expanded(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let Some((choices, after)) = rest.split_once('}') else { return Vec::new() };
    let tails = expanded(after);
    let joined = |choice: &str| tails.iter().map(|tail| format!("{before}{choice}{tail}")).collect::<Vec<_>>();
    choices.split(',').flat_map(joined).collect()
}

/// Returns how an instruction is treated.
fn kind(instruction: &str) -> &'static str {
    let targets = if instruction.ends_with(" T;") { "T: .branchtargets L, M;\n" } else { "" };
    let before = ".func (.reg .b32 a) callee(.reg .b32 b)\n{\nadd.s32 a, b, 1;\nret;\n}\n";
    let text = file(before, &format!(".reg .b128 %q<8>;\n{targets}{instruction}\nL:\nM:"));
    let program = program(&text);
    let function = program.functions.iter().find(|function| function.name == "k").expect("the kernel");
    let mut found = "run";
    for inst in &function.insts {
        match inst.op {
            Op::Unknown(_) => return "refused",
            Op::Hashed { .. } => found = "hashed",
            _ => {}
        }
    }
    // The launch ends, or stops with a reason, but never panics.
    let launches = Launches { count: 1, most_steps: 10_000, ..super::launches(32, &[0; 64]) };
    _ = super::run(&program, "k", &launches);
    found
}

/// The lists of hashed and refused instructions are exact: a family that loses its model is noticed.
#[test]
fn every_instruction() {
    let (mut hashed, mut refused, mut run) = (Vec::new(), Vec::new(), 0);
    for instruction in instructions() {
        let word =
            || instruction.trim_start_matches(|letter| letter != ' ' && instruction.starts_with('@')).trim_start();
        let name = word().split([' ', ';']).next().unwrap_or_default().to_owned();
        match kind(&instruction) {
            "hashed" => hashed.push(name),
            "refused" => refused.push(name),
            _ => run += 1,
        }
    }
    println!("{run} run, {} hashed, {} refused", hashed.len(), refused.len());
    println!("hashed: {}\nrefused: {}", hashed.join(" "), refused.join(" "));
    assert!(run > 250, "{run} run");
    let families = |names: &[String]| {
        let mut words: Vec<String> =
            names.iter().map(|name| name.split('.').next().unwrap_or_default().into()).collect();
        words.dedup();
        words.join(" ")
    };
    assert_eq!(families(&hashed), HASHED);
    assert_eq!(families(&refused), REFUSED);
}

/// Families with hashed instructions.
const HASHED: &str = "istypep vmad vavrg2 vavrg4 clusterlaunchcontrol add";
/// Families with refused instructions.
const REFUSED: &str = "st red multimem discard tensormap tex tld4 suld sust sured txq suq wmma st \
                       clusterlaunchcontrol redux tcgen05 multimem";
