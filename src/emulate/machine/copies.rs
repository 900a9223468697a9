//! `cp.async`: the source is read at once, and the data arrives in shared memory at the wait for its group.

use super::access::{beyond, noted, read, target, write};
use super::frame::Frame;
use super::mbarrier;
use super::next::undefined;
use super::pending::Word;
use super::warp::{Warp, lanes};
use super::world::World;
use super::{Ran, halt};
use crate::emulate::memory::{Bytes, Write};
use crate::emulate::program::{Address, Arrival, Row};
use crate::emulate::types::Kind;

/// Starts a copy.
pub(super) fn start(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &Frame,
    (to, from, bytes, given): (Address, Address, u32, Option<Row>),
    active: u32,
    (pc, line): (u32, u32),
) -> Ran<()> {
    let [mut read_there, mut written] = [world.lane_accesses(bytes), world.lane_accesses(bytes)];
    for lane in lanes(active) {
        let to = target(world, frame, to, lane, bytes)?;
        written.add(lane, to);
        let source_bytes = match given {
            Some(row) if !frame.is_defined(row, 1 << lane) => {
                return undefined(world, frame, row, "a copy");
            }
            Some(row) => frame.value(row, lane) as u32,
            None => bytes,
        };
        if source_bytes > bytes || source_bytes % 4 != 0 {
            return halt(format!("a copy of {source_bytes} of {bytes} bytes (line {line})"));
        }
        let source = if source_bytes > 0 { Some(target(world, frame, from, lane, bytes)?) } else { None };
        if let Some(source) = source {
            read_there.add(lane, source);
        }
        for word in 0..bytes / 4 {
            let value = match source {
                Some(source) if 4 * word < source_bytes => {
                    let place = beyond(source, 4 * word);
                    noted(world, warp, lane, place, 4, None, false)?;
                    read(world, warp, lane, place, 4, Kind::F16)
                }
                _ => Bytes::whole(0),
            };
            if !value.has_any(4) {
                return halt("a copy of uninitialised memory");
            }
            warp.copies[lane].open.push((beyond(to, 4 * word), 4, value));
        }
    }
    for lane_accesses in [read_there, written] {
        world.record_traffic(warp.index, (frame.function, pc), &lane_accesses);
    }
    Ok(())
}

fn arrived(world: &mut World<'_, '_>, warp: &mut Warp, lane: usize, words: Vec<Word>, line: u32) -> Ran<()> {
    for (place, bytes, value) in words {
        noted(world, warp, lane, place, bytes, Some(value.value), false)?;
        let by = Write { thread: warp.global_thread(world, lane), line, ..Write::default() };
        write(world, warp, lane, place, bytes, value, by);
    }
    Ok(())
}

/// Waits until at most `left` groups are pending. With 0, copies outside groups arrive, too.
pub(super) fn wait(world: &mut World<'_, '_>, warp: &mut Warp, left: usize, active: u32, line: u32) -> Ran<()> {
    for lane in lanes(active) {
        while warp.copies[lane].groups.len() > left {
            let group = warp.copies[lane].groups.pop_front().unwrap_or_default();
            arrived(world, warp, lane, group, line)?;
        }
    }
    Ok(())
}

/// Makes all pending copies arrive, and counts their arrival at an mbarrier.
pub(super) fn arrive(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &Frame,
    address: Address,
    as_what: Arrival,
    active: u32,
    line: u32,
) -> Ran<()> {
    wait(world, warp, 0, active, line)?;
    for lane in lanes(active) {
        let open = std::mem::take(&mut warp.copies[lane].open);
        arrived(world, warp, lane, open, line)?;
    }
    mbarrier::arrive_of_copies(world, warp, frame, address, as_what, active)
}
