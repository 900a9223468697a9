//! `setmaxnreg`: warps return and take registers.

use super::next::Next;
use super::pool::Waiting;
use super::warp::{Warp, lanes};
use super::world::{Wake, World};
use crate::target::machine::Repartition;

/// Executes `setmaxnreg`. It does nothing if the number of registers is unknown.
pub(super) fn run(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    request: Repartition,
    (pc, line): (u32, u32),
    active: u32,
    mask: u32,
) -> Next {
    let number = usize::from(warp.number);
    let Some(pool) = &mut world.blocks[warp.block].pool else { return Next::Go };
    match request {
        Repartition::Decrease(count) => {
            if pool.takes(number, count) {
                world.changed();
                serve(world, warp.block);
            }
            Next::Go
        }
        Repartition::Increase(count) if pool.gives(number, count) => {
            world.changed();
            Next::Go
        }
        Repartition::Increase(count) => {
            pool.waiting.push(Waiting { warp: warp.index, number, lanes: active, count, line });
            lanes(mask).for_each(|lane| warp.pc[lane] = pc + 1);
            lanes(active).for_each(|lane| warp.pc[lane] = pc);
            warp.blocked |= active;
            Next::Pause
        }
    }
}

/// Resumes waiting threads whose registers are available, in the order of their requests.
fn serve(world: &mut World<'_, '_>, block: usize) {
    let Some(pool) = &mut world.blocks[block].pool else { return };
    for waiting in std::mem::take(&mut pool.waiting) {
        if pool.gives(waiting.number, waiting.count) {
            world.wakes.push(Wake { warp: waiting.warp, lanes: waiting.lanes, result: None, clocks: [0; 32] });
        } else {
            pool.waiting.push(waiting);
        }
    }
}
