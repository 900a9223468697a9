//! Branches, calls, and what makes threads meet.

use super::super::operand::Operand;
use super::reader::Reader;
use super::row::*;
use super::slots;

const IF: Slot = condition(87).unless_true();

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(0x118, &[4], "NOP", &[], &[]),
    Row::new(0x11b, &[4], "ENDCOLLECTIVE", &[], &[IF]),
    Row::new(0x141, &[4], "BSYNC", &[], &[IF, convergence(16)]),
    Row::new(0x142, &[4], "BREAK", &[], &[IF, convergence(16)]),
    Row::new(0x143, &[1], "CALL", &[Modifier::Rule(|_| Some("ABS")), NO_INCREMENT], &[IF, A]),
    Row::new(0x144, &[4], "CALL", &[Modifier::Rule(|_| Some("REL")), NO_INCREMENT], &[IF, TARGET]),
    Row::new(0x145, &[4], "BSSY", &[], &[IF, convergence(16), rule(near_target)]),
    Row::new(0x146, &[4], "YIELD", &[], &[IF]),
    Row::new(0x147, &[4], "BRA", &[], &[IF, TARGET]),
    Row::new(0x148, &[1], "WARPSYNC", &[Modifier::Must(86, 1, 0)], &[IF, A]),
    Row::new(0x149, &[4], "BRX", &[names(85, 2, &["", "INC", "DEC", NO])], &[IF, A, rule(distance)]),
    Row::new(0x14d, &[4], "EXIT", &[names(84, 3, EXITS)], &[IF]),
    Row::new(0x150, &[4], "RET", &[flag(85, &["REL", "ABS"]), flag(86, &["", "NODEC"])], &[IF, A, TARGET]),
    Row::new(
        0x158,
        &[4],
        "BRXU",
        &[names(85, 2, &["", "INC", "DEC", NO]), Modifier::Must(91, 1, 1)],
        &[IF, uniform(24), rule(distance)],
    ),
];

const NO_INCREMENT: Modifier = flag(86, &["", "NOINC"]);
const EXITS: &[&str] =
    &["", "KEEPREFCOUNT", "PREEMPTED", NO, "NO_ATEXIT", "KEEPREFCOUNT.NO_ATEXIT", "PREEMPTED.NO_ATEXIT", NO];

/// Where threads of BSSY meet: a distance of 30 bits, in words.
fn near_target(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let next = i64::from(reader.address) + 16;
    operands.push(Operand::Target(next + reader.signed(34, 30) * 4));
    Some(())
}

/// What is added to the register of an indirect branch.
fn distance(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Immediate(slots::distance(reader) as u32));
    Some(())
}
