//! Parses the source lines of instructions, which `nvdisasm -c -gi` prints above them. The first is `//## File "k.cu",
//! line 7 inlined at "k.cu", line 12` for the instruction itself. One more line follows for each inlined call around
//! it.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use super::life_ranges::{instruction, section};

/// A line of a source file; the file is a number in [`SourceLines::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) file: u32,
    pub(crate) line: u32,
}

/// The lines of all functions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceLines {
    /// Paths, each once, in the order of their first use.
    pub(crate) files: Vec<String>,
    /// Lists of source lines: the instruction's own line, then the lines of the inlined calls around it, the innermost
    /// first.
    places: Vec<Vec<Place>>,
    /// By function: the start of each range of instructions with the same list of lines, and the number of the list.
    functions: BTreeMap<String, Vec<(u32, u32)>>,
}

impl SourceLines {
    /// Returns an instruction's source lines, the innermost first; empty if unknown.
    pub(crate) fn of(&self, function: &str, offset: u32) -> &[Place] {
        let Some(stretches) = self.functions.get(function) else { return &[] };
        let behind = stretches.partition_point(|&(start, _)| start <= offset);
        let place = behind.checked_sub(1).and_then(|at| self.places.get(stretches[at].1 as usize));
        place.map_or(&[], Vec::as_slice)
    }

    /// Renumbers the files by a shared list, and adds missing files to it.
    pub(crate) fn share_files(&mut self, files: &mut Vec<String>) {
        let number = |path: &String| {
            let known = files.iter().position(|known| known == path);
            known.unwrap_or_else(|| {
                files.push(path.clone());
                files.len() - 1
            }) as u32
        };
        let numbers: Vec<u32> = self.files.iter().map(number).collect();
        for place in self.places.iter_mut().flatten() {
            place.file = numbers[place.file as usize];
        }
        self.files.clone_from(files);
    }

    /// Returns whether no instruction has a line.
    pub(crate) fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Parses a listing as far as possible, and ignores the disassembler's other comments.
    pub(crate) fn read(mut input: impl BufRead) -> std::io::Result<Self> {
        let mut lines = Self::default();
        let mut numbers: HashMap<Vec<Place>, u32> = HashMap::new();
        let mut files: HashMap<String, u32> = HashMap::new();
        let (mut function, mut group, mut is_new) = (String::new(), Vec::new(), false);
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if input.read_until(b'\n', &mut bytes)? == 0 {
                return Ok(lines);
            }
            let line = String::from_utf8_lossy(&bytes);
            if let Some(name) = section(&line) {
                name.clone_into(&mut function);
                (group, is_new) = (Vec::new(), false);
            } else if let Some((path, number)) = comment(&line) {
                if !is_new {
                    group.clear();
                }
                let known = lines.files.len() as u32;
                let file = *files.entry(path.to_owned()).or_insert_with(|| {
                    lines.files.push(path.to_owned());
                    known
                });
                group.push(Place { file, line: number });
                is_new = true;
            } else if let Some((offset, _)) = instruction(&line).filter(|_| is_new) {
                is_new = false;
                let next = lines.places.len() as u32;
                let place = *numbers.entry(group.clone()).or_insert_with(|| {
                    lines.places.push(group.clone());
                    next
                });
                let stretches = lines.functions.entry(function.clone()).or_default();
                if stretches.last().is_none_or(|&(start, _)| start < offset) {
                    stretches.push((offset, place));
                }
            }
        }
    }
}

/// Parses the file and the line in a comment: `//## File "a.cu", line 30 inlined at …`.
fn comment(line: &str) -> Option<(&str, u32)> {
    let rest = line.trim_start().strip_prefix("//##")?.trim_start().strip_prefix("File \"")?;
    let (path, rest) = rest.split_once("\", line ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().map(|line| (path, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\t.section\t.text.k,\"ax\",@progbits\n\
        \t//## File \"a/k.cu\", line 52\n        /*0000*/  LDC R1, c[0x0][0x28] ;\n\
        \t//## File \"h.cuh\", line 30 inlined at \"a/k.cu\", line 54\n\t//## File \"a/k.cu\", line 54\n\
        /*0010*/  S2R R4, SR_TID.X ;\n.L_x_0:\n        /*0020*/  EXIT ;\n\
        \t//## File \"a/k.cu\", line 52\n        /*0030*/  BRA 0x30 ;\n\
        \t.section\t.text.f,\"ax\",@progbits\n        /*0000*/  RET ;\n";

    /// A source line with its inlined calls holds for all instructions up to the next source line, within one function.
    #[test]
    fn reads_lines() {
        let lines = SourceLines::read(LISTING.as_bytes()).expect("memory can be read");
        assert_eq!(lines.files, ["a/k.cu", "h.cuh"]);
        let place = |file, line| Place { file, line };
        assert_eq!(lines.of("k", 0), [place(0, 52)]);
        assert_eq!(lines.of("k", 0x10), [place(1, 30), place(0, 54)]);
        assert_eq!(lines.of("k", 0x20), lines.of("k", 0x10));
        assert_eq!(lines.of("k", 0x40), [place(0, 52)]);
        assert!(lines.of("f", 0).is_empty() && lines.of("g", 0).is_empty());
        // Files that are already in the list keep their numbers.
        let (mut shared, mut files) = (lines, vec!["h.cuh".to_owned(), "x".to_owned()]);
        shared.share_files(&mut files);
        assert_eq!(files, ["h.cuh", "x", "a/k.cu"]);
        assert_eq!(shared.of("k", 0x10), [place(0, 30), place(2, 54)]);
    }

    /// No input causes a panic.
    #[test]
    fn damaged_listings() {
        arbtest::arbtest(|u| {
            let mut bytes = LISTING.as_bytes().to_vec();
            for _ in 0..u.int_in_range(1..=6)? {
                let at = u.choose_index(bytes.len())?;
                let to = (at + u.int_in_range(0..=40)?).min(bytes.len());
                if u.arbitrary()? {
                    bytes[at] = u.arbitrary()?
                } else {
                    bytes.extend_from_within(at..to)
                }
                bytes.rotate_left(u.choose_index(20)?);
            }
            let lines = SourceLines::read(&*bytes).expect("memory can be read");
            let _ = lines.of("k", u.arbitrary()?);
            Ok(())
        });
    }
}
