//! Boxes of tensors with unknown maps.
//!
//! A tensor map has 128 bytes in a format that NVIDIA does not document, and a kernel receives it from its caller. A
//! box is therefore modelled as a separate part of global memory. Its address is computed from the address of the map
//! and from the coordinates. Its size is computed from the bytes that the mbarrier expects: once all threads have
//! arrived and wait, the missing bytes are those of the boxes.

use super::frame::Frame;
use super::phase::TensorBox;
use super::span::UNIT;
use super::world::World;
use crate::emulate::bulk::Tensor;
use crate::emulate::layout;
use crate::emulate::program::AtomicOp;
use crate::emulate::types::mixed;

/// Returns the address of a lane's box.
pub(super) fn place(world: &World<'_, '_>, frame: &Frame, tensor: &Tensor, lane: usize) -> u64 {
    let map = frame.value(tensor.map.base, lane).wrapping_add(tensor.map.offset as u64);
    let coordinates = tensor.coordinates.iter().map(|&row| frame.value(row, lane) & 0xffff_ffff);
    layout::tensor_box(coordinates.fold(mixed(name(world, map)), |hash, one| mixed(hash ^ one)))
}

/// Returns a name of a map that is the same in all programs. A map that is a parameter has different addresses in
/// machine code and in PTX.
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

/// Returns the address at which a reduction's operand is stored.
pub(super) fn place_of_reduction(place: u64, op: AtomicOp) -> u64 {
    layout::tensor_box(mixed(place ^ (1 + op as u64)))
}

/// Returns the bytes of each box, for boxes that together have `bytes` bytes, in the order of their addresses in shared
/// memory.
///
/// The boxes are contiguous, or all have the same size. `None` if neither is possible.
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

    /// One box has all bytes. Several boxes have equal sizes, or each extends to the next one.
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
