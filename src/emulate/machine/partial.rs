//! Instructions with partly undefined sources: the defined bytes of their results.

use super::frame::Frame;
use super::next::origin;
use super::warp::lanes;
use super::world::World;
use crate::emulate::memory::{Bytes, Origin, bits_of, first_bytes};
use crate::emulate::program::{Inst, Row};
use crate::emulate::pure::{Lanes, MOST_SOURCES, Pure};

/// Returns the origin of the undefined bytes in the first of these rows that is not defined.
pub(super) fn origin_of(world: &World<'_, '_>, frame: &Frame, rows: &[Row], active: u32, line: u32) -> Origin {
    let row = rows.iter().find(|&&row| !frame.is_defined(row, active));
    row.map_or(Origin::default(), |&row| origin(world, frame, row).or(Origin::unset(line)))
}

/// Sets a row to values of which some bytes are defined.
fn set(
    world: &World<'_, '_>,
    frame: &mut Frame,
    row: Row,
    active: u32,
    values: &Lanes,
    defined: &[u8; 32],
    from: Origin,
) {
    let bits = world.function(frame.function).rows[row.0 as usize].bits;
    for lane in lanes(active) {
        frame.set_bytes(row, bits, lane, Bytes { value: values[lane], defined: defined[lane], origin: from });
    }
}

/// Returns the defined bytes of a row, by lane.
fn defined(world: &World<'_, '_>, frame: &Frame, row: Row) -> [u8; 32] {
    let bits = world.function(frame.function).rows[row.0 as usize].bits;
    std::array::from_fn(|lane| frame.bytes(row, bits, lane).defined)
}

/// Executes a pure function. If the function moves or combines bits, a result byte is defined if it does not depend on
/// undefined bytes of the sources. Otherwise, all or no bytes of the result are defined.
pub(super) fn computed(
    world: &World<'_, '_>,
    frame: &mut Frame,
    inst: &Inst,
    (pure, to, from): (&Pure, &[Row; 2], &[Row; MOST_SOURCES]),
    active: u32,
    results: &[Lanes; 2],
) {
    let (count, divides) = (pure.sources.len(), world.setting.divides_by_zero);
    let origin = origin_of(world, frame, &from[..count], active, inst.line);
    let masks: Vec<[u8; 32]> = from[..count].iter().map(|&row| defined(world, frame, row)).collect();
    let needed: Vec<u8> = pure.sources.iter().map(|ty| first_bytes(ty.bytes() as usize)).collect();
    let lacks = |source: usize, lane: usize| needed[source] & !masks[source][lane] != 0;
    let is_data = |source: usize| pure.bitwise >> source & 1 == 1;
    let open: Vec<usize> =
        (0..count).filter(|&source| is_data(source) && lanes(active).any(|lane| lacks(source, lane))).collect();
    let mut differs = [[0; 32]; 2];
    for choice in 1..1u32 << open.len() {
        let mut given: [Lanes; MOST_SOURCES] = from.map(|row| frame.values[row.0 as usize]);
        let mut none = given;
        for (number, &source) in open.iter().enumerate() {
            for lane in lanes(active) {
                let bits = bits_of(!masks[source][lane] & needed[source]);
                none[source][lane] &= !bits;
                given[source][lane] = given[source][lane] & !bits | if choice >> number & 1 == 1 { bits } else { 0 };
            }
        }
        let mut found = [[[0; 32]; 2]; 2];
        (pure.eval)(&none.each_ref(), active, &mut found[0]);
        (pure.eval)(&given.each_ref(), active, &mut found[1]);
        for result in 0..2 {
            for lane in lanes(active) {
                differs[result][lane] |= found[0][result][lane] ^ found[1][result][lane];
            }
        }
    }
    for (result, &row) in to.iter().enumerate().take(pure.results.len()) {
        let defined = std::array::from_fn(|lane| {
            let divides_by_zero = pure.divides && !divides && frame.value(from[1], lane) == 0;
            if divides_by_zero || (0..count).any(|source| !is_data(source) && lacks(source, lane)) {
                return 0;
            }
            differs[result][lane]
                .to_le_bytes()
                .iter()
                .enumerate()
                .fold(0, |mask, (byte, &differs)| mask | u8::from(differs == 0) << byte)
        });
        set(world, frame, row, active, &results[result], &defined, origin);
    }
}

/// Executes a move, also between rows of different widths.
pub(super) fn moved(world: &World<'_, '_>, frame: &mut Frame, line: u32, to: Row, from: Row, active: u32) {
    let origin = origin_of(world, frame, &[from], active, line);
    let (values, defined) = (frame.values[from.0 as usize], defined(world, frame, from));
    set(world, frame, to, active, &values, &defined, origin);
}

/// Executes a selection of one of two rows. The other row may be undefined.
pub(super) fn selected(
    world: &World<'_, '_>,
    frame: &mut Frame,
    line: u32,
    (to, [yes, no], by): (Row, [Row; 2], Row),
    active: u32,
) {
    let origin = origin_of(world, frame, &[by, yes, no], active, line);
    let chosen = frame.nonzero(by);
    let masks = [yes, no].map(|row| defined(world, frame, row));
    let of = |lane: usize| usize::from(chosen >> lane & 1 == 0);
    let values = std::array::from_fn(|lane| frame.value([yes, no][of(lane)], lane));
    let defined = std::array::from_fn(|lane| if frame.is_defined(by, 1 << lane) { masks[of(lane)][lane] } else { 0 });
    set(world, frame, to, active, &values, &defined, origin);
}

/// Joins parts of `bits` bits into one row.
pub(super) fn packed(
    world: &World<'_, '_>,
    frame: &mut Frame,
    line: u32,
    (to, parts, bits): (Row, &[Row], u32),
    active: u32,
) {
    let origin = origin_of(world, frame, parts, active, line);
    let function = world.function(frame.function);
    let joined: [Bytes; 32] = std::array::from_fn(|lane| {
        let part = |&row: &Row| frame.bytes(row, function.rows[row.0 as usize].bits, lane);
        Bytes::joined(parts.iter().map(part), bits as usize / 8)
    });
    set(world, frame, to, active, &joined.map(|one| one.value), &joined.map(|one| one.defined), origin);
}

/// Splits one row into parts of `bits` bits.
pub(super) fn unpacked(
    world: &World<'_, '_>,
    frame: &mut Frame,
    line: u32,
    (parts, from, bits): (&[Row], Row, u32),
    active: u32,
) {
    let origin = origin_of(world, frame, &[from], active, line);
    let width = world.function(frame.function).rows[from.0 as usize].bits;
    let whole: [Bytes; 32] = std::array::from_fn(|lane| frame.bytes(from, width, lane));
    let bytes = bits as usize / 8;
    for (number, &part) in parts.iter().enumerate() {
        let own = whole.map(|whole| whole.part(number * bytes, bytes));
        set(world, frame, part, active, &own.map(|one| one.value), &own.map(|one| one.defined), origin);
    }
}
