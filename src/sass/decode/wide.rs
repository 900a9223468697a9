//! Operations on integers of 64 bits in register pairs, which exist since sm_120.

use super::super::operand::Operand;
use super::integer::CARRY;
use super::reader::Reader;
use super::row::*;

const SIGNS: &[&str; 2] = &["U64", "S64"];

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(0x002, &[2], "MOV", &[always("64")], &[D, CONSTANT]).on(SINCE_120),
    Row::new(0x002, &[1, 6], "MOV", &[always("64"), Modifier::Must(72, 9, 0x10f)], &[D, WIDE]).on(SINCE_120),
    Row::new(0x082, &[2], "UMOV", &[always("64"), WARP], &[UD, CONSTANT]).of_warp().on(SINCE_120),
    Row::new(0x082, &[6], "UMOV", &[always("64"), Modifier::Must(80, 1, 1), WARP], &[UD, UNIFORM_WIDE])
        .of_warp()
        .on(SINCE_120),
    Row::new(0x007, &[2], "SEL", &[always("64")], &[D, A, NEAR_CONSTANT, condition(87)]).on(SINCE_120),
    Row::new(0x007, &[3], "SEL", &[always("64")], &[D, A, register(32), condition(87)]).on(SINCE_120),
    Row::new(0x007, &[7], "SEL", &[always("64")], &[D, A, WIDE, condition(87)]).on(SINCE_120),
    Row::new(0x087, &[2], "USEL", &[always("64"), WARP], &[UD, UA, NEAR_CONSTANT, uniform_condition(87)])
        .of_warp()
        .on(SINCE_120),
    Row::new(0x087, &[6], "USEL", &[always("64"), WARP], &[UD, UA, uniform(32), uniform_condition(87)])
        .of_warp()
        .on(SINCE_120),
    Row::new(
        0x035,
        &[1, 4, 6],
        "IADD",
        &[flag(73, &["", "64"]), CARRY],
        &[
            D,
            predicate(81).unless_true(),
            A.negated_by(72).inverted_if(74),
            WIDE.negated().inverted_if(74),
            condition(87).shown_if(74),
        ],
    )
    .on(SINCE_120),
    Row::new(
        0x017,
        &[1, 4, 6],
        "IMNMX",
        &[Modifier::Must(74, 1, 1), flag(73, SIGNS)],
        &[predicate(81), predicate(84), D, A, WIDE, condition(87), condition(77)],
    )
    .on(SINCE_120),
    Row::new(
        0x085,
        &[1, 4],
        "UIMNMX",
        &[Modifier::Must(74, 1, 1), flag(73, SIGNS), WARP],
        &[
            uniform_predicate(81),
            uniform_predicate(84),
            UD,
            UA,
            UNIFORM_WIDE,
            uniform_condition(87),
            uniform_condition(77),
        ],
    )
    .of_warp()
    .on(SINCE_120),
    Row::new(
        0x097,
        &[1, 4],
        "UIADD3",
        &[always("64"), CARRY, WARP],
        &[
            UD,
            uniform_predicate(81).carry(),
            uniform_predicate(84).carry(),
            UA.negated_by(72).inverted_if(74),
            UNIFORM_WIDE.negated().inverted_if(74),
            UC.negated_by(75).inverted_if(74),
            uniform_condition(87).shown_if(74),
            uniform_condition(77).shown_if(74),
        ],
    )
    .of_warp()
    .on(SINCE_120),
];

/// The bit that makes the registers uniform.
const WARP: Modifier = Modifier::Must(91, 1, 1);
const NEAR_CONSTANT: Slot = rule(near_constant);
const CONSTANT: Slot = rule(constant);

/// Reads the immediate of MOV.64: 64 bits from bit 24, as two words.
fn constant(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let bits = reader.take(24, 64);
    operands.extend([Operand::Immediate(bits as u32), Operand::Immediate((bits >> 32) as u32)]);
    Some(())
}

/// Reads the immediate of SEL.64: 33 bits, signed, as two words.
fn near_constant(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let bits = reader.signed(32, 33);
    operands.extend([Operand::Immediate(bits as u32), Operand::Immediate((bits >> 32) as u32)]);
    Some(())
}
