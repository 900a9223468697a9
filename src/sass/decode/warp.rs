//! What threads of a warp or a block do together, and matrices.

use super::super::operand::{Changes, Operand};
use super::reader::Reader;
use super::row::*;
use super::slots;

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(0x119, &[4], "S2R", &[], &[D, special(72)]),
    Row::new(
        0x189,
        &[1, 2, 4, 7],
        "SHFL",
        &[names(58, 2, &["IDX", "UP", "DOWN", "BFLY"])],
        &[predicate(81), D, A, rule(lane), rule(segment)],
    ),
];

/// The lane that SHFL reads, or its distance.
fn lane(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(match reader.form() {
        1 | 2 => Operand::Register(slots::register(reader, 32), Changes::default()),
        _ => Operand::Immediate(reader.take(53, 5) as u32),
    });
    Some(())
}

/// The segment that SHFL stays in.
fn segment(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(match reader.form() {
        1 | 4 => Operand::Register(slots::register(reader, 64), Changes::default()),
        _ => Operand::Immediate(reader.take(40, 13) as u32),
    });
    Some(())
}
