//! Tensor memory: allocation, loads and stores.
//!
//! It is stored after the end of shared memory, column by column. The rules of shared memory for uninitialised words
//! and unordered accesses apply to it.

use super::access::{carry, noted, origin_of, read, target, write};
use super::frame::Frame;
use super::next::undefined;
use super::place::Target;
use super::warp::Warp;
use super::world::World;
use super::{Ran, halt};
use crate::emulate::layout;
use crate::emulate::memory::{Bytes, Origin, Write};
use crate::emulate::program::{Address, Row};
use crate::emulate::tensor::{COLUMNS, LANES, Spot, TensorOp};
use crate::emulate::types::Kind;

/// The smallest number of allocated columns. Larger allocations are powers of two.
const FEWEST: u32 = 32;

/// Returns the word of a lane and a column.
pub(super) fn word(lane: u32, column: u32) -> Target {
    Target::Shared(layout::SHARED_END.next_multiple_of(4) + 4 * (column * LANES + lane))
}

/// Returns lane and column of an address. Its `count` columns must be allocated.
pub(super) fn place(
    world: &World<'_, '_>,
    warp: &Warp,
    frame: &Frame,
    spot: Spot,
    (lane, count): (usize, u32),
) -> Ran<(u32, u32)> {
    if !frame.is_defined(spot.base, 1 << lane) {
        return undefined(world, frame, spot.base, "an address of tensor memory");
    }
    let at = frame.value(spot.base, lane).wrapping_add(spot.offset as u64) as u32;
    let (lane, column) = (at >> 16, at & 0xffff);
    let is_allocated = |column: u32| {
        world.blocks[warp.block].tensor.iter().any(|&(first, columns)| (first..first + columns).contains(&column))
    };
    if lane >= LANES || !(column..column.saturating_add(count)).all(is_allocated) {
        return halt(format!("an access to unallocated tensor memory at {at:#x}"));
    }
    Ok((lane, column))
}

fn same(world: &World<'_, '_>, frame: &Frame, row: Row) -> Ran<u32> {
    if !frame.is_defined(row, u32::MAX) {
        return undefined(world, frame, row, "tensor memory");
    }
    let first = frame.value(row, 0);
    if (1..32).any(|lane| frame.value(row, lane) != first) {
        return halt("different operands for tensor memory in one warp");
    }
    Ok(first as u32)
}

/// Executes an operation of a warp.
pub(super) fn run(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    (op, address): (&TensorOp, Address),
    line: u32,
) -> Ran<()> {
    let spot = Spot { base: address.base, offset: address.offset };
    match op {
        TensorOp::Allocate { columns } => {
            let columns = same(world, frame, *columns)?;
            if !columns.is_power_of_two() || !(FEWEST..=COLUMNS).contains(&columns) {
                return halt(format!("{columns} columns of tensor memory"));
            }
            let taken = &world.blocks[warp.block].tensor;
            let is_free = |first: u32| taken.iter().all(|&(at, count)| first + columns <= at || at + count <= first);
            let Some(first) = (0..COLUMNS).step_by(columns as usize).find(|&first| is_free(first)) else {
                return halt("no columns of tensor memory are free");
            };
            world.blocks[warp.block].tensor.push((first, columns));
            world.changed();
            let target = target(world, frame, address, 0, 4)?;
            noted(world, warp, 0, target, 4, Some(first.into()), false)?;
            let thread = warp.global_thread(world, 0);
            let by = Write { thread, function: frame.function as u32, line, ..Write::default() };
            write(world, warp, 0, target, 4, Bytes::whole(first.into()), by);
        }
        TensorOp::Free { columns } => {
            let (at, columns) = (same(world, frame, spot.base)?, same(world, frame, *columns)?);
            let taken = &mut world.blocks[warp.block].tensor;
            let Some(found) = taken.iter().position(|&one| one == (at, columns)) else {
                return halt(format!(
                    "{columns} columns of tensor memory at {at:#x} are freed, but no allocation has this start and size"
                ));
            };
            taken.swap_remove(found);
            world.changed();
            let nothing = Bytes { origin: Origin::shared(line), ..Bytes::undefined(4) };
            for column in at..at + columns {
                for lane in 0..LANES {
                    let thread = warp.global_thread(world, 0);
                    let by = Write { thread, function: frame.function as u32, line, ..Write::default() };
                    // Freeing columns races with later reads, whatever the contents are.
                    noted(world, warp, 0, word(lane, column), 4, Some(u64::MAX), false)?;
                    write(world, warp, 0, word(lane, column), 4, nothing, by);
                }
            }
        }
        TensorOp::Load { to, shape, carried } => {
            let first = first_of(world, warp, frame, spot, shape.lanes())?;
            for thread in 0..32 {
                for (number, &row) in to.iter().enumerate() {
                    let place = placed(world, warp, first, shape.place(thread, number as u32))?;
                    noted(world, warp, thread as usize, place, 4, None, false)?;
                    let value = read(world, warp, thread as usize, place, 4, Kind::Bits);
                    if let Some(carried) = carried.get(number).copied().flatten() {
                        carry(world, warp, thread as usize, place, 4, (frame.function, carried));
                    }
                    let value = Bytes { origin: origin_of(value, place, line), ..value };
                    frame.set_bytes(row, 32, thread as usize, value);
                }
            }
        }
        TensorOp::Store { from, shape, kinds } => {
            let first = first_of(world, warp, frame, spot, shape.lanes())?;
            for thread in 0..32 {
                for (number, &row) in from.iter().enumerate() {
                    let place = placed(world, warp, first, shape.place(thread, number as u32))?;
                    let value = frame.bytes(row, 32, thread as usize);
                    noted(world, warp, thread as usize, place, 4, Some(value.value), false)?;
                    let by = Write {
                        thread: warp.global_thread(world, thread as usize),
                        function: frame.function as u32,
                        line,
                        kind: kinds.get(number).copied().unwrap_or_default(),
                    };
                    write(world, warp, thread as usize, place, 4, value, by);
                }
            }
        }
    }
    Ok(())
}

/// Returns the first lane and column of an access by a warp. A warp can access only a quarter of the lanes.
fn first_of(world: &World<'_, '_>, warp: &Warp, frame: &Frame, spot: Spot, lanes: u32) -> Ran<(u32, u32)> {
    same(world, frame, spot.base)?;
    let (lane, column) = place(world, warp, frame, spot, (0, 1))?;
    let own = u32::from(warp.number) % 4 * 32;
    if lane < own || lane + lanes > own + 32 || !lane.is_multiple_of(16) {
        return halt(format!("lane {lane} of tensor memory by warp {}", warp.number));
    }
    Ok((lane, column))
}

fn placed(world: &World<'_, '_>, warp: &Warp, first: (u32, u32), place: (u32, u32)) -> Ran<Target> {
    let (lane, column) = (first.0 + place.0, first.1 + place.1);
    let is_there = |&(at, count): &(u32, u32)| (at..at + count).contains(&column);
    if !world.blocks[warp.block].tensor.iter().any(is_there) {
        return halt(format!("column {column} of tensor memory is unallocated"));
    }
    Ok(word(lane, column))
}
