//! Tables of live registers for tests: each row is drawn as the letters of its registers.

use super::instruction::Instruction;
use super::life_ranges::{LifeRanges, for_each};
use super::listing;

/// A loop that copies two registers back and forth, one of them conditionally.
pub(crate) const COPIES_IN_A_LOOP: [(&str, &str); 6] = [
    ("MOV R0, R1", "^:"),
    ("IADD R1, R0", "vx"),
    ("@P0 MOV R0, R1", "^v"),
    ("@P1 BRA 0x10", "::"),
    ("MOV R1, R0", "v^"),
    ("EXIT", "  "),
];

/// Returns the table of a function whose instructions have these marks for general registers.
pub(crate) fn of_marks(rows: &[&str]) -> LifeRanges {
    of_texts(&rows.iter().map(|row| ("NOP", *row)).collect::<Vec<_>>())
}

/// Returns the table of a function with these instructions and their marks.
pub(crate) fn of_texts(rows: &[(&str, &str)]) -> LifeRanges {
    let width = rows.iter().map(|(_, row)| row.len()).max().unwrap_or(0);
    let digits: String = (0..width).map(|at| char::from(b'0' + (at % 10) as u8)).collect();
    let line = |text: &str, cell: &str| format!("{text:60}// | {cell:width$} |\n", width = width + 4);
    let mut text = "\t.section\t.text.k,\"ax\",@progbits\n".to_owned();
    text += &line("", "").replace("// |", "// +");
    text += &line("", "GPR");
    text += &line("", &format!("  # {digits}"));
    for (at, (instruction, row)) in rows.iter().enumerate() {
        let count = row.bytes().filter(|&letter| letter != b' ').count();
        text += &line(&format!("        /*{:04x}*/  {instruction} ;", at * 16), &format!("{count:>3} {row}"));
    }
    let mut tables = Vec::new();
    let read: Result<(), String> = for_each(text.as_bytes(), |table| {
        tables.push(table);
        Ok(())
    });
    read.expect("it is a table");
    tables.pop().expect("it has a function")
}

/// Returns the instructions of [`of_texts`], at the same addresses.
pub(crate) fn code_of_texts(rows: &[(&str, &str)]) -> Vec<Instruction> {
    let listed = |(at, (text, _)): (usize, &(&str, &str))| {
        listing::instruction(&format!("/*{:04x}*/ {text} ;", at * 16)).expect("it is an instruction")
    };
    rows.iter().enumerate().map(listed).collect()
}
