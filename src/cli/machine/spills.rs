//! Which values ptxas spills: those that machine code stores in a place of the stack with ptxas's mark. A value is named by
//! the source line of the instruction that computes it.

use nvptx_ra::tune::evidence::{SpilledWord, Spills};

use super::control_flow::ControlFlow;
use super::instruction::Instruction;
use super::life_ranges::{Kind, LifeRanges};
use super::local_access::Access;
use super::source_lines::SourceLines;
use super::writes::writes;

/// How many copies in a row are followed to what computes a value.
const MOST_COPIES: usize = 4;

/// What a function spills. Nothing where the bits and the disassembler disagree of the function. O(instructions) for each
/// spilled word.
pub(crate) fn spills(table: &LifeRanges, lines: &SourceLines, code: &[Instruction]) -> Spills {
    let agree = code.len() >= table.len() && (0..table.len()).all(|row| code[row].address == table.offset(row));
    if !agree {
        return Spills::default();
    }
    let flow = ControlFlow::of(&code[..table.len()]);
    let line_of = |row: usize| lines.of(&table.name, table.offset(row)).first().map(|place| place.line);
    let accesses = (0..table.len()).filter_map(|row| Access::of(row, table.text(row)));
    let mut words: Vec<SpilledWord> = Vec::new();
    for store in accesses.filter(|access| access.is_store && access.is_spill) {
        let Some(first) = stored(table.text(store.row)) else { continue };
        for register in first..first + (store.bytes / 4).max(1) as usize {
            for (row, register) in computed(table, &flow, store.row, register, MOST_COPIES) {
                let (word, of) = part(table, row, register);
                words.extend(line_of(row).map(|line| SpilledWord { line, word, of }));
            }
        }
    }
    words.sort_unstable();
    words.dedup();
    let fused = (0..table.len()).filter(|&row| is_product_and_sum(table.text(row))).filter_map(line_of).collect();
    Spills { words, fused }
}

/// Whether an instruction computes a product and a sum with it: FFMA, DFMA, HFMA2, ….
fn is_product_and_sum(text: &str) -> bool {
    let mut words = text.split(' ').filter(|word| !word.starts_with('@'));
    words.next().is_some_and(|opcode| opcode.split('.').next().is_some_and(|name| name.contains("FMA")))
}

/// The instructions that compute what a register holds at an instruction, and the registers in which they leave it; copies
/// are followed.
fn computed(table: &LifeRanges, flow: &ControlFlow, row: usize, register: usize, copies: usize) -> Vec<(usize, usize)> {
    let found = writes(table, flow, row, Kind::General, register);
    let of_write = |write: usize| match copied(table.text(write)).filter(|_| copies > 0) {
        Some(source) => computed(table, flow, write, source, copies - 1),
        None => vec![(write, register)],
    };
    found.into_iter().flat_map(of_write).collect()
}

/// Which of the words that an instruction writes is in a register, and how many it writes there in a row.
fn part(table: &LifeRanges, row: usize, register: usize) -> (u32, u32) {
    let marks = table.marks(row, Kind::General);
    let is_written = |at: usize| marks.get(at).is_some_and(|mark| mark.is_write());
    let before = (0..register).rev().take_while(|&at| is_written(at)).count();
    let behind = (register + 1..marks.len()).take_while(|&at| is_written(at)).count();
    (before as u32, (before + 1 + behind) as u32)
}

/// The first register that a store stores: `STL.64 [R1+0x8], R52 (*"SpillRefill"*)`.
fn stored(text: &str) -> Option<usize> {
    register(text.split_once("], ")?.1)
}

/// The register that an instruction copies, if that is all that it does: `MOV R1, R2`.
fn copied(text: &str) -> Option<usize> {
    let (written, source) = text.strip_prefix("MOV ")?.split_once(", ")?;
    register(written)?;
    register(source)
}

fn register(text: &str) -> Option<usize> {
    let digits = text.trim().strip_prefix('R')?.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::drawn_tables::of_texts;
    use crate::machine::listing;

    /// The words spilled where the instruction of number N has the source line 10 + N.
    fn of(rows: &[(&str, &str)]) -> Vec<(u32, u32, u32)> {
        let listed = |(at, (text, _)): (usize, &(&str, &str))| {
            listing::instruction(&format!("/*{:04x}*/ {text} ;", at * 16)).expect("it is an instruction")
        };
        let code: Vec<Instruction> = rows.iter().enumerate().map(listed).collect();
        let line = |(at, (text, _)): (usize, &(&str, &str))| {
            format!("//## File \"k.ptx\", line {}\n/*{:04x}*/ {text} ;\n", 10 + at, at * 16)
        };
        let text: String = rows.iter().enumerate().map(line).collect();
        let lines =
            SourceLines::read(format!("\t.section\t.text.k,\"ax\",@progbits\n{text}").as_bytes()).expect("memory");
        let found = spills(&of_texts(rows), &lines, &code);
        found.words.iter().map(|word| (word.line, word.word, word.of)).collect()
    }

    /// A stored value is the one that was computed last, a part of it where it has several words; copies are followed.
    #[test]
    fn what_is_stored() {
        let store = "STL [R1], R3 (*\"SpillRefill\"*)";
        assert_eq!(of(&[("FADD R3, R0, R0", "v  ^"), (store, "   v"), ("EXIT", "    ")]), [(10, 0, 1)]);
        assert_eq!(of(&[("LDG.E.64 R2, [R0]", "v ^^"), (store, "   v"), ("EXIT", "    ")]), [(10, 1, 2)]);
        assert_eq!(
            of(&[("FADD R2, R0, R0", "v ^ "), ("MOV R3, R2", "  v^"), (store, "   v"), ("EXIT", "    ")]),
            [(10, 0, 1)]
        );
        let wide = "STL.64 [R1], R2 (*\"SpillRefill\"*)";
        assert_eq!(
            of(&[("FADD R2, R0, R0", "v ^ "), ("FADD R3, R0, R0", "v :^"), (wide, "  vv"), ("EXIT", "    ")]),
            [(10, 0, 1), (11, 0, 1)]
        );
    }

    /// Lines that compute a product and a sum at once are told from others.
    #[test]
    fn products_and_sums() {
        let found = ["FFMA R0, R1, R2, R3", "@!P0 HFMA2.BF16_V2 R0, R1, R2, R3", "DFMA R0, R2, R4, R6"];
        assert!(found.into_iter().all(is_product_and_sum));
        assert!(!["FADD R0, R1, R2", "FMUL R0, R1, R2", "IMAD R0, R1, R2, R3"].into_iter().any(is_product_and_sum));
    }

    /// Stores without ptxas's mark are the program's own.
    #[test]
    fn own_stores() {
        assert_eq!(of(&[("FADD R3, R0, R0", "v  ^"), ("STL [R1], R3", "   v"), ("EXIT", "    ")]), []);
    }
}
