//! Bulk copies. The bytes arrive at once, and the mbarrier is updated at once.

use super::access::{beyond, noted, read, target, write};
use super::atomic::computed;
use super::frame::Frame;
use super::next::undefined;
use super::phase::TensorBox;
use super::place::Target;
use super::span::{UNIT, is_inside, moved};
use super::warp::{Warp, lanes};
use super::world::World;
use super::{Ran, halt, mbarrier, tensor};
use crate::emulate::bulk::{Bulk, BulkCopy};
use crate::emulate::layout;
use crate::emulate::memory::{Bytes, Write};
use crate::emulate::program::{AtomicOp, Row};
use crate::emulate::types::{Kind, Ty, low};

/// Executes a bulk copy of each thread, or of the first one.
pub(super) fn run(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &Frame,
    bulk: &Bulk,
    active: u32,
    line: u32,
) -> Ran<()> {
    let active = if bulk.is_of_warp { active & active.wrapping_neg() } else { active };
    if let Some(row) = bulk.rows().into_iter().find(|&row| !frame.is_defined(row, active)) {
        return undefined(world, frame, row, "a bulk copy");
    }
    for lane in lanes(active) {
        let by = Write {
            thread: warp.global_thread(world, lane),
            function: frame.function as u32,
            line,
            kind: Kind::default(),
        };
        match &bulk.copy {
            BulkCopy::ToShared { to, from, bytes, mbarrier } => {
                let bytes = size(frame, *bytes, lane)?;
                let (to, from) = (target(world, frame, *to, lane, UNIT)?, target(world, frame, *from, lane, UNIT)?);
                moved(world, warp, lane, (to, from), bytes, by)?;
                let at = mbarrier::offset_of(world, frame, *mbarrier, lane)?;
                mbarrier::completed(world, warp, at, bytes.into())?;
            }
            BulkCopy::ToGlobal { to, from, bytes, reduction } => {
                let bytes = size(frame, *bytes, lane)?;
                let (to, from) = (target(world, frame, *to, lane, UNIT)?, target(world, frame, *from, lane, UNIT)?);
                match reduction {
                    Some(reduction) => reduced(world, warp, lane, (to, from), bytes, *reduction, by)?,
                    None => moved(world, warp, lane, (to, from), bytes, by)?,
                }
            }
            BulkCopy::OfTensor { to, tensor, mbarrier } => {
                let Target::Shared(to) = target(world, frame, *to, lane, UNIT)? else {
                    return halt("a tensor copy to a destination outside shared memory");
                };
                let from = tensor::place(world, frame, tensor, lane);
                let at = mbarrier::offset_of(world, frame, *mbarrier, lane)?;
                mbarrier::started(world, warp, at, TensorBox { to, from })?;
            }
            BulkCopy::ToTensor { from, tensor, reduction } => {
                let from = target(world, frame, *from, lane, UNIT)?;
                let mut to = tensor::place(world, frame, tensor, lane);
                // The old contents of a reduction's destination are unknown, so its operand is stored at a separate
                // place.
                if let Some(op) = reduction {
                    to = tensor::place_of_reduction(to, *op);
                }
                moved(world, warp, lane, (Target::Global(to), from), UNIT, by)?;
            }
        }
        world.changed();
    }
    warp.tick();
    Ok(())
}

fn size(frame: &Frame, row: Row, lane: usize) -> Ran<u32> {
    let bytes = low(frame.value(row, lane), 32) as u32;
    if bytes.is_multiple_of(UNIT) && bytes <= layout::SHARED_END {
        Ok(bytes)
    } else {
        halt(format!("a bulk copy of {bytes} bytes"))
    }
}

/// Executes an atomic operation on each element of global memory.
fn reduced(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    lane: usize,
    (to, from): (Target, Target),
    bytes: u32,
    (op, ty): (AtomicOp, Ty),
    by: Write,
) -> Ran<()> {
    if !is_inside(world, to, bytes) || !is_inside(world, from, bytes) {
        return halt(format!("a bulk copy of {bytes} bytes beyond its memory"));
    }
    let (width, kind) = (ty.bytes(), Kind::of(ty));
    for number in 0..bytes / width {
        let (from, to) = (beyond(from, width * number), beyond(to, width * number));
        noted(world, warp, lane, from, width as usize, None, false)?;
        let given = read(world, warp, lane, from, width as usize, kind);
        noted(world, warp, lane, to, width as usize, Some(!given.value), true)?;
        let old = read(world, warp, lane, to, width as usize, kind.met());
        let (Some(given), Some(old)) = (given.known(), old.known()) else {
            return halt("an atomic operation on memory that is undefined");
        };
        let new = computed(op, ty, old, [given, 0]);
        write(world, warp, lane, to, width as usize, Bytes::whole(new), Write { kind, ..by });
    }
    Ok(())
}
