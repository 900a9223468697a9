//! Uniform operations: values that a warp computes once.

use super::super::operand::{Changes, Constant, Operand, RZ};
use super::integer::{CARRY, COMBINED, SIZES, UNSIGNED, table};
use super::reader::Reader;
use super::row::*;
use super::slots;

/// The bit that makes the registers uniform.
const WARP: Modifier = Modifier::Must(91, 1, 1);
const COMPARISONS: &[&str] = &["F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"];
const BYTES: &[&str] = &["", "B1", "B2", "B3"];
const UP: Slot = uniform_predicate(81).unless_true();
const IF_CARRY: Slot = uniform_condition(87).shown_if(74);
const UPR: Slot = fixed(Operand::Predicates { is_uniform: true });

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(0x082, &[4], "UMOV", &[], &[UD, UNIFORM_WIDE]).of_warp(),
    Row::new(0x082, &[6], "UMOV", &[WARP], &[UD, UNIFORM_WIDE]).of_warp(),
    Row::new(0x083, &[4], "UP2UR", &[names(76, 2, BYTES), WARP], &[UD, UPR, UA, UNIFORM_WIDE]).of_warp(),
    Row::new(
        0x086,
        &[4],
        "VOTEU",
        &[names(72, 2, &["ALL", "ANY", "EQ", NO])],
        &[rule(result), uniform_predicate(81), condition(87)],
    ),
    Row::new(0x087, &[1, 4], "USEL", &[WARP], &[UD, UA, UNIFORM_WIDE, uniform_condition(87)]).of_warp(),
    Row::new(
        0x08c,
        &[1, 4],
        "UISETP",
        &[
            names(76, 3, COMPARISONS),
            Modifier::Since(120, 80, 1),
            split((73, 1), (80, 1), SIZES),
            names(74, 2, COMBINED),
            flag(72, &["", "EX"]),
            WARP,
        ],
        &[
            uniform_predicate(81),
            uniform_predicate(84),
            UA,
            UNIFORM_WIDE,
            uniform_condition(87),
            uniform_condition(68).shown_if(72),
        ],
    )
    .of_warp(),
    Row::new(
        0x090,
        &[1, 4],
        "UIADD3",
        &[CARRY, WARP],
        &[
            UD,
            uniform_predicate(81).carry(),
            uniform_predicate(84).carry(),
            UA.negated_by(72).inverted_if(74),
            UNIFORM_WIDE.negated().inverted_if(74),
            UC.negated_by(75).inverted_if(74),
            IF_CARRY,
            uniform_condition(77).shown_if(74),
        ],
    )
    .of_warp(),
    Row::new(
        0x091,
        &[1, 4],
        "ULEA",
        &[flag(80, &["", "HI"]), CARRY, flag(73, &["", "SX32"]), WARP],
        &[
            UD,
            UP,
            UA.negated_by(72).inverted_if(74),
            UNIFORM_WIDE.negated().inverted_if(74),
            rule(upper),
            number(75, 5),
            IF_CARRY,
        ],
    )
    .of_warp(),
    Row::new(
        0x092,
        &[1, 4],
        "ULOP3",
        &[Modifier::Must(80, 1, 0), always("LUT"), WARP],
        &[UP, UD, UA, UNIFORM_WIDE, UC, number(72, 8), uniform_condition(87)],
    )
    .of_warp(),
    Row::new(0x096, &[1, 4], "UPRMT", &[WARP], &[UD, UA, UNIFORM_WIDE, UC]).of_warp(),
    Row::new(
        0x099,
        &[1, 4],
        "USHF",
        &[
            flag(76, &["L", "R"]),
            flag(75, &["", "W"]),
            names(73, 2, &["S64", "U64", "S32", "U32"]),
            flag(80, &["", "HI"]),
            WARP,
        ],
        &[UD, UA, UNIFORM_WIDE, UC],
    )
    .of_warp(),
    Row::new(0x09a, &[1, 4], "USGXT", &[flag(75, &["", "W"]), flag(73, UNSIGNED), WARP], &[UD, UA, UNIFORM_WIDE])
        .of_warp(),
    Row::new(0x09b, &[1, 4], "UBMSK", &[flag(75, &["", "W"]), WARP], &[UD, UA, UNIFORM_WIDE]).of_warp(),
    Row::new(
        0x09c,
        &[4],
        "UPLOP3",
        &[always("LUT")],
        &[
            uniform_predicate(81),
            uniform_predicate(84),
            uniform_condition(87),
            uniform_condition(77),
            uniform_condition(68),
            rule(table),
            number(16, 8),
        ],
    )
    .of_warp(),
    Row::new(
        0x0a4,
        &[1, 4],
        "UIMAD",
        &[flag(73, UNSIGNED), CARRY, WARP, Modifier::Silent(81, 3)],
        &[UD, UA, UNIFORM_WIDE, UC.negated_by(75).inverted_if(74), IF_CARRY],
    )
    .of_warp(),
    Row::new(
        0x0a5,
        &[1, 4],
        "UIMAD",
        &[always("WIDE"), flag(73, UNSIGNED), CARRY, WARP],
        &[UD, UP, UA, UNIFORM_WIDE, UC.negated_by(75).inverted_if(74), IF_CARRY],
    )
    .of_warp(),
    Row::new(
        0x0a4,
        &[2],
        "UIMAD",
        &[flag(73, UNSIGNED), CARRY, WARP, Modifier::Silent(81, 3)],
        &[UD, UA, UC, UNIFORM_WIDE, IF_CARRY],
    )
    .of_warp()
    .on(SINCE_100),
    Row::new(
        0x0a6,
        &[1, 4],
        "UIMAD",
        &[always("HI"), flag(73, UNSIGNED), CARRY, WARP],
        &[UD, UP, UA, UNIFORM_WIDE, UC.negated_by(75).inverted_if(74), IF_CARRY],
    )
    .of_warp()
    .on(SINCE_100),
    Row::new(
        0x04a,
        &[1, 4],
        "UVIMNMX",
        &[Modifier::Must(81, 6, 63), names(72, 2, &["U32", "S32", "U16x2", "S16x2"]), flag(76, &["", "RELU"]), WARP],
        &[UD, UA, UNIFORM_WIDE, uniform_condition(87)],
    )
    .of_warp()
    .on(SINCE_120),
    Row::new(0x0b9, &[5], "ULDC", &[SIZE], &[UD, rule(place)]).of_warp(),
    Row::new(0x0bb, &[5], "ULDC", &[SIZE, WARP], &[UD, rule(indexed)]).of_warp(),
    Row::new(
        0x0bd,
        &[1, 4],
        "UFLO",
        &[flag(73, UNSIGNED), flag(74, &["", "SH"]), WARP],
        &[UD, UP, UNIFORM_WIDE.inverted()],
    )
    .of_warp(),
    Row::new(0x0bf, &[1, 4], "UPOPC", &[WARP], &[UD, UNIFORM_WIDE.inverted()]).of_warp(),
    Row::new(0x0ca, &[1], "R2UR", &[Modifier::Must(84, 1, 0)], &[predicate(81).unless_true(), UD, A]),
    Row::new(0x1c2, &[1], "R2UR", &[], &[predicate(81).unless_true(), UD, A]).on(AHEAD_OF_90),
    Row::new(0x0cc, &[1], "CREDUX", &[names(78, 2, &["MAX", NO, "MIN", NO]), flag(73, &["", "S32"])], &[UD, A])
        .on(SINCE_100),
    Row::new(
        0x1ac,
        &[3],
        "LDCU",
        &[names(73, 3, &["U8", "S8", "U16", "S16", "", "64", "128", NO]), WARP],
        &[UD, rule(fine_place)],
    )
    .of_warp()
    .on(SINCE_100),
    Row::new(0x1c3, &[4], "S2UR", &[], &[UD, special(72)]).of_warp(),
    Row::new(
        0x1c4,
        &[1],
        "REDUX",
        &[names(78, 3, &["", "OR", "XOR", "SUM", "MIN", "MAX", NO, NO]), flag(73, &["", "S32"])],
        &[UD, A],
    ),
];

const SIZE: Modifier = names(73, 3, &["U8", "S8", "U16", "S16", "", "64", NO, NO]);

/// Reads the ballot result of VOTEU, which is printed unless it is URZ.
fn result(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let register = slots::uniform(reader, 16)?;
    if register.number != RZ {
        operands.push(Operand::Register(register, Changes::default()));
    }
    Some(())
}

/// Reads the upper half of the value that ULEA.HI shifts.
fn upper(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let register = slots::uniform(reader, 64)?;
    if reader.bit(80) && !reader.bit(73) {
        operands.push(Operand::Register(register, Changes::default()));
    }
    Some(())
}

fn place(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Constant(slots::constant(reader), Changes::default()));
    Some(())
}

fn indexed(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let index = Some(slots::uniform(reader, 24)?);
    let place = slots::constant(reader);
    let constant = Constant { index, ..place };
    operands.push(Operand::Constant(constant, Changes::default()));
    Some(())
}

/// Reads a place in a constant bank, in bytes from bit 37, with an index register.
fn fine_place(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let index = Some(slots::uniform(reader, 24)?).filter(|register| register.number != RZ);
    let (offset, bank) = (reader.signed(37, 17) as i32, reader.take(54, 5) as u8);
    operands.push(Operand::Constant(Constant { index, bank, offset }, Changes::default()));
    Some(())
}
