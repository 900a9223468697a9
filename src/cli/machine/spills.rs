//! Which values ptxas spills: those that machine code stores in a place of the stack with ptxas's mark. A value is named by
//! the source line of the instruction that computes it.

use std::collections::BTreeMap;

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
    let Some(flow) = ControlFlow::of_table(table, code) else { return Spills::default() };
    let line_of = |row: usize| lines.of(&table.name, table.offset(row)).first().map(|place| place.line);
    let mut moved: BTreeMap<(u32, u32, u32), f64> = BTreeMap::new();
    for Stored { row, register, moves } in stored(table, &flow) {
        let found = computed(table, &flow, row, register, MOST_COPIES);
        let share = moves / found.len().max(1) as f64;
        for (row, register) in found {
            let (word, of) = part(table, row, register);
            if let Some(line) = line_of(row) {
                *moved.entry((line, word, of)).or_default() += share;
            }
        }
    }
    let word = |((line, word, of), moves): (_, f64)| SpilledWord { line, word, of, moves: moves.ceil() as u32 };
    let fused = (0..table.len()).filter(|&row| is_product_and_sum(table.text(row))).filter_map(line_of).collect();
    Spills { words: moved.into_iter().map(word).collect(), fused }
}

/// A word that is stored in a place of the stack.
struct Stored {
    /// The store.
    row: usize,
    register: usize,
    /// How often it is stored and loaded, all in all, in a run of the function.
    moves: f64,
}

/// The words that stores with ptxas's mark store. A load is of the last store to its place ahead of it in the code, else of
/// the first.
fn stored(table: &LifeRanges, flow: &ControlFlow) -> Vec<Stored> {
    let times = flow.frequencies();
    let accesses = (0..table.len()).filter_map(|row| Access::of(row, table.text(row)));
    let spills: Vec<Access> = accesses.filter(|access| access.is_spill).collect();
    let words = |access: &Access| {
        let words = (access.bytes / 4).max(1);
        access.place.into_iter().flat_map(move |place| (0..words).map(move |word| (word, place + 4 * word)))
    };
    let (mut stored, mut by_place): (Vec<Stored>, BTreeMap<u32, Vec<usize>>) = Default::default();
    for access in spills.iter().filter(|access| access.is_store) {
        let Some(first) = stored_register(table.text(access.row)) else { continue };
        for (word, place) in words(access) {
            by_place.entry(place).or_default().push(stored.len());
            stored.push(Stored { row: access.row, register: first + word as usize, moves: times[access.row] });
        }
    }
    for access in spills.iter().filter(|access| !access.is_store) {
        for (_, place) in words(access) {
            let Some(stores) = by_place.get(&place) else { continue };
            let before = stores.partition_point(|&store| stored[store].row < access.row);
            stored[stores[before.saturating_sub(1)]].moves += times[access.row];
        }
    }
    stored
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
fn stored_register(text: &str) -> Option<usize> {
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
    use crate::machine::drawn_tables::{code_of_texts, of_texts};

    /// A function of these instructions, of which number N has the source line 10 + N.
    fn read(rows: &[(&str, &str)]) -> (LifeRanges, SourceLines, Vec<Instruction>) {
        let line = |(at, (text, _)): (usize, &(&str, &str))| {
            format!("//## File \"k.ptx\", line {}\n/*{:04x}*/ {text} ;\n", 10 + at, at * 16)
        };
        let text: String = rows.iter().enumerate().map(line).collect();
        let lines = SourceLines::read(format!("\t.section\t.text.k,\"ax\",@progbits\n{text}").as_bytes());
        (of_texts(rows), lines.expect("memory can be read"), code_of_texts(rows))
    }

    /// The words that it spills.
    fn of(rows: &[(&str, &str)]) -> Vec<(u32, u32, u32)> {
        let (table, lines, code) = read(rows);
        spills(&table, &lines, &code).words.iter().map(|word| (word.line, word.word, word.of)).collect()
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

    /// A value costs its stores and loads, each ten times for each loop around it; a load is of the store ahead of it.
    #[test]
    fn what_spills_move() {
        let (store, load) = ("STL [R1], R3 (*\"SpillRefill\"*)", "LDL R3, [R1] (*\"SpillRefill\"*)");
        let rows = [
            ("FADD R3, R0, R0", "v  ^"),
            (store, "   v"),
            (load, "   ^"),
            ("FADD R3, R0, R0", "v  ^"),
            (store, "   v"),
            (load, "   ^"),
            ("@P0 BRA 0x50", "   :"),
            ("EXIT", "    "),
        ];
        let (table, lines, code) = read(&rows);
        let moves = |word: &SpilledWord| (word.line, word.moves);
        assert_eq!(spills(&table, &lines, &code).words.iter().map(moves).collect::<Vec<_>>(), [(10, 2), (13, 11)]);
    }

    /// Stores without ptxas's mark are the program's own.
    #[test]
    fn own_stores() {
        assert_eq!(of(&[("FADD R3, R0, R0", "v  ^"), ("STL [R1], R3", "   v"), ("EXIT", "    ")]), []);
    }
}
