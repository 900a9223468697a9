//! Branches, calls, and the convergence of threads.

use super::super::operand::{Changes, Operand};
use super::reader::Reader;
use super::row::*;
use super::slots;

const IF: Slot = condition(87).unless_true();

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(0x02d, &[4], "PREEXIT", &[], &[]).on(SINCE_90),
    Row::new(0x001, &[4], "PMTRIG", &[], &[IF, number(32, 16)]),
    Row::new(0x02f, &[4], "ELECT", &[], &[predicate(81), uniform(16), condition(87)]).on(SINCE_90),
    Row::new(0x11c, &[1], "B2R", &[always("RESULT"), Modifier::Must(78, 1, 1)], &[D, predicate(81).unless_true()]),
    Row::new(
        0x11d,
        &[1, 2, 4, 5],
        "BAR",
        &[
            always("RED"),
            names(74, 2, &["POPC", "AND", "OR", NO]),
            Modifier::Must(78, 1, 1),
            flag(80, &["", "DEFER_BLOCKING"]),
        ],
        &[rule(barrier), rule(threads), condition(87)],
    ),
    Row::new(0x1b7, &[4], "UTMACMDFLUSH", &[], &[]).of_warp().on(ONLY_90),
    Row::new(0x1c7, &[4], "UCGABAR_ARV", &[Modifier::Must(91, 1, 1)], &[]).of_warp().on(ONLY_90),
    Row::new(0x1c6, &[1], "FENCE", &[always("VIEW.ASYNC"), flag(72, &["S", "G"])], &[]).on(ONLY_90),
    Row::new(0x1c5, &[4], "WARPGROUP", &[always("ARRIVE")], &[]).on(SINCE_90),
    Row::new(0x02e, &[4], "ACQBULK", &[], &[]).on(SINCE_90),
    Row::new(0x118, &[4], "NOP", &[], &[]),
    Row::new(
        0x11a,
        &[4],
        "DEPBAR",
        &[always("LE"), Modifier::Must(47, 1, 1)],
        &[rule(scoreboard), number(38, 6), rule(others)],
    ),
    Row::new(
        0x11d,
        &[1, 2, 4, 5],
        "BAR",
        &[always("SYNC"), flag(80, &["", "DEFER_BLOCKING"])],
        &[rule(barrier), rule(threads)],
    ),
    Row::new(
        0x11d,
        &[1, 2, 4, 5],
        "BAR",
        &[always("ARV"), Modifier::Must(77, 1, 1)],
        &[rule(barrier), rule(some_threads)],
    ),
    Row::new(0x11b, &[4], "ENDCOLLECTIVE", &[], &[IF]),
    Row::new(0x141, &[4], "BSYNC", &[RECONVERGENT], &[IF, convergence(16)]),
    Row::new(0x142, &[4], "BREAK", &[Modifier::Since(100, 72, 1), flag(72, &["", "RELIABLE"])], &[IF, convergence(16)]),
    Row::new(0x143, &[1], "CALL", &[always("ABS"), NO_INCREMENT], &[IF, A]),
    Row::new(0x144, &[4], "CALL", &[always("REL"), NO_INCREMENT], &[IF, TARGET]),
    Row::new(0x145, &[4], "BSSY", &[RECONVERGENT], &[IF, convergence(16), rule(near_target)]),
    Row::new(0x146, &[4], "YIELD", &[], &[IF]),
    Row::new(0x147, &[4], "BRA", &[CALLS], &[IF, TARGET]),
    Row::new(
        0x147,
        &[4],
        "BRA",
        &[CALLS, names(32, 2, &[NO, NO, "DIV", "CONV"]), Modifier::Must(91, 1, 1)],
        &[IF, uniform(24).inverted_by(30), TARGET],
    )
    .on(AHEAD_OF_100),
    Row::new(
        0x147,
        &[4],
        "BRA",
        &[CALLS, names(32, 2, &[NO, NO, "DIV", "CONV"]), Modifier::Must(91, 1, 1)],
        &[IF, uniform(24), TARGET],
    )
    .on(SINCE_100),
    Row::new(
        0x147,
        &[2],
        "BRA",
        &[
            CALLS,
            names(32, 2, &[NO, "U", NO, NO]),
            Modifier::Since(90, 84, 1),
            flag(84, &["", "ANY"]),
            Modifier::Must(91, 1, 1),
        ],
        &[IF, uniform_condition(24), TARGET],
    ),
    Row::new(
        0x147,
        &[4],
        "BRA",
        &[CALLS, names(32, 2, &[NO, "U", NO, NO]), Modifier::Since(90, 84, 1), flag(84, &["", "ANY"])],
        &[IF, TARGET],
    ),
    Row::new(0x148, &[1], "WARPSYNC", &[], &[IF, register(32)]).on(AHEAD_OF_90),
    Row::new(0x148, &[4], "WARPSYNC", &[], &[IF, number(32, 32)]).on(AHEAD_OF_90),
    Row::new(0x148, &[1], "WARPSYNC", &[Modifier::Must(86, 1, 0)], &[IF, A]).on(SINCE_90),
    Row::new(0x148, &[1], "WARPSYNC", &[always("COLLECTIVE"), Modifier::Must(86, 1, 1)], &[IF, A, TARGET]).on(SINCE_90),
    Row::new(0x148, &[4], "WARPSYNC", &[always("ALL")], &[IF]).on(SINCE_90),
    Row::new(0x149, &[4], "BRX", &[names(85, 2, &["", "INC", "DEC", NO])], &[IF, A, rule(distance)]),
    Row::new(0x14e, &[1], "LEPC", &[], &[D]).on(AHEAD_OF_90),
    Row::new(0x14e, &[4], "LEPC", &[], &[D, rule(place)]).on(SINCE_90),
    Row::new(0x15c, &[4], "BPT", &[always("TRAP"), Modifier::Must(84, 3, 3)], &[rule(trap)]),
    Row::new(0x15d, &[1, 4, 5, 6], "NANOSLEEP", &[], &[IF, WIDE]).on(AHEAD_OF_90),
    Row::new(0x15d, &[1, 4, 5, 6], "NANOSLEEP", &[flag(84, &["", "SYNCS"])], &[IF, WIDE]).on(SINCE_90),
    Row::new(0x14d, &[4], "EXIT", &[names(84, 3, EXITS)], &[IF]),
    Row::new(
        0x150,
        &[4],
        "RET",
        &[always("REL"), Modifier::Must(85, 1, 0), flag(86, &["", "NODEC"])],
        &[IF, A, TARGET],
    ),
    Row::new(
        0x158,
        &[4],
        "BRXU",
        &[names(85, 2, &["", "INC", "DEC", NO]), Modifier::Must(91, 1, 1)],
        &[IF, uniform(24), rule(distance)],
    ),
];

/// The convergence modifier since sm_100.
const RECONVERGENT: Modifier = Modifier::Rule(reconvergent);
const CALLS: Modifier = names(85, 2, &["", "INC", "DEC", NO]);
const NO_INCREMENT: Modifier = flag(86, &["", "NOINC"]);
const EXITS: &[&str] =
    &["", "KEEPREFCOUNT", "PREEMPTED", NO, "NO_ATEXIT", "KEEPREFCOUNT.NO_ATEXIT", "PREEMPTED.NO_ATEXIT", NO];

/// Reads the target of BSSY, at which threads reconverge: a distance of 30 bits, in words.
fn near_target(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let next = i64::from(reader.address) + 16;
    operands.push(Operand::Target(next + reader.signed(34, 30) * 4));
    Some(())
}

/// Reads the number that is added to the register of an indirect branch.
fn distance(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Immediate(i32::try_from(slots::distance(reader)).ok()? as u32));
    Some(())
}

/// Reads the address that LEPC returns: 58 bits from bit 24, in bytes.
fn place(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let next = i64::from(reader.address) + 16;
    operands.push(Operand::Target(next.wrapping_add(reader.signed(24, 58))));
    Some(())
}

/// Reads the scoreboard that DEPBAR waits for.
fn scoreboard(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Scoreboard(Some(reader.take(44, 3) as u8).filter(|&number| number < 6)?));
    Some(())
}

/// Reads the other scoreboards that DEPBAR waits for, as bits. They are printed if a bit is set.
fn others(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let others = reader.take(32, 6) as u32;
    if others != 0 {
        operands.push(Operand::Immediate(others));
    }
    Some(())
}

/// Reads the barrier of a block: a register, or a number of four bits.
fn barrier(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(match reader.form() {
        1 | 2 => Operand::Register(slots::register(reader, 32), Changes::default()),
        _ => Operand::Immediate(reader.take(54, 4) as u32),
    });
    Some(())
}

/// Reads the number of threads at a barrier: a register, or a number of twelve bits.
fn some_threads(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(match reader.form() {
        1 | 4 => Operand::Register(slots::register(reader, 32), Changes::default()),
        _ => Operand::Immediate(reader.take(42, 12) as u32),
    });
    Some(())
}

/// Reads the number of threads at a barrier. Zero stands for the whole block and is not printed.
fn threads(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    some_threads(reader, operands)?;
    if operands.last() == Some(&Operand::Immediate(0)) {
        operands.pop();
    }
    Some(())
}

/// Reads the number of a trap, which is printed unless it is zero.
fn trap(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let number = reader.take(34, 3) as u32;
    if number != 0 {
        operands.push(Operand::Immediate(number));
    }
    Some(())
}

/// Returns `RELIABLE`, `RECONVERGENT`, or an empty modifier.
fn reconvergent(reader: &mut Reader) -> Option<&'static str> {
    match reader.take(72, 2) {
        0 => Some(""),
        1 if reader.processor >= 100 => Some("RELIABLE"),
        2 if reader.processor >= 100 => Some("RECONVERGENT"),
        _ => None,
    }
}
