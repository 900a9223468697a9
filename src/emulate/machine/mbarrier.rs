//! mbarriers: barriers in shared memory that count threads and bytes.

use super::access::target;
use super::frame::Frame;
use super::next::{Next, undefined};
use super::phase::{Mbarrier, TensorBox};
use super::place::Target;
use super::warp::{Warp, lanes};
use super::world::World;
use super::{Ran, halt, span, tensor};
use crate::emulate::memory::Write;
use crate::emulate::program::{Address, Arrival, MbarrierOp};
use crate::emulate::types::Kind;

pub(super) fn offset_of(world: &World<'_, '_>, frame: &Frame, address: Address, lane: usize) -> Ran<u32> {
    match target(world, frame, address, lane, 8)? {
        Target::Shared(offset) => Ok(offset),
        _ => halt("an mbarrier that is not in shared memory"),
    }
}

/// Executes an operation on an mbarrier, lane by lane.
pub(super) fn run(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    address: Address,
    op: MbarrierOp,
    active: u32,
    line: u32,
) -> Ran<Next> {
    let function = world.function(frame.function);
    let mut is_polling = false;
    for lane in lanes(active) {
        let offset = offset_of(world, frame, address, lane)?;
        let rows = match op {
            MbarrierOp::Init { count } => vec![count],
            MbarrierOp::Arrive { count, expected, .. } => vec![count, expected],
            MbarrierOp::Expect { bytes } | MbarrierOp::Complete { bytes } => vec![bytes],
            MbarrierOp::Test { by, .. } => vec![by],
            MbarrierOp::Invalidate => Vec::new(),
        };
        for row in rows {
            if !frame.is_defined(row, 1 << lane) {
                return undefined(world, frame, row, "an mbarrier");
            }
        }
        if !matches!(op, MbarrierOp::Test { .. }) {
            world.changed();
        }
        let value = |row| frame.value(row, lane) as i64;
        if let MbarrierOp::Init { count } = op {
            let count = value(count);
            let fresh = Mbarrier { expected: count, pending: count, ..Mbarrier::default() };
            world.blocks[warp.block].mbarriers.insert(offset, fresh);
            continue;
        }
        let Some(mbarrier) = world.blocks[warp.block].mbarriers.get_mut(&offset) else {
            return halt("an mbarrier that is not initialised");
        };
        match op {
            MbarrierOp::Init { .. } => {}
            MbarrierOp::Invalidate => _ = world.blocks[warp.block].mbarriers.remove(&offset),
            MbarrierOp::Arrive { to, count, expected, drops } => {
                mbarrier.bytes += value(expected);
                if drops {
                    mbarrier.expected -= value(count);
                }
                let state = mbarrier.arrive(value(count), &warp.clocks);
                warp.tick();
                frame.set(to, function.rows[to.0 as usize].bits, lane, Some(state));
            }
            MbarrierOp::Expect { bytes } => mbarrier.bytes += value(bytes),
            MbarrierOp::Complete { bytes } => {
                mbarrier.bytes -= value(bytes);
                mbarrier.advance();
            }
            MbarrierOp::Test { to, by, bit } => {
                let parity = value(by) as u64 >> bit & 1;
                // Threads that test together count once.
                let is_first = lane == active.trailing_zeros() as usize;
                if is_first && mbarrier.phase & 1 == parity && mbarrier.waits_for_boxes() {
                    boxes_arrive(world, warp, frame, offset, lane, line)?;
                }
                let Some(mbarrier) = world.blocks[warp.block].mbarriers.get(&offset) else { continue };
                let is_over = mbarrier.phase & 1 != parity;
                if is_over {
                    let clocks = mbarrier.clocks;
                    warp.join(&clocks);
                    warp.tick();
                } else {
                    is_polling = true;
                }
                frame.set(to, function.rows[to.0 as usize].bits, lane, Some(is_over.into()));
            }
        }
    }
    Ok(if is_polling { Next::Yield } else { Next::Go })
}

/// Counts the arrival of each thread's copies at an mbarrier. The arrival of copies with [`Arrival::Counted`] is first
/// added to the expected count; otherwise, the expected count already includes the arrival.
pub(super) fn arrive_of_copies(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &Frame,
    address: Address,
    as_what: Arrival,
    active: u32,
) -> Ran<()> {
    for lane in lanes(active) {
        let offset = offset_of(world, frame, address, lane)?;
        if as_what == Arrival::Transaction {
            completed(world, warp, offset, 1)?;
            continue;
        }
        let mbarrier = at(world, warp, offset)?;
        if as_what == Arrival::Counted {
            mbarrier.pending += 1;
        }
        mbarrier.arrive(1, &warp.clocks);
        warp.tick();
        world.changed();
    }
    Ok(())
}

fn at<'w>(world: &'w mut World<'_, '_>, warp: &Warp, offset: u32) -> Ran<&'w mut Mbarrier> {
    match world.blocks[warp.block].mbarriers.get_mut(&offset) {
        Some(mbarrier) => Ok(mbarrier),
        None => halt("an mbarrier that is not initialised"),
    }
}

/// Counts bytes that a warp has sent.
pub(super) fn completed(world: &mut World<'_, '_>, warp: &mut Warp, offset: u32, bytes: i64) -> Ran<()> {
    let mbarrier = at(world, warp, offset)?;
    mbarrier.bytes -= bytes;
    mbarrier.arrive(0, &warp.clocks);
    warp.tick();
    world.changed();
    Ok(())
}

/// Adds a tensor box in transit.
pub(super) fn started(world: &mut World<'_, '_>, warp: &mut Warp, offset: u32, one: TensorBox) -> Ran<()> {
    let mbarrier = at(world, warp, offset)?;
    mbarrier.boxes.push(one);
    mbarrier.boxes.sort_by_key(|one| one.to);
    mbarrier.arrive(0, &warp.clocks);
    warp.tick();
    Ok(())
}

/// Counts a test of a phase that ends with tensor boxes. After enough tests, all threads have started their boxes, so
/// all boxes arrive.
fn boxes_arrive(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &Frame,
    offset: u32,
    lane: usize,
    line: u32,
) -> Ran<()> {
    world.changed();
    let mbarrier = at(world, warp, offset)?;
    mbarrier.asked += 1;
    if mbarrier.asked < OFTEN {
        return Ok(());
    }
    let (boxes, clocks) = (std::mem::take(&mut mbarrier.boxes), mbarrier.clocks);
    let bytes = u32::try_from(mbarrier.bytes).ok();
    let Some(sizes) = bytes.and_then(|bytes| tensor::sizes(&boxes, bytes)) else {
        return halt("tensor boxes whose sizes do not follow from the bytes that an mbarrier expects");
    };
    warp.join(&clocks);
    let by = Write { thread: warp.global_thread(world, lane), function: frame.function as u32, line, kind: Kind::F16 };
    for (one, bytes) in boxes.iter().zip(sizes) {
        span::moved(world, warp, lane, (Target::Shared(one.to), Target::Global(one.from)), bytes, by)?;
        completed(world, warp, offset, bytes.into())?;
    }
    Ok(())
}

/// The number of tests before tensor boxes arrive.
const OFTEN: u32 = 512;
