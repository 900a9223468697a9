//! The registers of a block, which its warps give back and take by `setmaxnreg`.

use super::next::Next;
use super::warp::{Warp, lanes};
use super::world::{Wake, World};
use crate::target::machine::{Repartition, WARP_SIZE};

/// Registers come in pieces of so many for each thread.
const PIECE: u32 = 8;

/// Threads of a warp that wait for so many registers each.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    warp: usize,
    number: usize,
    lanes: u32,
    count: u32,
    line: u32,
}

/// The registers of a block.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    /// How many each thread has at entry.
    entry: u32,
    /// How many each thread of a warp has, by the warp's number.
    held: Vec<u32>,
    /// How many no warp has.
    free: u32,
    waiting: Vec<Waiting>,
}

impl Pool {
    /// The registers of a block of so many warps, each of whose threads has so many.
    pub(super) fn new(entry: u32, warps: usize) -> Self {
        Self { entry, held: vec![entry.next_multiple_of(PIECE); warps], free: 0, waiting: Vec::new() }
    }

    /// Gives each thread of a warp so many, if they are there.
    fn gives(&mut self, number: usize, count: u32) -> bool {
        let missing = count.saturating_sub(self.held[number]) * WARP_SIZE;
        let is_there = missing <= self.free;
        if is_there && missing > 0 {
            self.free -= missing;
            self.held[number] = count;
        }
        is_there
    }

    /// Takes from each thread of a warp what it has beyond so many. Returns whether there is anything.
    fn takes(&mut self, number: usize, count: u32) -> bool {
        let spare = self.held[number].saturating_sub(count);
        self.free += spare * WARP_SIZE;
        self.held[number] -= spare;
        spare > 0
    }

    /// Why a thread waits, if one does.
    pub(super) fn reason(&self) -> Option<String> {
        let Self { entry, held, free, .. } = self;
        let Waiting { number, count, line, .. } = *self.waiting.first()?;
        let (threads, missing) = (held.len() as u32 * WARP_SIZE, (count - held[number]) * WARP_SIZE);
        Some(format!(
            "setmaxnreg.inc in line {line} waits for {count} registers for each thread: warp {number} lacks {missing}, and \
             {free} of the block's {threads} times {entry} registers are free"
        ))
    }
}

/// Threads of a warp run `setmaxnreg`. Where nothing says how many registers they have, it does nothing.
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

/// Lets threads go on whose registers are there, in the order in which they came.
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
