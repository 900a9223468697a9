//! Barriers of a block.

use super::block::Waiting;
use super::frame::Frame;
use super::next::{Next, undefined};
use super::warp::{Warp, lanes};
use super::world::{Wake, World};
use super::{Ran, halt};
use crate::emulate::program::{BarrierMode, Op};

/// Executes the arrival of threads at a barrier.
#[expect(clippy::too_many_arguments, reason = "the threads, where they are, and what they do")]
pub(super) fn run(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &Frame,
    frame_number: u32,
    op: &Op,
    pc: u32,
    active: u32,
    mask: u32,
) -> Ran<Next> {
    let Op::Barrier { mode, id, count, to, predicate, negated } = op else { return Ok(Next::Go) };
    for row in [Some(*id), *count, Some(*predicate)].into_iter().flatten() {
        if !frame.is_defined(row, active) {
            return undefined(world, frame, row, "a barrier");
        }
    }
    let first = active.trailing_zeros() as usize;
    let number = frame.value(*id, first) as usize;
    if lanes(active).any(|lane| frame.value(*id, lane) as usize != number) {
        return halt("threads of a warp arrive at several barriers at once");
    }
    let count = count.map(|row| frame.value(row, first) as u32);
    let number_of_warp = usize::from(warp.number);
    let Some(barrier) = world.blocks[warp.block].barriers.get_mut(number) else { return halt("the barrier's number") };
    barrier.count = count.or(barrier.count);
    barrier.arrived[number_of_warp] |= active;
    let is_true = if *negated { !frame.nonzero(*predicate) } else { frame.nonzero(*predicate) };
    let waits = *mode != BarrierMode::Arrive;
    if waits {
        barrier.mode = Some(*mode);
        barrier.is_true += (is_true & active).count_ones();
        barrier.votes += active.count_ones();
        let result =
            matches!(mode, BarrierMode::And | BarrierMode::Or | BarrierMode::Count).then_some((frame_number, to.0));
        barrier.waiting.push(Waiting { warp: warp.index, lanes: active, result });
    }
    barrier.clocks.iter_mut().zip(&warp.clocks).for_each(|(to, &from)| *to = (*to).max(from));
    warp.tick();
    world.changed();
    lanes(mask & !active).for_each(|lane| warp.pc[lane] = pc + 1);
    if waits {
        warp.blocked |= active;
        lanes(active).for_each(|lane| warp.pc[lane] = pc);
    } else {
        lanes(active).for_each(|lane| warp.pc[lane] = pc + 1);
    }
    check(world, warp.block, number);
    Ok(if waits { Next::Pause } else { Next::Placed })
}

/// Releases the threads of a barrier if all have arrived.
fn check(world: &mut World<'_, '_>, block_number: usize, number: usize) {
    let block = &mut world.blocks[block_number];
    let barrier = &mut block.barriers[number];
    let is_complete = match barrier.count {
        // A warp counts completely once all its threads have arrived.
        Some(count) => {
            let arrived = barrier.arrived.iter().zip(&block.live);
            let counted = arrived.map(
                |(&arrived, &live)| {
                    if arrived != 0 && arrived & live == live { 32 } else { arrived.count_ones() }
                },
            );
            counted.sum::<u32>() >= count
        }
        None => barrier.arrived.iter().zip(&block.live).all(|(&arrived, &live)| live & !arrived == 0),
    };
    if !is_complete || barrier.arrived == [0; 32] {
        return;
    }
    let barrier = std::mem::take(barrier);
    let value = match barrier.mode {
        Some(BarrierMode::And) => u64::from(barrier.is_true == barrier.votes),
        Some(BarrierMode::Or) => u64::from(barrier.is_true > 0),
        _ => barrier.is_true.into(),
    };
    for waiting in barrier.waiting {
        let result = waiting.result.map(|(frame, row)| (frame, row, value));
        world.wakes.push(Wake { warp: waiting.warp, lanes: waiting.lanes, result, clocks: barrier.clocks });
    }
}

/// Checks all barriers of a block after threads have ended: ended threads are not awaited.
pub(super) fn check_all(world: &mut World<'_, '_>, block: usize) {
    for number in 0..world.blocks[block].barriers.len() {
        if !world.blocks[block].barriers[number].waiting.is_empty() {
            check(world, block, number);
        }
    }
}
