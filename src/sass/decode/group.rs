//! Matrix products of a warp group.

use super::super::operand::{Changes, Factors, Operand, PT, Predicate};
use super::reader::Reader;
use super::row::*;
use super::slots;

/// The names of the 32 shapes of one depth. The number of a shape is one less than an eighth of its columns.
macro_rules! shapes {
    ($depth:literal) => {
        shapes!($depth; 8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128 136 144 152 160 168 176 184 192 200 208 216
            224 232 240 248 256)
    };
    ($depth:literal; $($columns:literal)*) => {
        [$(concat!("64x", $columns, "x", $depth)),*]
    };
}

const HALVES: [&str; 32] = shapes!(16);
const WORDS: [&str; 32] = shapes!(8);
const BYTES: [&str; 32] = shapes!(32);

const OPERANDS: &[Slot] = &[D, rule(left), rule(factors), register(64), rule(adds), rule(scoreboard)];

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(
        0x1f0,
        &[4, 6],
        "HGMMA",
        &[
            Modifier::Rule(shape_of_halves),
            flag(75, &["F16", "F32"]),
            names(76, 2, &["", "BF16", "TF32", NO]),
            Modifier::Must(91, 1, 1),
        ],
        OPERANDS,
    )
    .on(ONLY_90),
    Row::new(
        0x1f1,
        &[4, 6],
        "IGMMA",
        &[
            Modifier::Rule(shape_of_integers),
            names(76, 2, &["U8", "S8", NO, NO]),
            names(82, 2, &["U8", "S8", NO, NO]),
            flag(75, &["", "SAT"]),
            // Integers are neither negated nor transposed.
            Modifier::Must(61, 3, 0),
            Modifier::Must(72, 1, 0),
            Modifier::Must(91, 1, 1),
        ],
        OPERANDS,
    )
    .on(ONLY_90),
    Row::new(
        0x1f3,
        &[4, 6],
        "QGMMA",
        &[
            Modifier::Rule(shape_of_bytes),
            flag(75, &["F16", "F32"]),
            flag(76, &["E4M3", "E5M2"]),
            flag(77, &["E4M3", "E5M2"]),
            Modifier::Must(91, 1, 1),
        ],
        OPERANDS,
    )
    .on(ONLY_90),
    Row::new(
        0x1c5,
        &[4],
        "WARPGROUP",
        &[always("DEPBAR.LE"), Modifier::Must(47, 1, 1), Modifier::Must(80, 1, 1)],
        &[fixed(Operand::GroupScoreboard), number(72, 3)],
    )
    .on(ONLY_90),
];

fn shape_of_halves(reader: &mut Reader) -> Option<&'static str> {
    let shapes = if reader.bit(58) { WORDS } else { HALVES };
    shapes.get(reader.take(53, 5) as usize).copied()
}

fn shape_of_bytes(reader: &mut Reader) -> Option<&'static str> {
    BYTES.get(reader.take(53, 5) as usize).copied()
}

/// Returns the shape of an integer product. Integer products have fewer shapes, and the number of a shape is a multiple
/// of three.
fn shape_of_integers(reader: &mut Reader) -> Option<&'static str> {
    const EIGHTHS: [usize; 18] = [1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32];
    let number = reader.take(53, 6) as usize;
    let eighths = EIGHTHS.get(number / 3).filter(|_| number.is_multiple_of(3))?;
    BYTES.get(eighths - 1).copied()
}

/// Reads the left factor if it is in registers.
fn left(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    if reader.form() == 6 {
        let changes = Changes { negated: reader.bit(72), ..Changes::default() };
        operands.push(Operand::Register(slots::register(reader, 24), changes));
    }
    Some(())
}

/// Reads the factors in shared memory.
fn factors(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let is_both = reader.form() == 4;
    let register = slots::uniform(reader, if is_both { 24 } else { 32 })?.number;
    let negated = [is_both && reader.bit(72), reader.bit(63)];
    let transposed = [is_both && reader.bit(61), reader.bit(62)];
    operands.push(Operand::Factors(Factors { register, negated, transposed }));
    Some(())
}

/// Reads the predicate that enables the addend. It is printed unless it is always true. Its number is stored inverted.
fn adds(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let number = PT - reader.take(87, 3) as u8;
    let negated = reader.bit(90);
    if number != PT || negated {
        operands.push(Operand::Predicate(Predicate { number, is_uniform: true, negated }));
    }
    Some(())
}

/// Reads the scoreboard that the product signals, which is printed if there is one.
fn scoreboard(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    match reader.take(84, 3) {
        0 => operands.push(Operand::GroupScoreboard),
        7 => {}
        _ => return None,
    }
    Some(())
}
