//! Floats, doubles, halves, and conversions.

use super::super::operand::Operand;
use super::integer::COMBINED;
use super::reader::Reader;
use super::row::*;
use super::slots;

pub(super) const ROUNDING: Modifier = names(78, 2, &["", "RM", "RP", "RZ"]);
pub(super) const TO_INTEGER: Modifier = names(78, 2, &["", "FLOOR", "CEIL", "TRUNC"]);
pub(super) const FLUSHED: Modifier = flag(80, &["", "FTZ"]);
/// The treatment of denormal numbers: kept, zero in products only, zero.
pub(super) const DENORMAL: Modifier = split((76, 1), (80, 1), &["", "FMZ", "FTZ", NO]);
pub(super) const SATURATED: Modifier = flag(77, &["", "SAT"]);
const BRAIN: Modifier = flag(85, &["", "BF16_V2"]);
const BRAIN_SINCE_90: Modifier = Modifier::Since(90, 85, 1);
pub(super) const COMPARISONS: &[&str] =
    &["F", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T"];
const DOUBLE_COMPARISONS: &[&str] =
    &["MIN", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "MAX"];

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(0x008, &[1, 4, 5, 6], "FSEL", &[FLUSHED], &[D, FLOAT_A, WIDE.float(), condition(87)]),
    Row::new(
        0x009,
        &[1, 4, 5, 6],
        "FMNMX",
        &[FLUSHED, flag(81, &["", "NAN"]), Modifier::Rule(sign)],
        &[D, FLOAT_A, WIDE.float(), condition(87)],
    ),
    Row::new(
        0x076,
        &[1, 2, 4, 6, 7],
        "FMNMX3",
        &[FLUSHED, flag(81, &["", "NAN"])],
        &[D, FLOAT_A, SECOND.float(), THIRD.float(), condition(87)],
    )
    .on(SINCE_100),
    Row::new(
        0x00a,
        &[1, 4, 5, 6],
        "FSET",
        &[always("BF"), names(76, 4, COMPARISONS), FLUSHED, names(74, 2, COMBINED)],
        &[D, FLOAT_A, WIDE.float(), condition(87)],
    ),
    Row::new(
        0x00b,
        &[1, 4, 5, 6],
        "FSETP",
        &[names(76, 4, COMPARISONS), FLUSHED, names(74, 2, COMBINED)],
        &[predicate(81), predicate(84), FLOAT_A, WIDE.float(), condition(87)],
    ),
    Row::new(
        0x020,
        &[1, 4, 5, 6],
        "FMUL",
        &[DENORMAL, names(84, 3, &[NO, "D8", "D4", "D2", "", "M2", "M4", "M8"]), ROUNDING, SATURATED],
        &[D, FLOAT_A, WIDE.float()],
    ),
    Row::new(0x021, &[1, 2, 3, 7], "FADD", &[FLUSHED, ROUNDING, SATURATED], &[D, FLOAT_A, WIDE.float()]),
    Row::new(
        0x023,
        &[1, 2, 3, 4, 5, 6, 7],
        "FFMA",
        &[DENORMAL, ROUNDING, SATURATED],
        &[D, FLOAT_A, SECOND.float(), THIRD.float()],
    ),
    Row::new(0x028, &[1, 4, 5, 6], "DMUL", &[ROUNDING], &[D, FLOAT_A, WIDE.float()]),
    Row::new(0x029, &[1, 2, 3, 7], "DADD", &[ROUNDING], &[D, FLOAT_A, THIRD.float()]),
    Row::new(
        0x02a,
        &[1, 2, 3, 7],
        "DSETP",
        &[names(76, 4, DOUBLE_COMPARISONS), names(74, 2, COMBINED)],
        &[predicate(81), predicate(84), FLOAT_A, WIDE.float(), condition(87)],
    ),
    Row::new(0x02b, &[1, 2, 3, 4, 5, 6, 7], "DFMA", &[ROUNDING], &[D, FLOAT_A, SECOND.float(), THIRD.float()]),
    Row::new(
        0x030,
        &[1, 2, 3, 7],
        "HADD2",
        &[Modifier::Must(78, 1, 0), BRAIN_SINCE_90, BRAIN, FLUSHED, SATURATED],
        &[D, HALF_A, WIDE.half()],
    ),
    Row::new(
        0x030,
        &[1, 2, 3, 7],
        "HADD2",
        &[always("F32"), Modifier::Must(78, 1, 1), FLUSHED, SATURATED],
        &[D, A.negated_by(72).halves_at(74), WIDE.half()],
    ),
    Row::new(
        0x031,
        &[1, 2, 3, 4, 5, 6, 7],
        "HFMA2",
        &[split((78, 1), (85, 1), &["", "F32", "BF16_V2", NO]), DENORMAL, SATURATED],
        &[D, HALF_A, SECOND.half(), THIRD.half()],
    ),
    Row::new(0x032, &[1, 4, 5, 6], "HMUL2", &[BRAIN_SINCE_90, BRAIN, DENORMAL, SATURATED], &[D, HALF_A, WIDE.half()]),
    Row::new(
        0x033,
        &[1, 2, 3, 7],
        "HSET2",
        &[
            Modifier::Since(90, 64, 2),
            names(64, 2, &["", NO, "BF16_V2", NO]),
            flag(71, &["", "BF"]),
            names(76, 4, COMPARISONS),
            FLUSHED,
            names(69, 2, COMBINED),
        ],
        &[D, HALF_A, WIDE.half(), condition(87)],
    ),
    Row::new(
        0x040,
        &[1, 2, 3, 4, 5, 6, 7],
        "HMNMX2",
        &[BRAIN, FLUSHED, flag(81, &["", "NAN"]), Modifier::Rule(sign)],
        &[D, HALF_A, WIDE.half(), condition(87)],
    ),
    Row::new(
        0x034,
        &[1, 2, 3, 7],
        "HSETP2",
        &[
            Modifier::Since(90, 64, 2),
            names(64, 2, &["", NO, "BF16_V2", NO]),
            names(76, 4, COMPARISONS),
            flag(71, &["", "H_AND"]),
            FLUSHED,
            names(69, 2, COMBINED),
        ],
        &[predicate(81), predicate(84), HALF_A, WIDE.half(), condition(87)],
    ),
    Row::new(
        0x035,
        &[1, 2, 3, 4, 5, 6, 7],
        "HFMA2",
        &[always("MMA"), BRAIN_SINCE_90, BRAIN, DENORMAL, SATURATED],
        &[D, FLOAT_A, SECOND.packed(), THIRD.packed()],
    )
    .on(AHEAD_OF_100),
    Row::new(0x102, &[1, 4, 5, 6], "FCHK", &[], &[predicate(81), FLOAT_A, WIDE.float()]),
    Row::new(0x104, &[1, 4, 5, 6], "F2F", &[FLUSHED, Modifier::Rule(float_types), ROUNDING], &[D, WIDE.float()]),
    Row::new(0x110, &[1, 4, 5, 6], "F2F", &[FLUSHED, Modifier::Rule(float_types), ROUNDING], &[D, WIDE.float()]),
    Row::new(
        0x105,
        &[1, 4, 5, 6],
        "F2I",
        &[FLUSHED, Modifier::Rule(integer_of_float), TO_INTEGER, flag(77, &["", "NTZ"])],
        &[D, WIDE.float()],
    ),
    Row::new(
        0x111,
        &[1, 4, 5, 6],
        "F2I",
        &[FLUSHED, Modifier::Rule(integer_of_float), TO_INTEGER, flag(77, &["", "NTZ"])],
        &[D, WIDE.float()],
    ),
    Row::new(0x106, &[1, 4, 5, 6], "I2F", &[Modifier::Rule(float_of_integer), ROUNDING], &[D, rule(byte)]),
    Row::new(0x112, &[1, 4, 5, 6], "I2F", &[Modifier::Rule(float_of_integer), ROUNDING], &[D, rule(byte)]),
    Row::new(0x107, &[1, 4, 5, 6], "FRND", &[FLUSHED, Modifier::Rule(rounded), TO_INTEGER], &[D, WIDE.float()]),
    Row::new(0x113, &[1, 4, 5, 6], "FRND", &[FLUSHED, Modifier::Rule(rounded), TO_INTEGER], &[D, WIDE.float()]),
    Row::new(
        0x108,
        &[1, 4, 5, 6],
        "MUFU",
        &[
            names(74, 4, &["COS", "SIN", "EX2", "LG2", "RCP", "RSQ", NO, NO, "SQRT", "TANH"]),
            Modifier::Rule(half_of_function),
        ],
        &[D, WIDE.float()],
    ),
    Row::new(
        0x108,
        &[1, 4, 5, 6],
        "MUFU",
        &[names(74, 4, &[NO, NO, NO, NO, NO, NO, "RCP64H", "RSQ64H"])],
        &[D, WIDE.float()],
    ),
    Row::new(
        0x03e,
        &[1, 2, 3, 4, 5, 6, 7],
        "F2FP",
        &[
            flag(77, &["", "SATFINITE"]),
            flag(75, &["", "RELU"]),
            Modifier::Rule(packed_types),
            names(79, 2, &["", NO, NO, "RZ"]),
            Modifier::Silent(64, 8),
        ],
        &[D, A, WIDE],
    ),
    Row::new(
        0x03e,
        &[1, 6],
        "F2FP",
        &[
            flag(75, &["", "RELU"]),
            flag(76, &["F16", "BF16"]),
            flag(73, &["E5M2", "E4M3"]),
            always("UNPACK_B"),
            Modifier::Must(74, 1, 1),
            Modifier::Must(89, 1, 1),
            Modifier::Must(24, 8, 255),
            Modifier::Must(64, 8, 255),
        ],
        &[D, WIDE],
    )
    .on(SINCE_89),
    Row::new(
        0x03e,
        &[1],
        "F2FP",
        &[
            flag(77, &["", "SATFINITE"]),
            flag(75, &["", "RELU"]),
            flag(76, &["E5M2", "E4M3"]),
            always("F32.PACK_AB_MERGE_C"),
            Modifier::Must(78, 1, 1),
            Modifier::Must(87, 1, 1),
            Modifier::Must(90, 1, 1),
        ],
        &[D, A, WIDE, register(64)],
    )
    .on(SINCE_89),
    Row::new(
        0x03e,
        &[1],
        "F2FP",
        &[
            flag(77, &["", "SATFINITE"]),
            flag(75, &["", "RELU"]),
            flag(76, &["E5M2", "E4M3"]),
            always("F16.UNPACK_B_MERGE_C"),
            Modifier::Must(73, 1, 1),
            Modifier::Must(87, 1, 1),
            Modifier::Must(90, 1, 1),
            Modifier::Must(24, 8, 255),
        ],
        &[D, WIDE, register(64)],
    )
    .on(SINCE_89),
    Row::new(
        0x045,
        &[1, 4, 5, 6],
        "I2FP",
        &[
            names(75, 3, &[NO, NO, "F32", NO, NO, NO, NO, NO]),
            flag(74, &["U32", "S32"]),
            names(78, 2, &["", NO, NO, "RZ"]),
            Modifier::Must(84, 2, 2),
        ],
        &[D, WIDE],
    )
    .on(SINCE_86),
];

/// Returns the modifier that multiplies the signs. sm_80 does not have it.
fn sign(reader: &mut Reader) -> Option<&'static str> {
    match (reader.bit(82), reader.processor) {
        (true, 80) => None,
        (true, _) => Some("XORSIGN"),
        (false, _) => Some(""),
    }
}

/// Requires bit 4 of the operation. It is set if a conversion's source or result has 64 bits.
fn is_wide(reader: &mut Reader, wide: bool) -> Option<()> {
    reader.must(4, wide)
}

/// Returns the types of F2F: bits 75 to 77 are the type of the result, 84 and 85 the type of the source.
fn float_types(reader: &mut Reader) -> Option<&'static str> {
    let types = (reader.take(75, 3), reader.take(84, 2));
    is_wide(reader, types.0 == 3 || types.1 == 3)?;
    Some(match types {
        (1, 2) => "F16.F32",
        (2, 1) => "F32.F16",
        (3, 2) => "F64.F32",
        (2, 3) => "F32.F64",
        (1, 3) => "F16.F64",
        (3, 1) => "F64.F16",
        (4, 3) => "BF16.F64",
        (4, 2) => "BF16.F32",
        _ => return None,
    })
}

/// Returns the types of F2I: bit 72 is the sign, 75 and 76 the size of the result, 84 and 85 the size of the source.
fn integer_of_float(reader: &mut Reader) -> Option<&'static str> {
    let types = (reader.take(75, 2), reader.bit(72), reader.take(84, 2));
    is_wide(reader, types.0 == 3 || types.2 == 3)?;
    Some(match types {
        (0, false, 2) => "U8",
        (0, true, 2) => "S8",
        (1, false, 2) => "U16",
        (1, true, 2) => "S16",
        (2, false, 2) => "U32",
        (2, true, 2) => "",
        (3, false, 2) => "U64",
        (3, true, 2) => "S64",
        (0, false, 1) => "U8.F16",
        (0, true, 1) => "S8.F16",
        (1, false, 1) => "U16.F16",
        (1, true, 1) => "S16.F16",
        (2, false, 1) => "U32.F16",
        (2, true, 1) => "F16",
        (3, false, 1) => "U64.F16",
        (3, true, 1) => "S64.F16",
        (2, false, 3) => "U32.F64",
        (2, true, 3) => "F64",
        (3, false, 3) => "U64.F64",
        (3, true, 3) => "S64.F64",
        _ => return None,
    })
}

/// Returns the types of I2F: bits 75 to 77 are the type of the result, 74 is the sign, 84 and 85 the size of the
/// source.
fn float_of_integer(reader: &mut Reader) -> Option<&'static str> {
    let (result, size) = (reader.take(75, 3), reader.take(84, 2));
    if result == 4 && reader.processor < 90 {
        return None;
    }
    is_wide(reader, result == 3 || size == 3)?;
    let names = match result {
        1 => ["F16.U8", "F16.S8", "F16.U16", "F16.S16", "F16.U32", "F16", "F16.U64", "F16.S64"],
        2 => ["U8", "S8", "U16", "S16", "U32", "", "U64", "S64"],
        3 => ["F64.U8", "F64.S8", "F64.U16", "F64.S16", "F64.U32", "F64", "F64.U64", "F64.S64"],
        4 => ["BF16.U8", "BF16.S8", "BF16.U16", "BF16.S16", "BF16.U32", "BF16", "BF16.U64", "BF16.S64"],
        _ => return None,
    };
    let source = size << 1 | reader.take(74, 1);
    names.get(source as usize).copied()
}

/// Returns the type of FRND. Result and source must have the same type.
fn rounded(reader: &mut Reader) -> Option<&'static str> {
    let types = (reader.take(75, 3), reader.take(84, 2));
    is_wide(reader, types.0 == 3)?;
    Some(match types {
        (1, 1) => "F16",
        (2, 2) => "",
        (3, 3) => "F64",
        _ => return None,
    })
}

/// Returns the types of F2FP. sm_89 adds types, so the disassembler also prints the types F16 and F32 since sm_89.
fn packed_types(reader: &mut Reader) -> Option<&'static str> {
    Some(match (reader.bit(76), reader.processor < 89) {
        (false, true) => "PACK_AB",
        (true, true) => "BF16.PACK_AB",
        (false, false) => "F16.F32.PACK_AB",
        (true, false) => "BF16.F32.PACK_AB",
    })
}

/// Reads the source of I2F, with the byte of the register if the source has 8 bits.
fn byte(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    slots::read(&WIDE, reader, operands)?;
    if reader.form() == 1
        && reader.take(84, 2) == 0
        && let Some(Operand::Register(_, changes)) = operands.last_mut()
    {
        changes.byte = Some(reader.take(60, 2) as u8).filter(|&byte| byte != 0);
    }
    Some(())
}

/// Returns the type of MUFU. It is empty for floats of 32 bits.
fn half_of_function(reader: &mut Reader) -> Option<&'static str> {
    match (reader.take(72, 2), reader.processor < 90) {
        (0, _) => Some(""),
        (1, false) | (2, true) => Some("F16"),
        (2, false) => Some("BF16"),
        _ => None,
    }
}
