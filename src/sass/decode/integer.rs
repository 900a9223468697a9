//! Integers, logic, and moves.

use super::super::operand::{Changes, Operand};
use super::reader::Reader;
use super::row::*;
use super::slots;

const TYPES: &[&str] = &["S64", "U64", "S32", "U32"];
const COMPARISONS: &[&str] = &["F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"];
/// The operations that combine a comparison with a predicate.
pub(super) const COMBINED: &[&str] = &["AND", "OR", "XOR", NO];
/// `.U32` if the bit is zero.
pub(super) const UNSIGNED: &[&str; 2] = &["U32", ""];
/// The type by two bits: values 0 and 1 are types of 32 bits, values 2 and 3 types of 64 bits. The higher bit is bit
/// 80, which exists since sm_120.
pub(super) const SIZES: &[&str] = &["U32", "", "U64", "S64"];
/// `.X`: with a carry input.
pub(super) const CARRY: Modifier = flag(74, &["", "X"]);
const BYTES: &[&str] = &["", "B1", "B2", "B3"];
const SIGNS: Modifier = names(73, 2, &["U8.U8", "S8.U8", "U8.S8", "S8.S8"]);

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(0x002, &[1, 4, 5, 6], "MOV", &[], &[D, WIDE, rule(lanes)]),
    Row::new(0x003, &[4], "P2R", &[names(76, 2, BYTES)], &[D, PREDICATES, A, WIDE]),
    Row::new(0x004, &[4], "R2P", &[], &[PREDICATES, rule(byte), rule(mask)]),
    Row::new(0x005, &[4], "CS2R", &[flag(80, &["32", ""])], &[D, special(72)]),
    Row::new(0x007, &[1, 4, 5, 6], "SEL", &[], &[D, A, WIDE, condition(87)]),
    Row::new(
        0x00c,
        &[1, 4, 5, 6],
        "ISETP",
        &[
            names(76, 3, COMPARISONS),
            Modifier::Since(120, 80, 1),
            split((73, 1), (80, 1), SIZES),
            names(74, 2, COMBINED),
            flag(72, &["", "EX"]),
        ],
        &[predicate(81), predicate(84), A, WIDE, condition(87), condition(68).shown_if(72)],
    ),
    Row::new(
        0x010,
        &[1, 4, 5, 6],
        "IADD3",
        &[CARRY],
        &[
            D,
            predicate(81).carry(),
            predicate(84).carry(),
            A.negated_by(72).inverted_if(74),
            SECOND.negated().inverted_if(74),
            THIRD.negated().inverted_if(74),
            condition(87).shown_if(74),
            condition(77).shown_if(74),
        ],
    ),
    Row::new(
        0x011,
        &[1, 4, 5, 6],
        "LEA",
        &[flag(80, &["", "HI"]), CARRY, flag(73, &["", "SX32"])],
        &[
            D,
            predicate(81).unless_true(),
            A.negated_by(72).inverted_if(74),
            SECOND.negated().inverted_if(74),
            rule(upper),
            number(75, 5),
            condition(87).shown_if(74),
        ],
    ),
    Row::new(
        0x012,
        &[1, 2, 4, 5, 6],
        "LOP3",
        &[Modifier::Must(80, 1, 0), always("LUT")],
        &[predicate(81).unless_true(), D, A, SECOND, THIRD, number(72, 8), condition(87)],
    ),
    Row::new(
        0x00f,
        &[1, 2, 4, 6, 7],
        "VIMNMX3",
        &[names(72, 2, &["U32", "", "U16x2", "S16x2"]), flag(76, &["", "RELU"])],
        &[D, A, SECOND, THIRD, condition(87)],
    )
    .on(SINCE_90),
    Row::new(0x013, &[1, 5, 6], "IABS", &[], &[D, WIDE]),
    Row::new(
        0x016,
        &[1, 2, 4, 5, 6],
        "PRMT",
        &[names(72, 3, &["", "F4E", "B4E", "RC8", "ECL", "ECR", "RC16", NO])],
        &[D, A, SECOND, THIRD],
    ),
    Row::new(0x017, &[1, 4, 5, 6], "IMNMX", &[flag(73, UNSIGNED)], &[D, A, WIDE, condition(87)]).on(AHEAD_OF_90),
    Row::new(
        0x019,
        &[1, 2, 3, 4, 5, 6],
        "SHF",
        &[flag(76, &["L", "R"]), flag(75, &["", "W"]), names(73, 2, TYPES), flag(80, &["", "HI"])],
        &[D, A, SECOND, THIRD],
    ),
    Row::new(0x01a, &[1, 4, 5, 6], "SGXT", &[flag(75, &["", "W"]), flag(73, UNSIGNED)], &[D, A, WIDE]),
    Row::new(0x01b, &[1, 4, 5, 6], "BMSK", &[flag(75, &["", "W"])], &[D, A, WIDE]),
    Row::new(
        0x01c,
        &[4],
        "PLOP3",
        &[always("LUT")],
        &[
            predicate(81),
            predicate(84),
            condition(87),
            condition(77),
            rule(third_predicate),
            rule(table),
            number(16, 8),
        ],
    ),
    Row::new(
        0x024,
        &[1, 2, 3, 4, 5, 6, 7],
        "IMAD",
        &[Modifier::Rule(instead_of_product), flag(73, UNSIGNED), CARRY, Modifier::Silent(81, 3)],
        PRODUCT,
    ),
    Row::new(0x025, &[1, 2, 3, 4, 5, 6, 7], "IMAD", &[always("WIDE"), flag(73, UNSIGNED), CARRY], PRODUCT_WITH_CARRY),
    Row::new(0x027, &[1, 2, 3, 4, 5, 6, 7], "IMAD", &[always("HI"), flag(73, UNSIGNED), CARRY], PRODUCT_WITH_CARRY),
    Row::new(
        0x026,
        &[1, 2, 3, 4, 5, 6, 7],
        "IDP",
        &[Modifier::Must(76, 2, 0), always("4A"), SIGNS],
        &[D, A, SECOND, THIRD.negated()],
    ),
    Row::new(0x036, &[1, 4, 6], "VIADD", &[flag(73, &["", "16x2"])], &[D, A, WIDE.negated()]).on((90, 119)),
    Row::new(0x038, &[1], "I2I", &[names(76, 2, &["U8", "S8", "U16", "S16"]), always("S32.SAT")], &[D, WIDE]),
    Row::new(
        0x046,
        &[1, 2, 4, 6, 7],
        "VIADDMNMX",
        &[names(72, 2, &["U32", "", "U16x2", "S16x2"]), flag(76, &["", "RELU"])],
        &[D, A, SECOND.negated(), THIRD, condition(87)],
    )
    .on(SINCE_90),
    Row::new(
        0x048,
        &[1, 4, 6],
        "VIMNMX",
        &[Modifier::Must(81, 6, 63), names(72, 2, &["U32", "", "U16x2", "S16x2"]), flag(76, &["", "RELU"])],
        &[D, A, WIDE, condition(87)],
    )
    .on(ONLY_90),
    Row::new(
        0x048,
        &[1, 4, 6],
        "VIMNMX",
        &[names(72, 2, &["U32", "", "U16x2", "S16x2"]), flag(76, &["", "RELU"])],
        &[D, predicate(81), predicate(84), A, WIDE, condition(87)],
    )
    .on(ONLY_100),
    Row::new(
        0x048,
        &[1, 4, 6],
        "VIMNMX",
        &[Modifier::Must(81, 6, 63), names(72, 2, &["U32", "S32", "U16x2", "S16x2"]), flag(76, &["", "RELU"])],
        &[D, A, WIDE, condition(87)],
    )
    .on(SINCE_120),
    Row::new(
        0x014,
        &[1, 2, 4, 5, 6],
        "VABSDIFF",
        &[flag(73, UNSIGNED), Modifier::Must(81, 3, 7)],
        &[D, A, SECOND, THIRD],
    ),
    Row::new(
        0x026,
        &[1, 2, 3, 4, 5, 6, 7],
        "IDP",
        &[
            Modifier::Must(76, 1, 1),
            always("2A"),
            flag(77, &["LO", "HI"]),
            flag(73, &["U16", "S16"]),
            flag(74, &["U8", "S8"]),
        ],
        &[D, A, SECOND, THIRD.negated()],
    ),
    Row::new(
        0x039,
        &[1],
        "I2IP",
        &[flag(76, &["U8", "S8"]), always("S32"), flag(74, &["", "SAT"])],
        &[D, A, SECOND, THIRD],
    )
    .on(SINCE_90),
    Row::new(
        0x100,
        &[1, 5, 6],
        "FLO",
        &[flag(73, UNSIGNED), flag(74, &["", "SH"])],
        &[D, predicate(81).unless_true(), WIDE.inverted()],
    ),
    Row::new(0x036, &[1, 4, 6], "VIADD", &[flag(73, &["32", NO])], &[D, A, WIDE.negated()]).on(SINCE_120),
    Row::new(0x101, &[1, 5, 6], "BREV", &[], &[D, WIDE]),
    Row::new(0x109, &[1, 5, 6], "POPC", &[], &[D, WIDE.inverted()]),
];

const PREDICATES: Slot = fixed(Operand::Predicates { is_uniform: false });

const PRODUCT: &[Slot] = &[D, A, SECOND, THIRD.negated().inverted_if(74), condition(87).shown_if(74)];

const PRODUCT_WITH_CARRY: &[Slot] =
    &[D, predicate(81).unless_true(), A, SECOND, THIRD.negated().inverted_if(74), condition(87).shown_if(74)];

/// Reads the bytes that MOV writes. They are printed unless all bytes are written.
fn lanes(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let lanes = reader.take(72, 4) as u32;
    if lanes != 15 {
        operands.push(Operand::Immediate(lanes));
    }
    Some(())
}

/// Reads the predicates that R2P writes, as bits. They are printed unless all predicates are written.
fn mask(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let mask = reader.take(32, 32) as u32;
    if mask != 0xff {
        operands.push(Operand::Immediate(mask));
    }
    Some(())
}

/// Reads the byte of a register that is the source of R2P.
fn byte(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let register = slots::register(reader, 24);
    let byte = Some(reader.take(76, 2) as u8).filter(|&byte| byte != 0);
    operands.push(Operand::Register(register, Changes { byte, ..Changes::default() }));
    Some(())
}

/// Reads the upper half of the value that LEA.HI shifts. LEA.HI.SX32 extends the lower half instead, and LEA has no
/// upper half.
fn upper(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let register = slots::register(reader, 64);
    if reader.bit(80) && !reader.bit(73) {
        operands.push(Operand::Register(register, Changes::default()));
    }
    Some(())
}

/// Reads the third predicate of PLOP3. A bit says whether the predicate is uniform.
fn third_predicate(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let is_uniform = reader.bit(67);
    operands.push(slots::predicate(reader, 68, Some(71), is_uniform));
    Some(())
}

/// Reads the truth table of PLOP3: eight bits in two places.
pub(super) fn table(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let low = reader.take(64, 3) as u32;
    operands.push(Operand::Immediate(low | (reader.take(72, 5) as u32) << 3));
    Some(())
}

/// Returns the suffix of an IMAD that ptxas uses as a move, an addition or a shift. The disassembler prints this
/// suffix.
fn instead_of_product(reader: &mut Reader) -> Option<&'static str> {
    const ZERO: u64 = 255;
    let (first, late) = (reader.take(24, 8), reader.take(64, 8));
    if reader.bit(74) {
        return Some("");
    }
    Some(match reader.form() {
        1..=5 if first == ZERO => "MOV",
        1 if reader.take(32, 8) == ZERO => "MOV",
        2 | 3 if late == ZERO => "MOV",
        4 => match (reader.take(32, 32), late) {
            (0, _) | (1, ZERO) => "MOV",
            (1, _) => "IADD",
            // The disassembler prints no suffix for shifts by 16 and by 31.
            (0x1_0000 | 0x8000_0000, ZERO) => "",
            (factor, ZERO) if factor.is_power_of_two() => "SHL",
            _ => "",
        },
        _ => "",
    })
}
