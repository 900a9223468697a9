//! Loads and stores.

use super::super::operand::{Address, Changes, Constant, Extent, Operand, PT, Predicate, RZ};
use super::reader::Reader;
use super::row::*;
use super::slots;

/// The size of an access.
const SIZE: Modifier = names(73, 3, &["U8", "S8", "U16", "S16", "", "64", "128", NO]);
/// `.E`: addresses have 64 bits.
pub(super) const WIDE_ADDRESS: Modifier = flag(72, &["", "E"]);
/// The eviction priority of the cache line.
pub(super) const EVICTION: Modifier = names(84, 3, &["EF", "", "EL", "LU", "EU", "NA", NO, NO]);
/// The size of a prefetch into L2.
const PREFETCH: Modifier = names(68, 2, &["", "LTC64B", "LTC128B", "LTC256B"]);
/// The memory order and scope of an access.
const LOAD_ORDER: Modifier = names(
    77,
    4,
    &["", NO, NO, NO, "CONSTANT", "STRONG.SM", NO, "STRONG.GPU", "MMIO.GPU", NO, "STRONG.SYS", NO, "MMIO.SYS"],
);
pub(super) const ORDER: Modifier = names(
    77,
    4,
    &["", NO, NO, NO, "STRONG.SM.PRIVATE", "STRONG.SM", NO, "STRONG.GPU", "MMIO.GPU", NO, "STRONG.SYS", NO, "MMIO.SYS"],
);
/// The operations.
pub(super) const ROWS: &[Row] = &[
    Row::new(
        0x180,
        &[4],
        "LD",
        &[WIDE_ADDRESS, EVICTION, PREFETCH, SIZE, LOAD_ORDER],
        &[D, rule(generic), rule(holds)],
    ),
    Row::new(
        0x181,
        &[4],
        "LDG",
        &[WIDE_ADDRESS, EVICTION, PREFETCH, SIZE, LOAD_ORDER],
        &[predicate(81).unless_true(), D, rule(global), rule(holds)],
    ),
    Row::new(
        0x181,
        &[1],
        "LDG",
        &[WIDE_ADDRESS, EVICTION, PREFETCH, SIZE, LOAD_ORDER],
        &[predicate(81).unless_true(), D, rule(unscaled), rule(holds)],
    )
    .on(SINCE_100),
    Row::new(
        0x182,
        &[5],
        "LDC",
        &[names(73, 3, &["U8", "S8", "U16", "S16", "", "64", NO, NO]), names(78, 2, &["", "IL", "IS", "ISL"])],
        &[D, rule(indexed)],
    ),
    Row::new(0x183, &[4], "LDL", &[EVICTION, SIZE], &[D, rule(early)]),
    Row::new(0x184, &[4], "LDS", &[SIZE], &[D, rule(scaled)]),
    Row::new(0x185, &[4], "ST", &[WIDE_ADDRESS, EVICTION, SIZE, ORDER], &[rule(stored), register(32)]),
    Row::new(0x186, &[4], "STG", &[WIDE_ADDRESS, EVICTION, SIZE, ORDER], &[rule(stored), register(32)]),
    Row::new(0x187, &[1, 4], "STL", &[EVICTION, SIZE], &[rule(late), register(32)]),
    Row::new(0x188, &[1, 4], "STS", &[SIZE], &[rule(late_scaled), register(32)]),
    Row::new(
        0x1ae,
        &[7],
        "LDGSTS",
        &[
            always("E"),
            flag(81, &["BYPASS", ""]),
            EVICTION,
            names(71, 2, &["", "LTC64B", "LTC128B", "LTC256B"]),
            names(73, 3, &[NO, NO, NO, NO, "", "64", "128", NO]),
            Modifier::Must(77, 4, 0),
            flag(82, &["", "ZFILL"]),
            Modifier::Must(70, 1, 1),
        ],
        COPY,
    )
    .on(AHEAD_OF_100),
    Row::new(
        0x1ae,
        &[7],
        "LDGSTS",
        &[
            always("E"),
            flag(81, &["BYPASS", ""]),
            EVICTION,
            names(72, 2, &["", "LTC64B", "LTC128B", "LTC256B"]),
            names(74, 2, &["", "64", "128", NO]),
            Modifier::Must(77, 4, 0),
            flag(82, &["", "ZFILL"]),
            Modifier::Must(83, 1, 1),
        ],
        COPY,
    )
    .on(SINCE_100),
    Row::new(0x1af, &[4], "LDGDEPBAR", &[], &[]),
];

const COPY: &[Slot] = &[rule(copied_to), rule(copied_from), condition(87).unless_true()];

/// Reads an address of global memory: the register at bit 24, a descriptor or uniform register beside it, and an offset
/// of 24 bits. One bit says whether the register has 64 bits. Another bit says whether the uniform register holds a
/// descriptor. Before sm_90, the disassembler does not print the descriptor.
pub(super) fn global_at(reader: &mut Reader, uniform_at: u8, wide: u8, described: u8) -> Option<Address> {
    reader.must(91, true)?;
    reader.must(72, true)?;
    let is_wide = reader.bit(wide);
    let has_descriptor = reader.bit(described);
    let uniform = slots::uniform(reader, uniform_at)?.number;
    let extent = if is_wide { Extent::Wide } else { Extent::Unsigned };
    let offset = reader.signed(40, 24) as i32;
    let mut address = Address { extent, base: base(reader, 24), scale: 1, offset, ..Address::default() };
    if has_descriptor {
        is_wide.then_some(())?;
        address.descriptor = Some(uniform).filter(|_| reader.processor >= 90);
    } else {
        address.base?;
        address.uniform = Some(uniform).filter(|&number| number != RZ);
    }
    Some(address)
}

pub(super) fn base(reader: &mut Reader, at: u8) -> Option<u8> {
    Some(slots::register(reader, at).number).filter(|&number| number != RZ)
}

/// Reads the address of LDG.
fn global(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Address(global_at(reader, 32, 90, 76)?));
    Some(())
}

/// Reads an address of an unscaled register (64 bits) and an offset.
pub(super) fn unscaled(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let base = base(reader, 24);
    let offset = distance(reader, base.is_some());
    operands.push(Operand::Address(Address { base, scale: 1, offset, ..Address::default() }));
    Some(())
}

/// Reads the address of LD, which may lack the uniform register.
fn generic(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    if reader.bit(91) {
        return global(reader, operands);
    }
    let offset = reader.signed(32, 32) as i32;
    operands.push(Operand::Address(Address { base: base(reader, 24), scale: 1, offset, ..Address::default() }));
    Some(())
}

/// Reads the address of a store.
fn stored(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Address(global_at(reader, 64, 90, 76)?));
    Some(())
}

/// Reads the predicate that enables a load. It is printed unless it is always true. Its number is stored inverted.
fn holds(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let number = PT - reader.take(64, 3) as u8;
    let negated = reader.bit(67);
    if number != PT || negated {
        operands.push(Operand::Predicate(Predicate { number, is_uniform: false, negated }));
    }
    Some(())
}

/// Reads a place in a constant bank, with an index register.
fn indexed(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let index = slots::register(reader, 24);
    let place = slots::constant(reader);
    let constant = if index.number == RZ { place } else { Constant { index: Some(index), ..place } };
    operands.push(Operand::Constant(constant, Changes::default()));
    Some(())
}

/// Reads an address of shared or local memory. An optional uniform register is at the given bit.
pub(super) fn near(reader: &mut Reader, uniform_at: u8) -> Option<Address> {
    let has_uniform = reader.bit(91);
    let uniform = if has_uniform { Some(slots::uniform(reader, uniform_at)?.number) } else { None };
    let base = base(reader, 24);
    let offset = distance(reader, base.is_some() || has_uniform);
    let uniform = uniform.filter(|&number| number != RZ);
    Some(Address { base, scale: 1, uniform, offset, ..Address::default() })
}

/// Reads the offset of an address, which has 24 bits. The offset is signed only if the address has a register.
pub(super) fn distance(reader: &mut Reader, has_register: bool) -> i32 {
    if has_register { reader.signed(40, 24) as i32 } else { reader.take(40, 24) as i32 }
}

pub(super) fn early(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Address(near(reader, 32)?));
    Some(())
}

pub(super) fn late(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    operands.push(Operand::Address(near(reader, 64)?));
    Some(())
}

/// Reads the scale of an address's register. An address without a register has scale 1.
pub(super) fn scale(reader: &mut Reader) -> Option<u8> {
    let scale = [1, 4, 8, 16][reader.take(78, 2) as usize];
    (scale == 1 || base(reader, 24).is_some()).then_some(scale)
}

/// Reads the address of LDSM. Its offset is always signed.
pub(super) fn of_matrix(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let offset = reader.signed(40, 24) as i32;
    operands.push(Operand::Address(Address { offset, ..near(reader, 32)? }));
    Some(())
}

/// Reads the address of STSM. Its offset is always signed.
pub(super) fn to_matrix(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let offset = reader.signed(40, 24) as i32;
    operands.push(Operand::Address(Address { offset, ..near(reader, 64)? }));
    Some(())
}

pub(super) fn scaled(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let scale = scale(reader)?;
    operands.push(Operand::Address(Address { scale, ..near(reader, 32)? }));
    Some(())
}

pub(super) fn late_scaled(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let scale = scale(reader)?;
    operands.push(Operand::Address(Address { scale, ..near(reader, 64)? }));
    Some(())
}

/// Reads the destination of LDGSTS: an address of shared memory.
fn copied_to(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    let offset = reader.signed(44, 20) as i32;
    operands.push(Operand::Address(Address { base: base(reader, 16), scale: 1, offset, ..Address::default() }));
    Some(())
}

/// Reads the source of LDGSTS: an address of global memory.
fn copied_from(reader: &mut Reader, operands: &mut Vec<Operand>) -> Option<()> {
    reader.must(91, true)?;
    let uniform = slots::uniform(reader, 64)?.number;
    let mut address = Address {
        base: base(reader, 24),
        extent: Extent::Wide,
        scale: 1,
        offset: reader.signed(32, 12) as i32,
        ..Address::default()
    };
    if reader.bit(76) {
        address.descriptor = Some(uniform).filter(|_| reader.processor >= 90);
    } else {
        address.uniform = Some(uniform).filter(|&number| number != RZ);
    }
    operands.push(Operand::Address(address));
    Some(())
}
