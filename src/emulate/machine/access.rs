//! Loads and stores.

use super::frame::Frame;
use super::meeting::meet;
use super::next::{origin, undefined};
use super::place::{MOST_LOCAL, Target, generic};
use super::warp::{Warp, lanes};
use super::world::World;
use super::{Ran, halt};
use crate::emulate::layout;
use crate::emulate::memory::{Bytes, Origin, Stamp, View, Write, note};
use crate::emulate::program::{Access, Address, CarriedKind, Order, Row, Space};
use crate::emulate::types::{Kind, signed};

/// Returns the place that a lane accesses. Halts if the access is misaligned or outside memory.
pub(super) fn target(world: &World<'_, '_>, frame: &Frame, address: Address, lane: usize, bytes: u32) -> Ran<Target> {
    if !frame.is_defined(address.base, 1 << lane) {
        return undefined(world, frame, address.base, "an address");
    }
    let at = frame.value(address.base, lane).wrapping_add(address.offset as u64);
    if !at.is_multiple_of(u64::from(bytes)) {
        return halt(format!("an access of {bytes} bytes at {at:#x}"));
    }
    let target = match address.space {
        Space::Generic => generic(at),
        Space::Shared => Target::Shared(at as u32),
        Space::Local if at < MOST_LOCAL => Target::Local(at as u32),
        // Programs sometimes use a generic address as a local one.
        Space::Local => generic(at),
    };
    let is_inside = match target {
        Target::Global(at) => (4096..u64::MAX - 4096).contains(&at),
        // The first KiB is not available to PTX. In machine code, the first KiB may contain variables, depending on the
        // processor.
        Target::Shared(offset) => {
            offset < world.program.shared_end && (offset >= layout::FIRST_SHARED || world.program.is_machine_code)
        }
        Target::Local(offset) => u64::from(offset) < MOST_LOCAL,
    };
    match target {
        Target::Global(at) if world.is_beyond_variables(at, bytes) => halt("an access beyond a variable"),
        _ if is_inside => Ok(target),
        _ => halt(format!("an access at {at:#x}")),
    }
}

/// Returns the place `bytes` bytes later.
pub(super) fn beyond(target: Target, bytes: u32) -> Target {
    match target {
        Target::Global(at) => Target::Global(at + u64::from(bytes)),
        Target::Shared(offset) => Target::Shared(offset + bytes),
        Target::Local(offset) => Target::Local(offset + bytes),
    }
}

/// Prefix of messages about unordered accesses.
pub const RACE: &str = "a race: ";

/// Returns the message about an access that is not ordered with an earlier one.
pub(super) fn race(what: &str, other: Stamp) -> String {
    let thread = u32::from(other.warp) * 32 + u32::from(other.lane);
    format!("{RACE}{what} is not ordered with an access of thread {thread} of block {}", other.block)
}

/// Records an access in the race detector.
pub(super) fn noted(
    world: &mut World<'_, '_>,
    warp: &Warp,
    lane: usize,
    target: Target,
    bytes: usize,
    written: Option<u64>,
    is_strong: bool,
) -> Ran<()> {
    // Traces need no race detection: races do not change the times that are computed from traces.
    if world.setting.traces {
        return Ok(());
    }
    let stamp = warp.stamp(lane, is_strong);
    let found = match target {
        Target::Local(_) => None,
        Target::Global(at) => {
            let view = View { clocks: &warp.clocks, blocks: &world.blocks[warp.block].met };
            world.global.note(at, bytes, written, stamp, view)
        }
        Target::Shared(offset) => {
            let block = &mut world.blocks[warp.block];
            let (first, end) = (offset as usize / 4, (offset as usize + bytes).div_ceil(4));
            if block.shadows.len() < end {
                block.shadows.resize(end.next_multiple_of(256), Default::default());
            }
            let is_same = written.map(|value| block.shared.read(offset as usize, bytes).known() == Some(value));
            let view = View { clocks: &warp.clocks, blocks: &block.met };
            note(&mut block.shadows[first..end], offset as usize, bytes, is_same, stamp, view)
        }
    };
    match found {
        Some(other) => halt(race(if written.is_some() { "a write" } else { "a read" }, other)),
        None => Ok(()),
    }
}

/// Reads at most eight bytes.
pub(super) fn read(
    world: &mut World<'_, '_>,
    warp: &Warp,
    lane: usize,
    target: Target,
    bytes: usize,
    kind: Kind,
) -> Bytes {
    let value = match target {
        Target::Global(at) => world.global.read(at, bytes, kind),
        Target::Shared(offset) => world.blocks[warp.block].shared.read(offset as usize, bytes),
        Target::Local(offset) => warp.local[lane].read(offset as usize, bytes),
    };
    // Uninitialised memory is zero if only control flow matters.
    if world.setting.traces { Bytes::whole(value.value) } else { value }
}

/// Returns the origin of a value's undefined bytes that were read in a line.
pub(super) fn origin_of(value: Bytes, target: Target, line: u32) -> Origin {
    value.origin.or(match target {
        Target::Local(_) => Origin::local(line),
        _ => Origin::shared(line),
    })
}

/// Records the kind of a value that a lane reads from shared or local memory. A class of registers has a kind as long
/// as all values that it carries have the same kind.
pub(super) fn carry(
    world: &mut World<'_, '_>,
    warp: &Warp,
    lane: usize,
    target: Target,
    bytes: usize,
    class: (usize, CarriedKind),
) {
    let kind = match target {
        Target::Global(_) => Kind::default(),
        Target::Shared(offset) => world.blocks[warp.block].shared.kind(offset as usize, bytes),
        Target::Local(offset) => warp.local[lane].kind(offset as usize, bytes),
    };
    let known = world.carried.entry(class).or_insert(kind);
    if *known != kind {
        *known = Kind::default();
    }
}

/// Writes at most eight bytes.
pub(super) fn write(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    lane: usize,
    target: Target,
    bytes: usize,
    value: Bytes,
    by: Write,
) {
    let is_new = match target {
        Target::Global(at) => world.global.write(at, bytes, value, by),
        Target::Shared(offset) => world.blocks[warp.block].shared.write(offset as usize, bytes, value, by.kind),
        Target::Local(offset) => {
            warp.local[lane].write(offset as usize, bytes, value, by.kind);
            false
        }
    };
    if is_new {
        world.stored();
    }
}

/// Executes a load.
pub(super) fn load(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    access: &Access,
    active: u32,
    (pc, line): (u32, u32),
) -> Ran<()> {
    let function = world.function(frame.function);
    let setting = world.setting;
    let bytes = access.ty.bytes();
    let total = bytes * access.elements.len() as u32;
    let is_strong = access.order != Order::Weak;
    if is_strong {
        world.outcome.depends_on_order = true;
    }
    let [mut is_local, mut is_shared] = [false; 2];
    let mut lane_accesses = world.lane_accesses(total);
    for lane in lanes(active) {
        let first = target(world, frame, access.address, lane, total)?;
        is_local |= matches!(first, Target::Local(_));
        is_shared |= matches!(first, Target::Shared(_));
        lane_accesses.add(lane, first);
        for (number, &row) in access.elements.iter().enumerate() {
            let target = beyond(first, bytes * number as u32);
            let info = function.rows[row.0 as usize];
            noted(world, warp, lane, target, bytes as usize, None, is_strong)?;
            let meets = access.order == Order::Strong || access.order == Order::Volatile && function.has_atomics;
            let kind = if meets { access.kinds[number].met() } else { access.kinds[number] };
            if let Target::Global(at) = target
                && let Some(wish) = setting.wishes.of_load((frame.function, pc, number))
            {
                world.global.image.prefer(at, bytes as usize, wish);
            }
            let value = read(world, warp, lane, target, bytes as usize, kind);
            if let Some(carried) = access.carried[number] {
                carry(world, warp, lane, target, bytes as usize, (frame.function, carried));
            }
            let origin = origin_of(value, target, line);
            // If the register is wider than the value, the sign of the highest byte fills it.
            let value = match value.known() {
                Some(known) if access.ty.is_signed() => Bytes::whole(signed(known, 8 * bytes) as u64),
                None if access.ty.is_signed() => Bytes::undefined(8),
                _ => value,
            };
            frame.set_bytes(row, info.bits, lane, Bytes { origin, ..value });
        }
        if is_strong {
            meet(world, warp, first, true, false);
        }
    }
    world.record_traffic(warp.index, (frame.function, pc), &lane_accesses);
    world.outcome.local += u64::from(is_local);
    world.outcome.shared += u64::from(is_shared);
    Ok(())
}

/// Executes a store.
pub(super) fn store(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    access: &Access,
    active: u32,
    (pc, line): (u32, u32),
) -> Ran<()> {
    let function = world.function(frame.function);
    let bytes = access.ty.bytes();
    let total = bytes * access.elements.len() as u32;
    let is_strong = access.order != Order::Weak;
    let [mut is_local, mut is_shared] = [false; 2];
    let mut lane_accesses = world.lane_accesses(total);
    for lane in lanes(active) {
        let first = target(world, frame, access.address, lane, total)?;
        is_local |= matches!(first, Target::Local(_));
        is_shared |= matches!(first, Target::Shared(_));
        lane_accesses.add(lane, first);
        let thread = warp.global_thread(world, lane);
        let of = |frame: &Frame, row: Row| {
            let value = frame.bytes(row, function.rows[row.0 as usize].bits, lane);
            value.part(0, bytes as usize)
        };
        // A store to visible memory must have a defined byte: otherwise nothing is known of the result.
        if matches!(first, Target::Global(_))
            && !access.elements.iter().any(|&row| of(frame, row).has_any(bytes as usize))
            && let Some(&row) = access.elements.first()
        {
            return undefined(world, frame, row, "a stored value");
        }
        for (number, &row) in access.elements.iter().enumerate() {
            let target = beyond(first, bytes * number as u32);
            let value = of(frame, row);
            let origin =
                if value.known().is_none() { origin(world, frame, row).or(Origin::unset(line)) } else { value.origin };
            let value = Bytes { origin, ..value };
            noted(world, warp, lane, target, bytes as usize, Some(value.value), is_strong)?;
            let carried = access.carried[number].and_then(|carried| world.carried.get(&(frame.function, carried)));
            let kind = carried.copied().unwrap_or(access.kinds[number]);
            let by = Write { thread, function: frame.function as u32, line, kind };
            write(world, warp, lane, target, bytes as usize, value, by);
        }
        if is_strong {
            meet(world, warp, first, false, true);
        }
    }
    world.record_traffic(warp.index, (frame.function, pc), &lane_accesses);
    world.outcome.local += u64::from(is_local);
    world.outcome.shared += u64::from(is_shared);
    Ok(())
}
