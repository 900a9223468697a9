//! The cycles that ptxas leaves between an instruction that writes a register and an instruction that reads it.
//!
//! NVIDIA documents no latencies. The table `latencies.txt` has the least distance of each pair of opcodes in ptxas's
//! own output, by processor. The distance is an upper bound of the latency. It is close to the latency if ptxas had a
//! reason to issue early. The table has only pairs whose least distance is reliable ([`Latencies::believed`]).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::sass::effects::{Part, Place};
use crate::sass::instruction::Instruction;

/// The table, mined with `machine_checks mine`.
const TABLE: &str = include_str!("latencies.txt");

/// How often the least distance of a pair must occur before the pair is reliable.
const ENOUGH: u32 = 20;
/// How often the least distance of a pair must occur before it bounds the latency of the writer's results.
const MANY: u32 = 200;

/// A pair of opcodes: the writer and the reader of a register.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The opcode that writes. Wide products and doubles get the suffix `.hi` for the upper register.
    pub writer: String,
    /// The file of the register: `R`, `UR`, `P`, `UP`, `B`.
    pub file: String,
    /// The opcode that reads. The prefix `@` marks a read by the guard. Some opcodes read some operands later than
    /// others. They get the suffix `#` and the operand's number.
    pub reader: String,
}

impl Pair {
    /// Returns the pair of two instructions, by the register and the operand that reads it.
    pub fn of(writer: &Instruction, parts: &[Part], place: Place, reader: &Instruction, operand: Option<u8>) -> Self {
        let file = match place {
            Place::General(_) => "R",
            Place::Uniform(_) => "UR",
            Place::Predicate(_) => "P",
            Place::UniformPredicate(_) => "UP",
            Place::Convergence(_) => "B",
        };
        let is_upper = parts.iter().any(|part| part.is_write && part.count == 2 && part.first.behind(1) == Some(place));
        let reader = match operand {
            None => format!("@{}", class(reader)),
            Some(operand) if is_matrix(reader) || is_wide(reader) => format!("{}#{operand}", class(reader)),
            Some(_) => class(reader),
        };
        let writer = if is_upper { format!("{}.hi", class(writer)) } else { class(writer) };
        Self { writer, file: file.to_owned(), reader }
    }

    /// Whether the guard is the reader.
    fn is_guard(&self) -> bool {
        self.reader.starts_with('@')
    }
}

fn is_matrix(instruction: &Instruction) -> bool {
    matches!(instruction.word(), "HMMA" | "IMMA" | "DMMA" | "BMMA")
}

/// Whether the result or the addend of a product has two registers.
fn is_wide(instruction: &Instruction) -> bool {
    matches!(instruction.word(), "IMAD" | "UIMAD") && (instruction.has("WIDE") || instruction.has("HI"))
}

/// Returns the opcode with the modifiers that affect its latency.
fn class(instruction: &Instruction) -> String {
    if is_matrix(instruction) {
        return instruction.mnemonic.to_string();
    }
    let modifier = ["WIDE", "HI", "MMA"].into_iter().find(|modifier| instruction.has(modifier));
    match (instruction.word(), modifier) {
        (word @ ("IMAD" | "UIMAD" | "HFMA2"), Some(modifier)) => format!("{word}.{modifier}"),
        (word, _) => word.to_owned(),
    }
}

/// The observations of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedDistance {
    /// The least distance.
    pub cycles: u16,
    /// How often the least distance occurred.
    pub times: u32,
    /// How often the pair occurred at any distance.
    pub all: u32,
}

/// A table of latencies, by processor and pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    rows: BTreeMap<(u32, Pair), ObservedDistance>,
}

impl Latencies {
    /// Returns the table of ptxas's own distances.
    pub fn of_ptxas() -> &'static Self {
        static READ: OnceLock<Latencies> = OnceLock::new();
        READ.get_or_init(|| Self::read(TABLE).unwrap_or_default())
    }

    /// Reads lines `sm_90 IADD3 R LOP3 4 1200 5000`: processor, writer, file, reader, cycles, how often this distance
    /// occurred, how often the pair occurred. Lines that begin with `#` are comments. The error is the line that cannot
    /// be read.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut table = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let row = || {
                let words: Vec<&str> = line.split(' ').collect();
                let [sm, writer, file, reader, cycles, times, all] = *words.as_slice() else { return None };
                let pair = Pair { writer: writer.to_owned(), file: file.to_owned(), reader: reader.to_owned() };
                let seen = ObservedDistance {
                    cycles: cycles.parse().ok()?,
                    times: times.parse().ok()?,
                    all: all.parse().ok()?,
                };
                Some((sm.strip_prefix("sm_")?.parse().ok()?, pair, seen))
            };
            let (sm, pair, seen) = row().ok_or_else(|| line.to_owned())?;
            table.insert(sm, pair, seen);
        }
        Ok(table)
    }

    /// Adds a distance.
    pub fn add(&mut self, sm: u32, pair: Pair, cycles: u16) {
        self.insert(sm, pair, ObservedDistance { cycles, times: 1, all: 1 });
    }

    fn insert(&mut self, sm: u32, pair: Pair, seen: ObservedDistance) {
        let mine = self.rows.entry((sm, pair)).or_insert(ObservedDistance { times: 0, all: 0, ..seen });
        mine.all += seen.all;
        if seen.cycles < mine.cycles {
            (mine.cycles, mine.times) = (seen.cycles, 0);
        }
        if seen.cycles == mine.cycles {
            mine.times += seen.times;
        }
    }

    /// Returns the pairs whose least distance is reliable. The least distance must have occurred [`ENOUGH`] times. In
    /// addition, the writer must have a pair with an equal or longer least distance that occurred [`MANY`] times.
    /// Without the second condition, a pair that occurs in only one idiom would get the idiom's distance as its
    /// latency.
    pub fn believed(&self) -> Self {
        let mut longest: BTreeMap<(u32, &str, &str, bool), u16> = BTreeMap::new();
        for ((sm, pair), seen) in self.rows.iter().filter(|(_, seen)| seen.times >= MANY) {
            let most = longest.entry((*sm, &pair.writer, &pair.file, pair.is_guard())).or_default();
            *most = seen.cycles.max(*most);
        }
        let is_believed = |(sm, pair): &(u32, Pair), seen: &ObservedDistance| {
            let most = longest.get(&(*sm, pair.writer.as_str(), pair.file.as_str(), pair.is_guard()));
            seen.times >= ENOUGH && most.is_some_and(|&most| seen.cycles <= most)
        };
        let rows = self.rows.iter().filter(|(key, seen)| is_believed(key, seen));
        Self { rows: rows.map(|(key, &seen)| (key.clone(), seen)).collect() }
    }

    /// Returns the cycles that must pass. `None` if no distance is known.
    pub fn needed(&self, sm: u32, pair: Pair) -> Option<u16> {
        self.rows.get(&(sm, pair)).map(|seen| seen.cycles)
    }

    /// Returns the rows as lines of the table.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|((sm, pair), seen)| {
            let Pair { writer, file, reader } = pair;
            let ObservedDistance { cycles, times, all } = seen;
            format!("sm_{sm} {writer} {file} {reader} {cycles} {times} {all}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lines of the table can be read, and all rows are reliable.
    #[test]
    fn the_table_is_read() {
        let table = Latencies::read(TABLE).expect("a table");
        assert!(table.rows.len() > 500, "{}", table.rows.len());
        assert_eq!(table.believed(), table);
        assert_eq!(Latencies::read("sm_90 IADD3 R LOP3 4 1200"), Err("sm_90 IADD3 R LOP3 4 1200".to_owned()));
    }

    /// The least distance is kept with its count, and written tables are read back unchanged.
    #[test]
    fn the_least_distance_counts() {
        arbtest::arbtest(|u| {
            let distances: Vec<(u8, u16)> = u.arbitrary()?;
            let pair = |reader: u8| Pair { writer: "A".into(), file: "R".into(), reader: format!("B{}", reader % 4) };
            let mut table = Latencies::default();
            for &(reader, cycles) in &distances {
                table.add(90, pair(reader), cycles % 8);
            }
            for reader in 0..4 {
                let of = distances.iter().filter(|one| one.0 % 4 == reader).map(|one| one.1 % 8);
                assert_eq!(table.needed(90, pair(reader)), of.min());
            }
            let text: Vec<String> = table.lines().collect();
            assert_eq!(Latencies::read(&text.join("\n")), Ok(table));
            Ok(())
        });
    }

    /// A distance is reliable if it occurred often, unless all other readers of the writer have shorter distances.
    #[test]
    fn rare_and_long_distances_are_not_believed() {
        let text = "sm_90 A R B 5 200 900\nsm_90 A R C 4 20 20\nsm_90 A R D 4 19 900\nsm_90 A R E 6 199 900\n\
                    sm_90 A R @F 5 100 100\nsm_89 A R C 4 20 20";
        let table = Latencies::read(text).expect("a table").believed();
        let lines: Vec<String> = table.lines().collect();
        assert_eq!(lines, ["sm_90 A R B 5 200 900", "sm_90 A R C 4 20 20"]);
    }
}
