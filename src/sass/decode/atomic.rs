//! Atomic operations, fences, and other operations that order accesses.

use super::super::operand::{Address, Operand, RZ};
use super::memory::{EVICTION, ORDER, WIDE_ADDRESS, base, distance, global_at, late, late_scaled, unscaled};
use super::reader::Reader;
use super::row::*;
use super::slots;

const OPERATIONS: &[&str] = &["ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH"];
/// The types of integer operations, which have other opcodes than float operations.
const INTEGERS: Modifier = names(73, 3, &["", "S32", "64", "S64"]);
/// The types of all operations before sm_90.
const ANY_TYPE: Modifier = names(73, 3, &["", "S32", "64", "F32.FTZ.RN", "F16x2.RN", "S64", "F64.RN"]);
const FLOATS: Modifier = names(
    73,
    4,
    &[
        "F16x2.RN",
        "F16x4.RN",
        "F16x8.RN",
        "BF16x2.RN",
        "BF16x4.RN",
        "BF16x8.RN",
        NO,
        NO,
        NO,
        "F32.FTZ.RN",
        "F32x2.FTZ.RN",
        "F32x4.FTZ.RN",
        "F32.RN",
        "F32x2.RN",
        "F32x4.RN",
        "F64.RN",
    ],
);
const FLOAT_OPERATION: Modifier = names(87, 3, &["ADD", NO, "MIN", NO, "MAX", NO, NO, NO]);
const SWAP: Modifier = names(87, 2, &["CAS", "CAST", NO, "CAST.SPIN"]);
const WORDS: Modifier = names(73, 3, &["", "S32", "64", NO, "128"]);

/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(0x18a, &[4], "ATOM", &[WIDE_ADDRESS, names(87, 4, OPERATIONS), EVICTION, ANY_TYPE, ORDER], RETURNING)
        .on(AHEAD_OF_90),
    Row::new(0x18a, &[4], "ATOM", &[WIDE_ADDRESS, names(87, 4, OPERATIONS), EVICTION, INTEGERS, ORDER], RETURNING)
        .on(ONLY_90),
    Row::new(0x1a2, &[4], "ATOM", &[WIDE_ADDRESS, FLOAT_OPERATION, EVICTION, FLOATS, ORDER], FLOAT_RETURNING)
        .on(SINCE_90),
    Row::new(0x1a8, &[4], "ATOMG", &[WIDE_ADDRESS, names(87, 4, OPERATIONS), EVICTION, ANY_TYPE, ORDER], RETURNING)
        .on(AHEAD_OF_90),
    Row::new(0x1a8, &[4], "ATOMG", &[WIDE_ADDRESS, names(87, 4, OPERATIONS), EVICTION, INTEGERS, ORDER], RETURNING)
        .on(SINCE_90),
    Row::new(0x1a3, &[4], "ATOMG", &[WIDE_ADDRESS, FLOAT_OPERATION, EVICTION, FLOATS, ORDER], FLOAT_RETURNING)
        .on(SINCE_90),
    Row::new(0x18b, &[1], "ATOM", &[WIDE_ADDRESS, SWAP, EVICTION, Modifier::Since(90, 75, 1), WORDS, ORDER], SWAPPING),
    Row::new(
        0x1a9,
        &[1],
        "ATOMG",
        &[WIDE_ADDRESS, always("CAS"), Modifier::Must(87, 2, 0), EVICTION, Modifier::Since(90, 75, 1), WORDS, ORDER],
        SWAPPING,
    ),
    Row::new(
        0x18c,
        &[1, 4],
        "ATOMS",
        &[names(87, 4, OPERATIONS), names(73, 3, &["", "S32", "64"])],
        &[D, rule(late_scaled), register(32)],
    ),
    Row::new(0x18c, &[7], "ATOMS", &[always("POPC.INC.32"), Modifier::Must(87, 4, 0b1011)], &[D, rule(counted)])
        .on(SINCE_100),
    Row::new(
        0x18d,
        &[1],
        "ATOMS",
        &[SWAP, Modifier::Since(90, 75, 1), WORDS],
        &[D, rule(late_scaled_alone), register(32), register(64)],
    ),
    Row::new(
        0x18d,
        &[2],
        "ATOMS",
        &[names(87, 2, &[NO, "CAST", NO, "CAST.SPIN"]), WORDS],
        &[predicate(81), rule(late_scaled_alone), register(32), register(64)],
    )
    .on(SINCE_100),
    Row::new(0x18e, &[4], "RED", &[WIDE_ADDRESS, names(87, 3, OPERATIONS), EVICTION, ANY_TYPE, ORDER], REDUCING)
        .on(AHEAD_OF_90),
    Row::new(0x18e, &[4], "REDG", &[WIDE_ADDRESS, names(87, 3, OPERATIONS), EVICTION, INTEGERS, ORDER], REDUCING)
        .on(SINCE_90),
    Row::new(0x1a6, &[4], "REDG", &[WIDE_ADDRESS, FLOAT_OPERATION, EVICTION, FLOATS, ORDER], REDUCING).on(SINCE_90),
    Row::new(0x18f, &[4], "CCTL", &[always("IVALL"), Modifier::Must(24, 8, 255), Modifier::Must(87, 3, 4)], &[]),
    Row::new(
        0x192,
        &[4],
        "MEMBAR",
        &[names(79, 2, &["SC", "ALL", "", "MMIO"]), names(76, 3, &["CTA", "SM", "GPU", "SYS", NO, "VC"])],
        &[],
    ),
    Row::new(0x1aa, &[1], "QSPC", &[WIDE_ADDRESS, Modifier::Rule(space)], &[predicate(81), D, rule(unscaled)]),
    Row::new(
        0x1a7,
        &[2],
        "SYNCS",
        &[always("PHASECHK.TRANS64"), flag(72, &["", "TRYWAIT"]), Modifier::Must(70, 1, 1), Modifier::Must(91, 1, 1)],
        &[predicate(81), rule(late), register(32)],
    )
    .on(ONLY_90),
    Row::new(
        0x1a7,
        &[4],
        "SYNCS",
        &[
            always("ARRIVE.TRANS64"),
            flag(74, &["", "RED"]),
            flag(75, &["", "OPTOUT"]),
            names(84, 3, &["", "A1T0", "A0T1", "A0TR", "A0TX", "ART0", NO, NO]),
            Modifier::Must(91, 1, 1),
        ],
        &[D, rule(late), register(32)],
    )
    .on(ONLY_90),
    Row::new(
        0x1b2,
        &[2],
        "SYNCS",
        &[always("EXCH.64"), Modifier::Must(72, 1, 1), Modifier::Must(91, 1, 1)],
        &[UD, rule(of_warp), uniform(32)],
    )
    .of_warp()
    .on(ONLY_90),
    Row::new(0x1b1, &[4], "SYNCS", &[always("CCTL.IV"), Modifier::Must(91, 1, 1)], &[rule(late)]).on(ONLY_90),
    Row::new(0x1ab, &[4], "ERRBAR", &[], &[]),
    Row::new(0x1ab, &[2], "CGAERRBAR", &[], &[]),
];

const FLOAT_RETURNING: &[Slot] = &[predicate(81), D, rule(float_described), register(32)];
const RETURNING: &[Slot] = &[predicate(81), D, rule(described), register(32)];
const SWAPPING: &[Slot] = &[predicate(81), D, rule(unscaled), register(32), register(64)];
const REDUCING: &[Slot] = &[rule(reduced), register(32)];

/// Reads the address of an atomic operation that returns the old value. Since sm_100, the highest bit of the offset
/// says whether the address register has 64 bits.
fn returning(reader: &mut Reader, described: u8) -> Option<Address> {
    if reader.processor < 100 {
        return global_at(reader, 64, 70, 71);
    }
    let address = global_at(reader, 64, 63, described)?;
    Some(Address { offset: reader.signed(40, 23) as i32, ..address })
}

fn described(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Address(returning(reader, 76)?));
    Some(())
}

fn float_described(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Address(returning(reader, 90)?));
    Some(())
}

/// Reads the address of an atomic operation without a result.
fn reduced(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let described = if reader.processor < 100 { 71 } else { 81 };
    operands.push(Operand::Address(global_at(reader, 64, 90, described)?));
    Some(())
}

/// Reads an address of a scaled register and an offset.
fn late_scaled_alone(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let scale = super::memory::scale(reader)?;
    let base = base(reader, 24);
    let offset = distance(reader, base.is_some());
    operands.push(Operand::Address(Address { base, scale, offset, ..Address::default() }));
    Some(())
}

/// Reads the address of a counter. This form of address always has a uniform register, which may be URZ.
fn counted(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let scale = super::memory::scale(reader)?;
    let base = base(reader, 24);
    let uniform = Some(slots::uniform(reader, 64)?.number).filter(|&number| number != RZ);
    reader.must(91, true)?;
    let offset = reader.signed(40, 24) as i32;
    operands.push(Operand::Address(Address { base, scale, uniform, offset, ..Address::default() }));
    Some(())
}

/// Returns the address space that QSPC tests for: global, local, shared, or shared memory of another block of the
/// cluster.
fn space(reader: &mut Reader) -> Option<&'static str> {
    match reader.take(73, 2) {
        0 => Some("G"),
        1 => Some("L"),
        2 => Some("S"),
        _ => (reader.processor >= 90).then_some("D"),
    }
}

/// Reads an address in a uniform register.
fn of_warp(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let number = slots::uniform(reader, 24)?.number;
    let uniform = Some(number).filter(|&number| number != RZ);
    let offset = reader.signed(40, 24) as i32;
    operands.push(Operand::Address(Address { uniform, scale: 1, offset, ..Address::default() }));
    Some(())
}
