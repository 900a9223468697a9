//! Operations across the threads of a warp or a block, and matrix operations.

use super::super::operand::{Changes, Operand, RZ};
use super::memory::{of_matrix, to_matrix};
use super::reader::Reader;
use super::row::*;
use super::slots;

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(0x119, &[4], "S2R", &[], &[D, special(72)]),
    Row::new(
        0x006,
        &[4],
        "VOTE",
        &[names(72, 2, &["ALL", "ANY", "EQ", NO])],
        &[rule(result), predicate(81), condition(87)],
    ),
    Row::new(
        0x1a1,
        &[1],
        "MATCH",
        &[always("ANY"), flag(73, &["", "U64"]), Modifier::Must(79, 1, 1), Modifier::Must(81, 3, 7)],
        &[D, A],
    ),
    Row::new(
        0x1a1,
        &[1],
        "MATCH",
        &[always("ALL"), flag(73, &["", "U64"]), Modifier::Must(79, 1, 0)],
        &[predicate(81), D, A],
    ),
    Row::new(
        0x037,
        &[1],
        "IMMA",
        &[Modifier::Rule(shape), flag(76, &["U8", "S8"]), flag(78, &["U8", "S8"]), flag(82, &["", "SAT"])],
        &[D, rule(rows), rule(columns), register(64)],
    ),
    Row::new(
        0x03c,
        &[1],
        "HMMA",
        &[
            split((75, 1), (78, 1), &["1688", "16816", "1684", NO]),
            flag(76, &["F16", "F32"]),
            names(82, 2, &["", "BF16", "TF32", NO]),
        ],
        &[D, A.negated_by(72), register(32).negated_by(63), register(64)],
    ),
    Row::new(
        0x03f,
        &[1],
        "DMMA",
        &[names(76, 2, &["8x8x4", "16x8x4", "16x8x8", "16x8x16"])],
        &[D, A, register(32), register(64)],
    )
    .on(SINCE_90),
    Row::new(0x03a, &[1], "MOVM", &[always("16.MT88")], &[D, A]),
    Row::new(
        0x044,
        &[1, 4],
        "STSM",
        &[always("16"), names(78, 2, &["M88", "MT88", NO, NO]), names(72, 2, &["", "2", "4", NO])],
        &[rule(to_matrix), register(32)],
    )
    .on(SINCE_90),
    Row::new(
        0x03b,
        &[4],
        "LDSM",
        &[always("16"), names(78, 2, &["M88", "MT88", NO, NO]), names(72, 2, &["", "2", "4", NO])],
        &[D, rule(of_matrix)],
    ),
    Row::new(
        0x189,
        &[1, 2, 4, 7],
        "SHFL",
        &[names(58, 2, &["IDX", "UP", "DOWN", "BFLY"])],
        &[predicate(81), D, A, rule(lane), rule(segment)],
    ),
];

/// Reads the source lane of SHFL, or the distance to it.
fn lane(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(match reader.form() {
        1 | 2 => Operand::Register(slots::register(reader, 32), Changes::default()),
        _ => Operand::Immediate(reader.take(53, 5) as u32),
    });
    Some(())
}

/// Reads the segment mask and clamp value of SHFL.
fn segment(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(match reader.form() {
        1 | 4 => Operand::Register(slots::register(reader, 64), Changes::default()),
        _ => Operand::Immediate(reader.take(40, 13) as u32),
    });
    Some(())
}

/// Reads the ballot result of VOTE, which is printed unless it is RZ.
fn result(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let register = slots::register(reader, 16);
    if register.number != RZ {
        operands.push(Operand::Register(register, Changes::default()));
    }
    Some(())
}

const LIES: Changes =
    Changes { negated: false, absolute: false, inverted: false, half: None, is_wide: false, byte: None, lies: true };

/// Reads the first matrix, which is row-major.
fn rows(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Register(slots::register(reader, 24), LIES));
    reader.must(73, false)
}

/// Reads the second matrix, which is column-major.
fn columns(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Register(slots::register(reader, 32), LIES));
    reader.must(74, true)
}

/// Returns the rows, columns and depth of IMMA. The shapes of Turing do not exist since sm_100.
fn shape(reader: &mut Reader) -> Option<&'static str> {
    match (reader.take(85, 2), reader.take(75, 1)) {
        (0, 0) if reader.processor < 100 => Some("8816"),
        (2, 0) => Some("16816"),
        (2, 1) => Some("16832"),
        _ => None,
    }
}
