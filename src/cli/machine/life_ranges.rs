//! Parses the disassembler's table of live registers, `nvdisasm -c -plr -lrm narrow`.
//!
//! The table has a row for each instruction, and a cell for each kind of register. A cell has the number of occupied
//! registers, and a letter for each register: `^` written, `v` read, `x` both, `:` live and not accessed. At a
//! register's last read, the register counts together with the register that the instruction writes.
//!
//! The table of a large file has gigabytes, so it is parsed as a stream, function by function. A malformed line is an
//! error with the line's number, and no input causes a panic.

use std::io::BufRead;
use std::ops::Range;

/// Kinds of registers, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// General registers of a thread: R0, R1, …
    General,
    /// Predicates of a thread.
    Predicate,
    /// Registers shared by a warp.
    Uniform,
    /// Predicates shared by a warp.
    UniformPredicate,
}

impl Kind {
    /// All kinds.
    pub(crate) const ALL: [Self; 4] = [Self::General, Self::Predicate, Self::Uniform, Self::UniformPredicate];

    /// Returns the disassembler's prefix of a register's number.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::General => "R",
            Self::Predicate => "P",
            Self::Uniform => "UR",
            Self::UniformPredicate => "UP",
        }
    }

    fn of_title(title: &str) -> Option<Self> {
        match title {
            "GPR" => Some(Self::General),
            "PRED" => Some(Self::Predicate),
            "UGPR" => Some(Self::Uniform),
            "UPRED" => Some(Self::UniformPredicate),
            _ => None,
        }
    }
}

/// How an instruction affects a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The register has no value that is read later.
    Free,
    /// The register keeps its value.
    Live,
    Read,
    Written,
    ReadAndWritten,
}

impl Mark {
    fn of(letter: u8) -> Option<Self> {
        match letter {
            b' ' => Some(Self::Free),
            b':' => Some(Self::Live),
            b'v' => Some(Self::Read),
            b'^' => Some(Self::Written),
            b'x' => Some(Self::ReadAndWritten),
            _ => None,
        }
    }

    /// Returns whether the instruction reads the register.
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::ReadAndWritten)
    }

    /// Returns whether the instruction writes the register.
    pub(crate) fn is_write(self) -> bool {
        matches!(self, Self::Written | Self::ReadAndWritten)
    }
}

/// An instruction of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    offset: u32,
    text: Range<usize>,
    counts: [u16; 4],
}

/// The table of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LifeRanges {
    /// The function.
    pub(crate) name: String,
    /// The processor in the file.
    pub(crate) target: String,
    rows: Vec<Row>,
    texts: String,
    /// The table's columns for each kind of register.
    columns: [usize; 4],
    /// The marks of all rows; a row's marks are contiguous and ordered by kind.
    marks: Vec<Mark>,
}

impl LifeRanges {
    /// Returns the number of instructions.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns an instruction's offset, in bytes from the start of the function.
    pub(crate) fn offset(&self, row: usize) -> u32 {
        self.rows[row].offset
    }

    /// Returns an instruction as the disassembler prints it.
    pub(crate) fn text(&self, row: usize) -> &str {
        &self.texts[self.rows[row].text.clone()]
    }

    /// Returns how many registers of a kind are occupied at an instruction, by the disassembler's count.
    pub(crate) fn count(&self, row: usize, kind: Kind) -> u32 {
        self.rows[row].counts[kind as usize].into()
    }

    /// Counts the registers of a kind that are occupied at an instruction, by the marks.
    pub(crate) fn live(&self, row: usize, kind: Kind) -> u32 {
        self.marks(row, kind).iter().filter(|&&mark| mark != Mark::Free).count() as u32
    }

    /// Returns the number of columns of all kinds.
    pub(crate) fn width(&self) -> usize {
        self.columns.iter().sum()
    }

    /// Returns an instruction's marks for the registers of all kinds, in the kinds' order.
    pub(crate) fn row(&self, row: usize) -> &[Mark] {
        let width = self.width();
        &self.marks[row * width..(row + 1) * width]
    }

    /// Marks a register, by its column, as free at an instruction.
    pub(crate) fn free(&mut self, row: usize, column: usize) {
        let width = self.width();
        self.marks[row * width + column] = Mark::Free;
    }

    /// Returns an instruction's marks for the registers of a kind, by their numbers.
    pub(crate) fn marks(&self, row: usize, kind: Kind) -> &[Mark] {
        let before: usize = self.columns[..kind as usize].iter().sum();
        &self.row(row)[before..before + self.columns[kind as usize]]
    }
}

/// Offset of a kind's cell, in bytes from the start of the table in a line, and offset of the registers in the cell.
#[derive(Clone, Debug)]
struct Cell {
    kind: Option<Kind>,
    place: Range<usize>,
    registers: usize,
    columns: usize,
}

/// Start of the table in a line.
const TABLE: &str = "// |";
const BORDER: &str = "// +";

/// Calls `each` with the table of every function. An error contains the malformed line's number.
pub(crate) fn for_each<E: From<String>>(
    mut input: impl BufRead,
    mut each: impl FnMut(LifeRanges) -> Result<(), E>,
) -> Result<(), E> {
    let mut function = LifeRanges::default();
    let mut cells: Vec<Cell> = Vec::new();
    let mut in_head = false;
    let mut target = String::new();
    let mut bytes = Vec::new();
    for number in 1u64.. {
        bytes.clear();
        let read = input.read_until(b'\n', &mut bytes).map_err(|error| format!("line {number}: {error}"))?;
        if read == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        if let Some(name) = processor(line) {
            target = name;
        }
        if let Some(name) = section(line) {
            let next = LifeRanges { name: name.to_owned(), target: target.clone(), ..LifeRanges::default() };
            let done = std::mem::replace(&mut function, next);
            if !done.rows.is_empty() {
                each(done)?;
            }
            cells.clear();
            continue;
        }
        if line.contains(BORDER) {
            in_head = cells.is_empty();
            continue;
        }
        let Some(at) = line.rfind(TABLE) else { continue };
        let table = &line[at..];
        let problem = |what: &str| E::from(format!("line {number}: {what}"));
        if line[..at].trim().is_empty() && function.rows.is_empty() {
            if in_head && cells.is_empty() {
                cells = titles(table).ok_or_else(|| problem("the table has no known kinds of registers"))?;
            } else if table.contains('#') {
                registers(table, &mut cells).ok_or_else(|| problem("the table's registers are not numbered from 0"))?;
                for cell in &cells {
                    if let Some(kind) = cell.kind {
                        function.columns[kind as usize] = cell.columns;
                    }
                }
            }
            continue;
        }
        if let Some((offset, text)) = instruction(&line[..at]) {
            function.push(offset, text, table, &cells).ok_or_else(|| problem("the row does not fit the table"))?;
        }
    }
    if function.rows.is_empty() { Ok(()) } else { each(function) }
}

impl LifeRanges {
    /// Appends a row. `None` if it is malformed.
    fn push(&mut self, offset: u32, text: &str, table: &str, cells: &[Cell]) -> Option<()> {
        if self.rows.last().is_some_and(|last| last.offset >= offset) {
            return None;
        }
        let mut counts = [0; 4];
        for kind in Kind::ALL {
            let Some(cell) = cells.iter().find(|cell| cell.kind == Some(kind)) else { continue };
            let bytes = table.as_bytes();
            let count = table.get(cell.place.start..cell.registers)?.trim();
            counts[kind as usize] = if count.is_empty() { 0 } else { count.parse().ok()? };
            let letters = bytes.get(cell.registers..cell.registers + cell.columns)?;
            for &letter in letters {
                self.marks.push(Mark::of(letter)?);
            }
        }
        let start = self.texts.len();
        self.texts.push_str(text);
        self.rows.push(Row { offset, text: start..self.texts.len(), counts });
        Some(())
    }
}

/// Returns the processor in a line: `.target sm_90a`, or `.headerflags` with `EF_CUDA_SM90` before CUDA 13.
fn processor(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix(".target") {
        return Some(name.trim().to_owned());
    }
    let (_, number) = line.strip_prefix(".headerflags")?.split_once(" EF_CUDA_SM")?;
    let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    Some(format!("sm_{}", &number[..end]))
}

/// Returns the function whose section a line begins.
pub(super) fn section(line: &str) -> Option<&str> {
    let (name, _) = line.trim_start().strip_prefix(".section")?.trim_start().strip_prefix(".text.")?.split_once(',')?;
    Some(name.trim_matches('"'))
}

/// Parses `/*0010*/ @P0 MOV R1, R2 ;` into offset and text. The comment that follows has the encoding and is ignored.
pub(super) fn instruction(line: &str) -> Option<(u32, &str)> {
    let (offset, text) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let offset = u32::from_str_radix(offset, 16).ok().filter(|_| offset.len() >= 4)?;
    let text = text.split(';').next()?.trim();
    text.starts_with(|c: char| c.is_ascii_uppercase() || c == '@' || c == '{').then_some((offset, text))
}

/// Parses a table's title row into cells, `// |  GPR  | PRED |`.
fn titles(table: &str) -> Option<Vec<Cell>> {
    let bars: Vec<usize> = table.match_indices('|').map(|(at, _)| at).collect();
    let cell = |bars: &[usize]| {
        let place = bars[0] + 1..bars[1];
        let kind = Kind::of_title(table.get(place.clone())?.trim());
        Some(Cell { kind, registers: place.end, place, columns: 0 })
    };
    let cells: Option<Vec<Cell>> = bars.windows(2).map(cell).collect();
    cells.filter(|cells| cells.iter().any(|cell| cell.kind.is_some()))
}

/// Parses the head's last row, `| # 0123456789012 |`, into the columns of registers. Each digit is the last digit of a
/// register's number.
fn registers(table: &str, cells: &mut [Cell]) -> Option<()> {
    for cell in cells.iter_mut().filter(|cell| cell.kind.is_some()) {
        let text = table.get(cell.place.clone())?;
        let sign = text.find('#')?;
        let digits = text[sign + 1..].trim_end();
        let space = digits.len() - digits.trim_start().len();
        let digits = digits.trim_start();
        if !digits.bytes().zip((0..10).cycle()).all(|(digit, number)| digit == b'0' + number) {
            return None;
        }
        cell.registers = cell.place.start + sign + 1 + space;
        cell.columns = digits.len();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of CUDA 13's disassembler, with fewer spaces.
    const TABLE: &str = "\
\t.target\tsm_90\n\
//--------------------- .text.k      --------------------------\n\
\t.section\t.text.k,\"ax\",@progbits\n\
                                        // +----------------+------------+-----------+---------+\n\
                                        // |      GPR       |   PRED     |   UGPR    | UPRED   |\n\
                                        // |                |            |           |         |\n\
                                        // |    00000000001 |            |           |         |\n\
                                        // |  # 01234567890 | # 0123456  |  # 01234  |   # 0   |\n\
                                        // +----------------+------------+-----------+---------+\n\
        .global         k               // |                |            |           |         |\n\
.text.k:                                // |                |            |           |         |\n\
        /*0000*/   LDC R1, c[0x0][0x28] ;  // |  1  ^          |            |           |         |\n\
        /*0010*/   IMAD.WIDE R2, R1, R1, RZ ;  // |  3  v^^        | 1       :  |  2   ^^   |         |\n\
.L_x_0:                                 // |  3  :::        | 1       :  |  2   ::   |         |\n\
        /*0020*/ @P6 BRA `(.L_x_0) ;    // | 10 :::::::::x  | 1       v  |           |   1 :   |\n";

    fn read(text: &str) -> Result<Vec<LifeRanges>, String> {
        let mut functions = Vec::new();
        for_each(text.as_bytes(), |function| {
            functions.push(function);
            Ok::<(), String>(())
        })?;
        Ok(functions)
    }

    /// Counts and marks of each kind are parsed for each instruction.
    #[test]
    fn reads_tables() {
        let functions = read(TABLE).expect("it is a table");
        let [k] = &*functions else { panic!("{functions:?}") };
        assert_eq!((k.name.as_str(), k.target.as_str(), k.len()), ("k", "sm_90", 3));
        assert_eq!((k.offset(2), k.text(2)), (0x20, "@P6 BRA `(.L_x_0)"));
        assert_eq!([0, 1, 2].map(|row| k.count(row, Kind::General)), [1, 3, 10]);
        assert_eq!([0, 1, 2].map(|row| k.live(row, Kind::General)), [1, 3, 10]);
        assert_eq!(Kind::ALL.map(|kind| k.count(1, kind)), [3, 1, 2, 0]);
        assert_eq!(k.marks(1, Kind::General)[..5], [Mark::Free, Mark::Read, Mark::Written, Mark::Written, Mark::Free]);
        assert_eq!((k.marks(1, Kind::General).len(), k.marks(1, Kind::UniformPredicate).len()), (11, 1));
        assert_eq!(k.marks(2, Kind::General)[9], Mark::ReadAndWritten);
        assert_eq!((k.marks(2, Kind::Predicate)[6], k.marks(2, Kind::Predicate)[0]), (Mark::Read, Mark::Free));
        assert_eq!(k.marks(1, Kind::Uniform), [Mark::Free, Mark::Free, Mark::Written, Mark::Written, Mark::Free]);
    }

    /// A malformed line is an error with its number: an unknown letter, a truncated row, columns that are not registers
    /// 0, 1, …, offsets that do not increase.
    #[test]
    fn what_does_not_fit_is_an_error() {
        for (from, to, line) in [
            ("v^^", "v^?", 13),
            ("|  1  ^          |            |           |         |", "|  1  ^   ", 12),
            ("# 01234567890", "# 01134567890", 8),
            ("/*0020*/", "/*0010*/", 15),
            ("GPR ", "XYZ ", 0),
        ] {
            let broken = TABLE.replacen(from, to, 1);
            assert_ne!(broken, TABLE);
            match read(&broken) {
                Err(error) => assert!(error.starts_with(&format!("line {line}: ")), "{error}"),
                // An unknown kind is skipped.
                Ok(functions) => assert_eq!((line, functions[0].count(1, Kind::General)), (0, 0)),
            }
        }
        assert_eq!(read("no table\n"), Ok(Vec::new()));
    }

    /// No input causes a panic, for any truncated, doubled or replaced part of a table.
    #[test]
    fn damaged_tables() {
        arbtest::arbtest(|u| {
            let mut bytes = TABLE.as_bytes().to_vec();
            for _ in 0..u.int_in_range(1..=8)? {
                let at = u.choose_index(bytes.len())?;
                let to = (at + u.int_in_range(0..=60)?).min(bytes.len());
                match u.int_in_range(0..=3)? {
                    0 => drop(bytes.drain(at..to)),
                    1 => bytes[at] = u.arbitrary()?,
                    2 => bytes.splice(at..at, "ü|#// |".bytes()).for_each(drop),
                    _ => bytes.extend_from_within(at..to),
                }
                if bytes.is_empty() {
                    break;
                }
            }
            let _ = for_each(&*bytes, |function| {
                for row in 0..function.len() {
                    let _ = (function.text(row), Kind::ALL.map(|kind| function.marks(row, kind).len()));
                }
                Ok::<(), String>(())
            });
            Ok(())
        });
    }
}
