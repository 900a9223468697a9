//! The cycles that ptxas leaves between an instruction that writes a register and one that reads it.
//!
//! NVIDIA documents no latencies. The table, `latencies.txt`, has the least distance between each two opcodes in ptxas's
//! own output, by processor: it is an upper bound of what the hardware needs, which is close where ptxas had reason to
//! issue early. A pair is checked only where the least distance was seen often.

use std::collections::BTreeMap;

use crate::sass::effects::Place;
use crate::sass::instruction::Instruction;

/// How often the least distance of a pair must have been seen for the pair to be checked.
const ENOUGH: u32 = 8;

/// Two opcodes, the one that writes and the one that reads, and the file of the register.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// Who writes.
    pub writer: String,
    /// `R`, `UR`, `P` or `UP`.
    pub file: &'static str,
    /// Who reads; with `@` ahead where the guard reads.
    pub reader: String,
}

impl Pair {
    /// The pair of two instructions, by the register and the operand that reads it.
    pub fn of(writer: &Instruction, place: Place, reader: &Instruction, operand: Option<u8>) -> Self {
        let file = match place {
            Place::General(_) => "R",
            Place::Uniform(_) => "UR",
            Place::Predicate(_) => "P",
            Place::UniformPredicate(_) => "UP",
            Place::Convergence(_) => "B",
        };
        let reader = match operand {
            None => format!("@{}", class(reader)),
            Some(operand) if is_matrix(reader) => format!("{}#{operand}", class(reader)),
            Some(_) => class(reader),
        };
        Self { writer: class(writer), file, reader }
    }
}

fn is_matrix(instruction: &Instruction) -> bool {
    matches!(instruction.word(), "HMMA" | "IMMA" | "DMMA" | "BMMA")
}

/// The opcode with the modifiers that change its way through the hardware.
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

/// How often which distance was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The least distance.
    pub cycles: u16,
    /// How often it was the distance.
    pub times: u32,
    /// How often the pair was seen at any distance.
    pub all: u32,
}

/// A table of latencies, by processor and pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    rows: BTreeMap<(u32, Pair), Seen>,
}

impl Latencies {
    /// Adds a distance.
    pub fn add(&mut self, sm: u32, pair: Pair, cycles: u16) {
        let seen = self.rows.entry((sm, pair)).or_insert(Seen { cycles, times: 0, all: 0 });
        seen.all += 1;
        if cycles < seen.cycles {
            (seen.cycles, seen.times) = (cycles, 0);
        }
        if cycles == seen.cycles {
            seen.times += 1;
        }
    }

    /// The cycles that must pass; none where the pair was not seen often enough.
    pub fn needed(&self, sm: u32, pair: &Pair) -> Option<u16> {
        let seen = self.rows.get(&(sm, pair.clone()))?;
        (seen.times >= ENOUGH).then_some(seen.cycles)
    }

    /// The rows, as lines of the table.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|((sm, pair), seen)| {
            let Pair { writer, file, reader } = pair;
            let Seen { cycles, times, all } = seen;
            format!("sm_{sm} {writer} {file} {reader} {cycles} {times} {all}")
        })
    }
}
