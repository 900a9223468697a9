//! Uniform float operations, which exist since sm_120.

use super::float::{COMPARISONS, DENORMAL, FLUSHED, ROUNDING, SATURATED, TO_INTEGER};
use super::integer::{COMBINED, UNSIGNED};
use super::row::*;

/// The bit that makes the registers uniform.
const WARP: Modifier = Modifier::Must(91, 1, 1);
/// The first uniform register as a float.
const UNIFORM_A: Slot = UA.negated_by(72).absolute_by(73);
/// The uniform register at bit 64 as a float.
const UNIFORM_C: Slot = UC.negated_by(75).absolute_by(74);
const CONDITION: Slot = uniform_condition(87);

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(0x051, &[1, 4], "UFSEL", &[FLUSHED, WARP], &[UD, UNIFORM_A, UNIFORM_WIDE.float(), CONDITION])
        .of_warp()
        .on(SINCE_120),
    Row::new(
        0x053,
        &[1, 4],
        "UFSETP",
        &[names(76, 4, COMPARISONS), FLUSHED, names(74, 2, COMBINED), WARP],
        &[uniform_predicate(81), uniform_predicate(84), UNIFORM_A, UNIFORM_WIDE.float(), CONDITION],
    )
    .of_warp()
    .on(SINCE_120),
    Row::new(
        0x054,
        &[1],
        "UFADD",
        &[Modifier::Must(81, 1, 0), FLUSHED, ROUNDING, SATURATED, WARP],
        &[UD, UNIFORM_A, UNIFORM_C],
    )
    .of_warp()
    .on(SINCE_120),
    Row::new(
        0x054,
        &[2],
        "UFADD",
        &[Modifier::Must(81, 1, 0), FLUSHED, ROUNDING, SATURATED, WARP],
        &[UD, UNIFORM_A, UNIFORM_WIDE.float()],
    )
    .of_warp()
    .on(SINCE_120),
    Row::new(
        0x055,
        &[1, 4],
        "UFFMA",
        &[Modifier::Must(81, 1, 0), DENORMAL, ROUNDING, SATURATED, WARP],
        &[UD, UNIFORM_A, UNIFORM_WIDE.float(), UNIFORM_C],
    )
    .of_warp()
    .on(SINCE_120),
    Row::new(
        0x055,
        &[2],
        "UFFMA",
        &[Modifier::Must(81, 1, 0), DENORMAL, ROUNDING, SATURATED, WARP],
        &[UD, UNIFORM_A, UNIFORM_C, UNIFORM_WIDE.float()],
    )
    .of_warp()
    .on(SINCE_120),
    Row::new(
        0x056,
        &[1, 4],
        "UFMUL",
        &[DENORMAL, names(84, 3, &[NO, "D8", "D4", "D2", "", "M2", "M4", "M8"]), ROUNDING, SATURATED, WARP],
        &[UD, UNIFORM_A, UNIFORM_WIDE.float()],
    )
    .of_warp()
    .on(SINCE_120),
    Row::new(
        0x05a,
        &[1, 4],
        "UI2F",
        &[
            names(75, 3, &[NO, "F16", "", NO, "BF16", NO, NO, NO]),
            Modifier::Must(84, 2, 2),
            flag(74, UNSIGNED),
            ROUNDING,
            WARP,
        ],
        &[UD, UNIFORM_WIDE],
    )
    .of_warp()
    .on(SINCE_120),
    Row::new(
        0x05c,
        &[1, 4],
        "UF2I",
        &[
            FLUSHED,
            Modifier::Must(75, 2, 2),
            Modifier::Must(84, 2, 2),
            flag(72, UNSIGNED),
            TO_INTEGER,
            flag(77, &["", "NTZ"]),
            WARP,
        ],
        &[UD, UNIFORM_WIDE.float()],
    )
    .of_warp()
    .on(SINCE_120),
    Row::new(
        0x05d,
        &[1, 4],
        "UFRND",
        &[FLUSHED, Modifier::Must(75, 2, 2), Modifier::Must(84, 2, 2), TO_INTEGER, WARP],
        &[UD, UNIFORM_WIDE.float()],
    )
    .of_warp()
    .on(SINCE_120),
    Row::new(
        0x05e,
        &[1, 4],
        "UI2FP",
        &[
            names(75, 3, &[NO, NO, "F32", NO, NO, NO, NO, NO]),
            flag(74, &["U32", "S32"]),
            names(78, 2, &["", NO, NO, "RZ"]),
            Modifier::Must(84, 2, 2),
            WARP,
        ],
        &[UD, UNIFORM_WIDE],
    )
    .of_warp()
    .on(SINCE_120),
];
