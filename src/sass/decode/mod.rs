//! A table-driven decoder of machine code. It returns the same instructions that [`super::text`] reads from the
//! disassembler's text, and is at least a thousand times as fast.
//!
//! NVIDIA documents no encoding. The tables were found by an experiment: each bit of instructions from ptxas was
//! flipped, and the disassembler printed the result. The tables give a meaning to every bit that they read. An
//! instruction is unknown if its operation is in no table, if a value has no name, or if a set bit is not read. The
//! caller then needs the disassembler.
//!
//! * `reader`: bits, and which of them have been read;
//! * `row`: the parts of a table; `slots`: operands, read from their bits;
//! * the tables, by family.

mod atomic;
mod bulk;
mod float;
mod flow;
mod group;
mod integer;
mod memory;
mod reader;
mod row;
mod slots;
#[cfg(test)]
mod tests;
mod uniform;
mod uniform_float;
mod warp;
mod wide;

use std::sync::OnceLock;

use super::control::Control;
use super::instruction::Instruction;
use super::operand::{PT, Predicate};
use reader::Reader;
use row::{Modifier, NO, Row};

/// The tables, by family.
const TABLES: &[&[Row]] = &[
    integer::ROWS,
    wide::ROWS,
    float::ROWS,
    memory::ROWS,
    atomic::ROWS,
    flow::ROWS,
    uniform::ROWS,
    uniform_float::ROWS,
    warp::ROWS,
    group::ROWS,
    bulk::ROWS,
];

/// Returns the rows of an operation with its form (12 bits).
fn rows(operation: usize) -> &'static [&'static Row] {
    static ROWS: OnceLock<Vec<Vec<&'static Row>>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let mut rows = vec![Vec::new(); 1 << 12];
        for row in TABLES.iter().copied().flatten() {
            for form in (0..8).filter(|form| row.forms >> form & 1 == 1) {
                rows[usize::from(row.code) | form << 9].push(row);
            }
        }
        rows
    });
    &rows[operation & 0xfff]
}

/// Decodes an instruction from its bits, its position in the function (in bytes) and the processor (90 for sm_90).
/// `None` if the operation, or the value of a bit, is unknown.
///
/// A target is computed from the bits. If the instruction has a relocation, the linker has not written the bits yet,
/// and the relocation gives the target.
pub fn decode(bits: u128, address: u32, processor: u32) -> Option<Instruction> {
    let fits = |row: &&&Row| (row.processors.0..=row.processors.1).contains(&processor);
    rows(bits as usize & 0xfff).iter().filter(fits).find_map(|row| by_row(row, bits, address, processor))
}

fn by_row(row: &Row, bits: u128, address: u32, processor: u32) -> Option<Instruction> {
    let mut reader = Reader::new(bits, address, processor);
    let mut mnemonic = String::with_capacity(32);
    mnemonic.push_str(row.name);
    for modifier in row.modifiers {
        let name = match modifier {
            Modifier::Names(field, names) => names.get(field.read(&mut reader)).copied()?,
            &Modifier::Silent(from, count) => {
                reader.take(from, count);
                ""
            }
            &Modifier::Must(from, count, value) if reader.take(from, count) == value => "",
            Modifier::Must(..) => NO,
            &Modifier::Since(first, from, count) if processor >= first || reader.take(from, count) == 0 => "",
            Modifier::Since(..) => NO,
            Modifier::Always(name) => name,
            Modifier::Rule(rule) => rule(&mut reader)?,
        };
        if name == NO {
            return None;
        }
        if !name.is_empty() {
            mnemonic.push('.');
            mnemonic.push_str(name);
        }
    }
    let mut operands = Vec::with_capacity(row.operands.len());
    for slot in row.operands {
        slots::read(slot, &mut reader, &mut operands)?;
    }
    reader.is_done().then(|| Instruction {
        address,
        guard: guard(bits, row.is_uniform),
        mnemonic: mnemonic.into(),
        operands,
        control: Control::of(bits),
        bits,
    })
}

/// Reads the guard, bits 12 to 15. `None` if the predicate is always true.
fn guard(bits: u128, is_uniform: bool) -> Option<Predicate> {
    let (number, negated) = ((bits >> 12) as u8 & 7, bits >> 15 & 1 == 1);
    (number != PT || negated).then_some(Predicate { number, is_uniform, negated })
}
