//! mbarriers: barriers in shared memory that count threads and bytes.

use super::access::target;
use super::frame::Frame;
use super::next::{Next, undefined};
use super::phase::Mbarrier;
use super::place::Target;
use super::warp::{Warp, lanes};
use super::world::World;
use super::{Ran, halt};
use crate::emulate::program::{Address, MbarrierOp};

fn offset_of(world: &World<'_, '_>, frame: &Frame, address: Address, lane: usize) -> Ran<u32> {
    match target(world, frame, address, lane, 8)? {
        Target::Shared(offset) => Ok(offset),
        _ => halt("an mbarrier that is not in shared memory"),
    }
}

/// Runs an operation on an mbarrier, lane by lane.
pub(super) fn run(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    address: Address,
    op: MbarrierOp,
    active: u32,
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
            MbarrierOp::Test { to, by, is_parity } => {
                let phase = mbarrier.phase;
                let by = value(by) as u64;
                let is_over = if is_parity { phase & 1 != by & 1 } else { phase > by };
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

/// Copies of threads have arrived. Unless they count, the threads' own arrivals were planned for already.
pub(super) fn arrive_of_copies(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &Frame,
    address: Address,
    counts: bool,
    active: u32,
) -> Ran<()> {
    for lane in lanes(active) {
        let offset = offset_of(world, frame, address, lane)?;
        let Some(mbarrier) = world.blocks[warp.block].mbarriers.get_mut(&offset) else {
            return halt("an mbarrier that is not initialised");
        };
        if counts {
            mbarrier.pending += 1;
        }
        mbarrier.arrive(1, &warp.clocks);
        warp.tick();
        world.changed();
    }
    Ok(())
}
