//! The decoder agrees with the disassembler's text, and returns nothing if a bit has no known meaning.
//!
//! tests/golden/sass/instructions.txt has instructions with their text; tests/bench/encoding.py writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::super::instruction::Instruction;
use super::super::operand::Operand;
use super::super::text;
use super::decode;

/// The instructions of a processor.
struct Listed {
    processor: u32,
    /// The instructions that the decoder supports, as they are read from the text.
    known: Vec<Instruction>,
    /// Bits and addresses of the other instructions.
    unknown: Vec<(u128, u32)>,
}

fn golden() -> Vec<Listed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/sass/instructions.txt");
    let text = fs::read_to_string(path).expect("the file is there");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut by_processor: Vec<(u32, Vec<&str>)> = Vec::new();
    for line in lines {
        if let Some(processor) = line.strip_prefix('[') {
            by_processor.push((processor.trim_end_matches(']').parse().expect("a number"), Vec::new()));
        } else if let Some((_, lines)) = by_processor.last_mut() {
            lines.push(line);
        }
    }
    by_processor.into_iter().map(|(processor, lines)| listed(processor, &lines)).collect()
}

fn listed(processor: u32, lines: &[&str]) -> Listed {
    let mut section = String::from("//--------------------- .text.f ---\n");
    let mut code = Vec::new();
    let mut unknown = BTreeMap::new();
    for (number, line) in lines.iter().enumerate() {
        let (is_known, line) = line.strip_prefix('-').map_or((true, *line), |line| (false, line));
        let (bits, text) = line.split_once(' ').expect("bits and a text");
        let bits = u128::from_str_radix(bits, 16).expect("bits");
        if !is_known {
            unknown.insert(16 * number as u32, bits);
        }
        section += &format!("/*{:04x}*/ {text} ;\n", 16 * number);
        code.extend(bits.to_le_bytes());
    }
    let (functions, unread) = text::read(&section, &BTreeMap::from([("f".to_owned(), &code[..])]));
    let known: Vec<_> = functions.into_iter().flat_map(|function| function.instructions).collect();
    let known: Vec<_> = known.into_iter().filter(|one| !unknown.contains_key(&one.address)).collect();
    for one in &unread {
        assert!(unknown.contains_key(&one.address), "sm_{processor}: not read: {}", one.text);
    }
    Listed { processor, known, unknown: unknown.into_iter().map(|(address, bits)| (bits, address)).collect() }
}

/// Whether two instructions are equal. In the text of raw code, targets are plain numbers.
fn same(read: &Instruction, decoded: &Instruction) -> bool {
    let is_as_long = read.operands.len() == decoded.operands.len();
    let operands = is_as_long
        && read.operands.iter().zip(&decoded.operands).all(|pair| match pair {
            (Operand::Immediate(number), Operand::Target(target)) => *number == *target as u32,
            (one, other) => one == other,
        });
    operands && Instruction { operands: decoded.operands.clone(), ..read.clone() } == *decoded
}

/// Every supported instruction of the list is decoded as the disassembler prints it. The others are not decoded.
#[test]
fn gives_what_the_disassembler_prints() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for Listed { processor, known, unknown } in golden() {
        for read in &known {
            count += 1;
            let decoded = decode(read.bits, read.address, processor);
            if !decoded.as_ref().is_some_and(|decoded| same(read, decoded)) {
                wrong.push(format!("sm_{processor} {:032x}: {read:?}, not {decoded:?}", read.bits));
            }
        }
        for (bits, address) in unknown {
            if let Some(decoded) = decode(bits, address, processor) {
                wrong.push(format!("sm_{processor} {bits:032x}: unknown, not {decoded:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 900, "only {count} instructions");
}

/// Bits that the decoder accepts and the disassembler does not print, by operation. They belong to carries that are not
/// read or not written, to the upper half of the value that LEA shifts, and to descriptors before sm_90.
const SILENT: &str = "
ATOM {64, 65, 66, 67, 68, 69}
F2FP {64, 65, 66, 67, 68, 69, 70, 71}
IADD {87, 88, 89, 90}
IADD3 {77, 78, 79, 80, 87, 88, 89, 90}
IMAD {81, 82, 83, 87, 88, 89, 90}
ISETP {68, 69, 70, 71}
LEA {64, 65, 66, 67, 68, 69, 70, 71, 87, 88, 89, 90}
RED {64, 65, 66, 67, 68, 69}
UIADD3 {77, 78, 79, 80, 87, 88, 89, 90}
UIMAD {81, 82, 83, 87, 88, 89, 90}
UISETP {68, 69, 70, 71}
ULEA {64, 65, 66, 67, 68, 69, 87, 88, 89, 90}
";

/// An instruction with one flipped bit is another instruction or unknown, except for bits that are not printed.
#[test]
fn every_bit_counts() {
    let mut silent: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for Listed { processor, known, .. } in golden() {
        for one in &known {
            let plain = decode(one.bits, one.address, processor);
            for bit in 12..105 {
                let Some(changed) = decode(one.bits ^ 1 << bit, one.address, processor) else { continue };
                assert!(bit < 92, "{:?}: bit {bit} means nothing", one.mnemonic);
                if plain.as_ref() == Some(&Instruction { bits: one.bits, ..changed }) {
                    silent.entry(one.word().to_owned()).or_default().insert(bit);
                }
            }
        }
    }
    let silent: Vec<_> = silent.iter().map(|(word, bits)| format!("{word} {bits:?}")).collect();
    assert_eq!(silent.join("\n"), SILENT.trim());
}

/// Random bits decode to an instruction or to `None` on every processor. An instruction keeps its bits.
#[test]
fn decodes_or_says_nothing() {
    let mut state = 1u128;
    let mut decoded = 0;
    for _ in 0..100_000 {
        state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
        let bits = state ^ state >> 64;
        for processor in [80, 86, 89, 90, 100, 120] {
            // Bits 92 to 104 have no meaning. With random values there, no instruction would be decoded.
            let bits = bits & !(0x1fff << 92);
            if let Some(instruction) = decode(bits, 0x100, processor) {
                decoded += 1;
                assert_eq!((instruction.bits, instruction.address), (bits, 0x100));
            }
        }
    }
    assert!(decoded > 0, "nothing was decoded");
}
