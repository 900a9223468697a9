//! Finds the values that ptxas spills. Machine code stores them to the stack. A value is identified by the source line
//! of the instruction that computes it.

use std::collections::{BTreeMap, BTreeSet};

use nvptx_ra::tune::ptxas_output::{SpilledLoad, SpilledWord, Spills};

use super::control_flow::ControlFlow;
use super::instruction::Instruction;
use super::life_ranges::{Kind, LifeRanges};
use super::listing::register;
use super::reads::reads;
use super::source_lines::SourceLines;
use super::spill_slots::{SpillSlots, Stored};
use super::writes::writes;

/// Most copies, stores and loads that are followed to a value's computation, or to its readers.
const MOST_STEPS: usize = 32;

/// Returns the spills of a function; empty if the decoder and the disassembler disagree on the function.
/// O(instructions) for each spilled word.
pub(crate) fn spills(table: &LifeRanges, lines: &SourceLines, code: &[Instruction]) -> Spills {
    let Some(flow) = ControlFlow::of_table(table, code) else { return Spills::default() };
    let times = flow.frequencies();
    let slots = SpillSlots::of(table, &flow, &times);
    let function = Function { table, flow: &flow, slots: &slots };
    let line_of = |row: usize| lines.of(&table.name, table.offset(row)).first().map(|place| place.line);
    let load = |&(row, register): &(usize, usize)| SpilledLoad {
        times: times[row].ceil() as u32,
        readers: function.read(row, register).into_iter().filter_map(line_of).collect(),
    };
    let mut words: BTreeMap<(u32, u32, u32), (f64, BTreeSet<SpilledLoad>)> = BTreeMap::new();
    for Stored { row, register, moves, loads } in &slots.stored {
        let found = function.computed(*row, *register);
        let share = moves / found.len().max(1) as f64;
        let loads: Vec<SpilledLoad> = loads.iter().map(load).collect();
        for (row, register) in found {
            let (word, of) = part(table, row, register);
            if let Some(line) = line_of(row) {
                let (moves, of_word) = words.entry((line, word, of)).or_default();
                *moves += share;
                of_word.extend(loads.iter().filter(|load| !load.readers.is_empty()).cloned());
            }
        }
    }
    let word = |((line, word, of), (moves, loads)): (_, (f64, BTreeSet<SpilledLoad>))| {
        let (moves, loads) = (moves.ceil() as u32, loads.into_iter().collect());
        SpilledWord { line, word, of, moves, loads }
    };
    let fused = (0..table.len()).filter(|&row| is_product_and_sum(table.text(row))).filter_map(line_of).collect();
    Spills { words: words.into_iter().map(word).collect(), fused }
}

/// Machine code in which values are traced.
struct Function<'a> {
    table: &'a LifeRanges,
    flow: &'a ControlFlow,
    slots: &'a SpillSlots,
}

impl Function<'_> {
    /// Returns the instructions that compute a register's value at an instruction, and their destination registers.
    /// Copies, stores and loads are followed up to a limit.
    fn computed(&self, row: usize, register: usize) -> BTreeSet<(usize, usize)> {
        let (mut found, mut todo) = (BTreeSet::new(), vec![(row, register)]);
        let mut seen = BTreeSet::from([(row, register)]);
        while let Some((row, register)) = todo.pop() {
            for write in writes(self.table, self.flow, row, Kind::General, register) {
                let mut follow =
                    |source| todo.extend(Some(source).filter(|_| seen.len() < MOST_STEPS && seen.insert(source)));
                if let Some([_, source]) = copied(self.table.text(write)) {
                    follow((write, source));
                } else if let Some(stores) = self.slots.sources(write, register) {
                    stores.for_each(|store| follow((store.row, store.register)));
                } else {
                    found.insert((write, register));
                }
            }
        }
        found
    }

    /// Returns the instructions that read the value that an instruction leaves in a register. Copies are followed up to
    /// a limit. Stores of spilled words are excluded: the readers of such a value follow its loads.
    fn read(&self, row: usize, register: usize) -> BTreeSet<usize> {
        let (mut found, mut todo) = (BTreeSet::new(), vec![(row, register)]);
        let mut seen = BTreeSet::from([(row, register)]);
        while let Some((row, register)) = todo.pop() {
            for reader in reads(self.table, self.flow, row, Kind::General, register) {
                let text = self.table.text(reader);
                if let Some([copy, _]) = copied(text) {
                    todo.extend(Some((reader, copy)).filter(|&at| seen.len() < MOST_STEPS && seen.insert(at)));
                } else if !self.slots.has(reader) {
                    found.insert(reader);
                }
            }
        }
        found
    }
}

/// Returns whether an instruction is a fused multiply-add: FFMA, DFMA, HFMA2, ….
fn is_product_and_sum(text: &str) -> bool {
    let mut words = text.split(' ').filter(|word| !word.starts_with('@'));
    words.next().is_some_and(|opcode| opcode.split('.').next().is_some_and(|name| name.contains("FMA")))
}

/// Returns the index of a register among an instruction's adjacent destination registers, and the number of these
/// registers.
fn part(table: &LifeRanges, row: usize, register: usize) -> (u32, u32) {
    let marks = table.marks(row, Kind::General);
    let is_written = |at: usize| marks.get(at).is_some_and(|mark| mark.is_write());
    let before = (0..register).rev().take_while(|&at| is_written(at)).count();
    let behind = (register + 1..marks.len()).take_while(|&at| is_written(at)).count();
    (before as u32, (before + 1 + behind) as u32)
}

/// Returns a copy's destination and source, for instructions such as `MOV R1, R2`.
fn copied(text: &str) -> Option<[usize; 2]> {
    let (written, source) = text.strip_prefix("MOV ")?.split_once(", ")?;
    Some([register(written)?, register(source)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::drawn_tables::{code_of_texts, of_texts};

    /// Makes a function of these instructions; instruction N has the source line 10 + N.
    fn read(rows: &[(&str, &str)]) -> (LifeRanges, SourceLines, Vec<Instruction>) {
        let line = |(at, (text, _)): (usize, &(&str, &str))| {
            format!("//## File \"k.ptx\", line {}\n/*{:04x}*/ {text} ;\n", 10 + at, at * 16)
        };
        let text: String = rows.iter().enumerate().map(line).collect();
        let lines = SourceLines::read(format!("\t.section\t.text.k,\"ax\",@progbits\n{text}").as_bytes());
        (of_texts(rows), lines.expect("memory can be read"), code_of_texts(rows))
    }

    /// Returns the spilled words.
    fn of(rows: &[(&str, &str)]) -> Vec<(u32, u32, u32)> {
        let (table, lines, code) = read(rows);
        spills(&table, &lines, &code).words.iter().map(|word| (word.line, word.word, word.of)).collect()
    }

    /// A stored value is the last computed value. If the value has several words, the word's index is part of the
    /// result. Copies are followed.
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

    /// Lines with a fused multiply-add are distinguished from other lines.
    #[test]
    fn products_and_sums() {
        let found = ["FFMA R0, R1, R2, R3", "@!P0 HFMA2.BF16_V2 R0, R1, R2, R3", "DFMA R0, R2, R4, R6"];
        assert!(found.into_iter().all(is_product_and_sum));
        assert!(!["FADD R0, R1, R2", "FMUL R0, R1, R2", "IMAD R0, R1, R2, R3"].into_iter().any(is_product_and_sum));
    }

    /// A value's cost counts its stores and loads. Each counts ten times for each loop around it. A load belongs to the
    /// store before it.
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

    /// Each load has the readers of its value, also after copies. A load finds the store that executes last before it.
    /// A value that is loaded and stored again stays the same value.
    #[test]
    fn what_loads_serve() {
        let [store, load] = ["STL [R1], R3 (*\"SpillRefill\"*)", "LDL R3, [R1] (*\"SpillRefill\"*)"];
        let rows = [
            ("FADD R3, R0, R0", "v  ^ "),
            (store, "   v "),
            (load, "   ^ "),
            ("FADD R0, R3, R3", "^  v "),
            ("STL [R1+0x4], R3 (*\"SpillRefill\"*)", "   v "),
            ("LDL R3, [R1+0x4] (*\"SpillRefill\"*)", "   ^ "),
            ("MOV R4, R3", "   v^"),
            ("FADD R0, R4, R4", "x   v"),
            ("@P0 BRA 0x20", ":    "),
            ("EXIT", "     "),
        ];
        let (table, lines, code) = read(&rows);
        let found = spills(&table, &lines, &code);
        let loads: Vec<(u32, Vec<u32>)> = found.words[0]
            .loads
            .iter()
            .map(|SpilledLoad { times, readers }| (*times, readers.iter().copied().collect()))
            .collect();
        assert_eq!((found.words.len(), found.words[0].line, loads), (1, 10, vec![(10, vec![13]), (10, vec![17])]));
    }

    /// If some stores have ptxas's mark, stores without a mark are the program's own. If no store has a mark, as before
    /// CUDA 13.0, stores at fixed offsets from the stack pointer are ptxas's.
    #[test]
    fn own_stores() {
        let first = [("FADD R3, R0, R0", "v  ^"), ("STL [R1], R3", "   v")];
        let second = [("FADD R2, R0, R0", "v ^ "), ("STL [R1+0x8], R2 (*\"SpillRefill\"*)", "  v ")];
        let end = [("EXIT", "    ")];
        assert_eq!(of(&[&first[..], &second, &end].concat()), [(12, 0, 1)]);
        assert_eq!(of(&[&first[..], &end].concat()), [(10, 0, 1)]);
        assert_eq!(of(&[("FADD R3, R0, R0", "v  ^"), ("STL [R2], R3", "  vv"), ("EXIT", "    ")]), []);
    }
}
