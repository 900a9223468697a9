//! Bulk copies, tensor copies, and the arrival of copies at mbarriers.

use super::super::operand::{Address, Operand, RZ};
use super::memory::late;
use super::reader::Reader;
use super::row::*;
use super::slots;

const DIMENSIONS: Modifier = names(79, 3, &["1D", "2D", "3D", "4D", "5D", NO, NO, NO]);
const OPERATION: Modifier = names(87, 3, &["ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"]);
const SPACES: Modifier = Modifier::Rule(spaces);
const IS_BULK: Modifier = Modifier::Must(91, 1, 1);

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(
        0x1ba,
        &[1],
        "UBLKCP",
        &[
            SPACES,
            flag(75, &["", "MULTICAST"]),
            names(81, 2, &["", "LTC64B", "LTC128B", NO]),
            flag(83, &["", "SEQUENCED"]),
            IS_BULK,
        ],
        &[rule(first), rule(second), uniform(64), rule(policy)],
    )
    .of_warp()
    .on(ONLY_90),
    Row::new(
        0x1bb,
        &[1],
        "UBLKRED",
        &[SPACES, OPERATION, names(81, 4, TYPES), IS_BULK],
        &[rule(first), rule(second), uniform(64), rule(policy)],
    )
    .of_warp()
    .on(ONLY_90),
    Row::new(0x1bc, &[1], "UBLKPF", &[always("L2"), IS_BULK], &[rule(second), uniform(64), rule(policy)])
        .of_warp()
        .on(ONLY_90),
    Row::new(0x1b4, &[2], "UTMALDG", &[DIMENSIONS, IS_BULK], &[rule(first), rule(second), rule(policy)])
        .of_warp()
        .on(ONLY_90),
    Row::new(
        0x1b4,
        &[1],
        "UTMALDG",
        &[DIMENSIONS, flag(82, &["", "IM2COL"]), flag(75, &["", "MULTICAST"]), IS_BULK],
        &[rule(first), rule(second), uniform(64), rule(policy)],
    )
    .of_warp()
    .on(ONLY_90),
    Row::new(0x1b5, &[1], "UTMASTG", &[DIMENSIONS, flag(82, &["", "IM2COL"]), IS_BULK], STORED).of_warp().on(ONLY_90),
    Row::new(0x1b6, &[1], "UTMAREDG", &[DIMENSIONS, flag(82, &["", "IM2COL"]), OPERATION, IS_BULK], STORED)
        .of_warp()
        .on(ONLY_90),
    Row::new(0x1b8, &[2], "UTMAPF", &[always("L2"), DIMENSIONS, IS_BULK], STORED).of_warp().on(ONLY_90),
    Row::new(0x1b9, &[4], "UTMACCTL", &[flag(82, &["IV", "PF"]), IS_BULK], &[rule(second)]).of_warp().on(ONLY_90),
    Row::new(
        0x1b0,
        &[4],
        "ARRIVES",
        &[always("LDGSTSBAR.64"), names(70, 2, &["", "ARVCNT", "TRANSCNT", NO]), Modifier::Must(72, 4, 10)],
        &[rule(late)],
    )
    .on(ONLY_90),
];

const STORED: &[Slot] = &[rule(first), rule(second), rule(policy)];

const TYPES: &[&str] =
    &["", "S32", "U64", "S64", "F16.RN", "F32.RN", "F32.FTZ.RN", "F64.RN", "BF16.RN", NO, NO, NO, NO, NO, NO, NO];

/// Returns the spaces of a copy's destination and source.
fn spaces(reader: &mut Reader) -> Option<&'static str> {
    Some(match (reader.bit(73), reader.bit(74)) {
        (true, false) => "S.G",
        (false, true) => "G.S",
        (true, true) => "S.S",
        (false, false) => return None,
    })
}

fn at(reader: &mut Reader, place: u8) -> Option<Operand> {
    let uniform = Some(slots::uniform(reader, place)?.number).filter(|&number| number != RZ);
    Some(Operand::Address(Address { uniform, scale: 1, ..Address::default() }))
}

fn first(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(at(reader, 32)?);
    Some(())
}

fn second(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(at(reader, 24)?);
    Some(())
}

/// Reads the cache policy, which is printed if a bit is set.
fn policy(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    if reader.bit(76) {
        let descriptor = Some(slots::uniform(reader, 40)?.number);
        operands.push(Operand::Address(Address { descriptor, scale: 1, ..Address::default() }));
    }
    Some(())
}
