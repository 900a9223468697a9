//! Acquire and release at places where threads meet.

use super::place::Target;
use super::warp::Warp;
use super::world::World;

/// Acquires the clocks that others released at a place, or releases the thread's own.
pub(super) fn meet(world: &mut World<'_, '_>, warp: &mut Warp, place: Target, acquires: bool, releases: bool) {
    let key = match place {
        Target::Global(at) => at,
        Target::Shared(offset) => (warp.block as u64) << 32 | u64::from(offset) | 1 << 63,
        Target::Local(_) => return,
    };
    let location = world.locations.entry(key).or_default();
    let block = &mut world.blocks[warp.block];
    let word = warp.block / 64;
    let is_own = location.block == warp.block as u32;
    if acquires {
        if block.met.len() < location.blocks.len() {
            block.met.resize(location.blocks.len(), 0);
        }
        block.met.iter_mut().zip(&location.blocks).for_each(|(own, other)| *own |= other);
        if is_own {
            warp.clocks.iter_mut().zip(&location.clocks).for_each(|(own, &other)| *own = (*own).max(other));
        }
    }
    if releases {
        let length = location.blocks.len().max(block.met.len()).max(word + 1);
        location.blocks.resize(length, 0);
        location.blocks.iter_mut().zip(&block.met).for_each(|(to, from)| *to |= from);
        location.blocks[word] |= 1 << (warp.block % 64);
        if !is_own {
            location.block = warp.block as u32;
            location.clocks = [0; 32];
        }
        location.clocks.iter_mut().zip(&warp.clocks).for_each(|(to, &from)| *to = (*to).max(from));
        warp.tick();
    }
}
