//! Boxes of tensors, whose maps nobody knows.
//!
//! A tensor's map has 128 bytes that NVIDIA does not document, and a kernel gets it from its caller. So a box is a piece of
//! global memory of its own, which follows from where the map lies and from the coordinates. Its size follows from
//! what the mbarrier expects: once all threads have arrived and wait, the bytes that are still to come are those of the boxes.

use super::frame::Frame;
use super::phase::TensorBox;
use super::span::UNIT;
use super::world::World;
use crate::emulate::bulk::Tensor;
use crate::emulate::layout;
use crate::emulate::program::AtomicOp;
use crate::emulate::types::mixed;

/// Where the box of a lane lies.
pub(super) fn place(world: &World<'_, '_>, frame: &Frame, tensor: &Tensor, lane: usize) -> u64 {
    let map = frame.value(tensor.map.base, lane).wrapping_add(tensor.map.offset as u64);
    let coordinates = tensor.coordinates.iter().map(|&row| frame.value(row, lane) & 0xffff_ffff);
    layout::tensor_box(coordinates.fold(mixed(name(world, map)), |hash, one| mixed(hash ^ one)))
}

/// What a map is called, whatever the file: a map that is a parameter lies elsewhere among the parameters of machine
/// code than among those of PTX.
fn name(world: &World<'_, '_>, map: u64) -> u64 {
    if !layout::in_window(map, layout::PARAMETERS) {
        return map;
    }
    let offset = map - layout::PARAMETERS;
    let kernel = world.program.functions[world.setting.kernel].kernel.as_ref();
    let parameters = kernel.map_or(&[][..], |kernel| kernel.parameters.as_slice());
    let found = parameters.iter().enumerate().find_map(|(number, parameter)| {
        let inside = offset.checked_sub(parameter.offset.into())?;
        (inside < u64::from(parameter.bytes)).then_some((number as u64, inside))
    });
    found.map_or(map, |(number, inside)| layout::PARAMETERS | number << 16 | inside)
}

/// Where a reduction's operand is kept.
pub(super) fn place_of_reduction(place: u64, op: AtomicOp) -> u64 {
    layout::tensor_box(mixed(place ^ (1 + op as u64)))
}

/// How many bytes each box has, of those that wait for so many together, in the order of their places in shared memory.
///
/// Boxes lie side by side, or all have the same size. None where neither can be.
pub(super) fn sizes(boxes: &[TensorBox], bytes: u32) -> Option<Vec<u32>> {
    let gaps: Vec<u32> = boxes.windows(2).map(|pair| pair[1].to - pair[0].to).collect();
    let side_by_side: u32 = gaps.iter().sum();
    let count = boxes.len() as u32;
    let share = bytes / count.max(1);
    if share * count == bytes && share.is_multiple_of(UNIT) && gaps.iter().all(|&gap| gap >= share) {
        return Some(vec![share; boxes.len()]);
    }
    let last = bytes.checked_sub(side_by_side).filter(|&last| last > 0)?;
    Some(gaps.into_iter().chain([last]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One box has all bytes; several have the same, or each as much as there is room for up to the next one.
    #[test]
    fn sizes_follow_from_all_bytes() {
        let boxes = |places: &[u32]| places.iter().map(|&to| TensorBox { to, from: 0 }).collect::<Vec<_>>();
        assert_eq!(sizes(&boxes(&[1024]), 4096), Some(vec![4096]));
        assert_eq!(sizes(&boxes(&[1024, 9216]), 4096), Some(vec![2048, 2048]));
        assert_eq!(sizes(&boxes(&[1024, 5120]), 12288), Some(vec![4096, 8192]));
        assert_eq!(sizes(&boxes(&[1024, 9216]), 9216), Some(vec![4608, 4608]));
        assert_eq!(sizes(&boxes(&[0, 16384]), 12008), None);
    }
}
