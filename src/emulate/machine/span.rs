//! Contiguous bytes, copied word by word.

use super::access::{beyond, noted, origin_of, read, write};
use super::place::Target;
use super::warp::Warp;
use super::world::World;
use super::{Ran, halt};
use crate::emulate::memory::{Bytes, Write};
use crate::emulate::types::Kind;

/// Alignment of addresses and sizes.
pub(super) const UNIT: u32 = 16;

/// Whether all bytes of a span are in the same memory as the first byte.
pub(super) fn is_inside(world: &World<'_, '_>, place: Target, bytes: u32) -> bool {
    match place {
        Target::Shared(offset) => offset.saturating_add(bytes) <= world.program.shared_end,
        Target::Global(at) => !world.is_beyond_variables(at, bytes),
        Target::Local(_) => false,
    }
}

/// Copies bytes. Some of them may be undefined.
pub(super) fn moved(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    lane: usize,
    (to, from): (Target, Target),
    bytes: u32,
    by: Write,
) -> Ran<()> {
    if !is_inside(world, to, bytes) || !is_inside(world, from, bytes) {
        return halt(format!("a bulk copy of {bytes} bytes beyond its memory"));
    }
    for word in 0..bytes / 4 {
        let (from, to) = (beyond(from, 4 * word), beyond(to, 4 * word));
        noted(world, warp, lane, from, 4, None, false)?;
        let value = read(world, warp, lane, from, 4, Kind::F16);
        let value = Bytes { origin: origin_of(value, from, by.line), ..value };
        let kind = match from {
            Target::Shared(offset) => world.blocks[warp.block].shared.kind(offset as usize, 4),
            _ => by.kind,
        };
        noted(world, warp, lane, to, 4, Some(value.value), false)?;
        write(world, warp, lane, to, 4, value, Write { kind, ..by });
    }
    Ok(())
}
