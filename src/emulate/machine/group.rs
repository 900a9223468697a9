//! `wgmma`: a warp's rows of a product. Descriptors give the layout of the factors in shared memory.

use super::access::{noted, read};
use super::frame::Frame;
use super::matrix::{Part, element, float, place, rounded};
use super::next::undefined;
use super::place::Target;
use super::warp::Warp;
use super::world::World;
use super::{Ran, halt, partial};
use crate::emulate::layout;
use crate::emulate::memory::{Bytes, Origin};
use crate::emulate::program::{GroupMultiply, LeftFactor};
use crate::emulate::types::{Kind, Ty, low, signed};

/// Layout of a matrix in shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptor {
    start: u32,
    leading: u32,
    stride: u32,
    /// Bytes of a row of the swizzled pattern; 16 without swizzling.
    width: u32,
}

impl Descriptor {
    fn new(bits: u64) -> Option<Self> {
        let field = |shift: u32| ((bits >> shift & 0x3fff) << 4) as u32;
        let width = [16, 128, 64, 32][(bits >> 62) as usize];
        (bits >> 49 & 7 == 0).then_some(Self { start: field(0), leading: field(16), stride: field(32), width })
    }

    /// Parses the descriptor of a product in tensor memory, which has another version and other numbers for the
    /// pattern. `None` for 32-byte swizzling in rows of 128 bytes, and for absolute distances: these are not modelled.
    pub(super) fn of_tensor(bits: u64) -> Option<Self> {
        let mode = match bits >> 61 {
            0 => 0,
            2 => 1,
            4 => 2,
            6 => 3,
            _ => return None,
        };
        let is_known = bits >> 46 & 0x7fff == 1 && bits & 0xc000_c000 == 0;
        is_known.then(|| Self::new(bits & ((1 << 46) - 1) | mode << 62))?
    }

    /// Returns the offset of an element by its index along the rows or columns (`outer`) and along the sum (`depth`).
    fn address(self, outer: u32, depth: u32, bytes: u32, is_transposed: bool) -> u32 {
        let Self { start, leading, stride, width } = self;
        if width == 16 {
            return if is_transposed {
                let along = outer * bytes;
                start + along / 16 * stride + depth / 8 * leading + depth % 8 * 16 + along % 16
            } else {
                let along = depth * bytes;
                start + outer / 8 * stride + along / 16 * leading + outer % 8 * 16 + along % 16
            };
        }
        let plain = if is_transposed {
            let along = outer * bytes;
            start + along / width * leading + depth / 8 * stride + depth % 8 * width + along % width
        } else {
            start + outer / 8 * stride + outer % 8 * width + depth * bytes
        };
        // The row number permutes the 16-byte parts of a row.
        plain ^ (plain >> 7 & (width / 16 - 1)) << 4
    }
}

/// Reads a matrix of `count` rows or columns from shared memory. `None` if a part was not written.
pub(super) fn matrix(
    world: &mut World<'_, '_>,
    warp: &Warp,
    lane: usize,
    descriptor: Descriptor,
    (first, count, depth): (u32, u32, u32),
    (ty, is_transposed): (Ty, bool),
) -> Ran<Option<Vec<f64>>> {
    let bytes = ty.bits() / 8;
    let mut values = Vec::with_capacity((count * depth) as usize);
    let mut is_whole = true;
    for outer in first..first + count {
        for inner in 0..depth {
            let offset = descriptor.address(outer, inner, bytes, is_transposed);
            if offset + bytes > layout::SHARED_END {
                return halt("a descriptor beyond shared memory");
            }
            let target = Target::Shared(offset);
            noted(world, warp, lane, target, bytes as usize, None, false)?;
            let value = read(world, warp, lane, target, bytes as usize, Kind::Bits);
            is_whole &= value.known().is_some();
            values.push(match ty {
                Ty::Signed(_) => signed(value.value, bytes * 8) as f64,
                Ty::Unsigned(_) => value.value as f64,
                _ => float(ty, value.value),
            });
        }
    }
    Ok(is_whole.then_some(values))
}

fn described(bits: u64) -> Ran<Descriptor> {
    Descriptor::new(bits).map_or_else(|| halt("a descriptor with a base offset"), Ok)
}

/// Executes a warp's part of a product.
pub(super) fn run(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    multiply: &GroupMultiply,
    line: u32,
) -> Ran<()> {
    let GroupMultiply { columns, depth, types: [to_ty, a_ty, b_ty], to, left, right, adds, .. } = multiply;
    let (columns, depth, all) = (*columns, *depth, u32::MAX);
    for row in [*right, *adds] {
        if !frame.is_defined(row, all) {
            return undefined(world, frame, row, "a matrix product");
        }
    }
    let first_row = u32::from(warp.number) % 4 * 16;
    let a = match left {
        LeftFactor::Shared(row) => {
            if !frame.is_defined(*row, all) {
                return undefined(world, frame, *row, "a matrix product");
            }
            let descriptor = described(frame.value(*row, 0))?;
            matrix(world, warp, 0, descriptor, (first_row, 16, depth), (*a_ty, multiply.order[0]))?
        }
        LeftFactor::Registers(rows) if rows.iter().all(|&row| frame.is_defined(row, all)) => {
            let mut values = vec![0.0; 16 * depth as usize];
            for lane in 0..32u32 {
                for number in 0..16 * depth / 32 {
                    let (row, column) = place(Part::Left, [16, 8, depth], *a_ty, lane, number);
                    let bits = element(frame, rows, *a_ty, lane as usize, number);
                    values[(row * depth + column) as usize] = float(*a_ty, bits);
                }
            }
            Some(values)
        }
        LeftFactor::Registers(_) => None,
    };
    let descriptor = described(frame.value(*right, 0))?;
    let b = matrix(world, warp, 0, descriptor, (0, columns, depth), (*b_ty, multiply.order[1]))?;
    let Some((a, b)) = a.zip(b) else {
        // The factor's registers are partly undefined, or the factor is in uninitialised shared memory.
        let of_left = match left {
            LeftFactor::Registers(rows) => partial::origin_of(world, frame, rows, all, line),
            LeftFactor::Shared(_) => Origin::default(),
        };
        let none = Bytes { origin: of_left.or(Origin::shared(line)), ..Bytes::undefined(4) };
        to.iter().for_each(|&row| (0..32).for_each(|lane| frame.set_bytes(row, 32, lane, none)));
        return Ok(());
    };
    let adds = frame.value(*adds, 0) != 0;
    if adds && let Some(&row) = to.iter().find(|&&row| !frame.is_defined(row, all)) {
        return undefined(world, frame, row, "a matrix product");
    }
    let packed = 32 / to_ty.bits();
    for lane in 0..32u32 {
        for (number, &register) in to.iter().enumerate() {
            let mut value = 0;
            for within in 0..packed {
                let number = number as u32 * packed + within;
                // Each lane has four values for each eight columns.
                let (row, column) = place(Part::Sum, [16, 8, depth], *to_ty, lane, number % 4);
                let column = column + number / 4 * 8;
                let products = (0..depth).map(|i| a[(row * depth + i) as usize] * b[(column * depth + i) as usize]);
                let sum: f64 = products.sum();
                let old = if adds { float(*to_ty, element(frame, to, *to_ty, lane as usize, number)) } else { 0.0 };
                let total = old + if multiply.is_negative { -sum } else { sum };
                value |= of_sum(*to_ty, total, multiply.saturates) << (within * to_ty.bits());
            }
            frame.set(register, 32, lane as usize, Some(value));
        }
    }
    Ok(())
}

/// Returns the bits of a sum. Integer sums are exact in doubles, and wrap unless they saturate.
fn of_sum(ty: Ty, sum: f64, saturates: bool) -> u64 {
    if !ty.is_integer() {
        return rounded(ty, sum);
    }
    let sum = sum as i64;
    let sum = if saturates { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
    low(sum as u64, 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each layout maps the elements of a tile to distinct offsets, with 16 bytes together, as in the ISA's figures.
    #[test]
    fn places() {
        let descriptor = |width: u64, leading: u64, stride: u64| {
            let mode = [16, 128, 64, 32].iter().position(|&one| one == width).expect("a width") as u64;
            Descriptor::new(mode << 62 | stride >> 4 << 32 | leading >> 4 << 16 | 1024 >> 4).expect("a descriptor")
        };
        for (width, leading, stride, is_transposed) in [
            (16, 128, 256, false),
            (32, 0, 256, false),
            (64, 0, 512, false),
            (128, 0, 1024, false),
            (128, 2048, 1024, true),
        ] {
            let descriptor = descriptor(width, leading, stride);
            let mut seen = std::collections::BTreeSet::new();
            for outer in 0..64 {
                for depth in 0..16 {
                    let at = descriptor.address(outer, depth, 2, is_transposed);
                    assert!(seen.insert(at) && at >= 1024 && at % 2 == 0, "{width} {outer} {depth}");
                    let (next_outer, next_depth) = if is_transposed { (outer + 1, depth) } else { (outer, depth + 1) };
                    let is_inside = if is_transposed { next_outer % 8 != 0 } else { next_depth % 8 != 0 };
                    if is_inside {
                        assert_eq!(descriptor.address(next_outer, next_depth, 2, is_transposed), at + 2);
                    }
                }
            }
        }
        // sm_100 descriptors have a version, and other numbers, here for a pattern of 64 bytes.
        let bits = 4 << 61 | 1 << 46 | 512 >> 4 << 32 | 1024 >> 4;
        let tensor = Descriptor::of_tensor(bits).expect("a descriptor");
        assert_eq!((tensor.start, tensor.stride, tensor.width), (1024, 512, 64));
        for other in [bits ^ 1 << 46, bits ^ 1 << 49, bits ^ 1 << 52, bits ^ 1 << 61, bits ^ 1 << 53] {
            assert!(Descriptor::of_tensor(other).is_none(), "{other:x}");
        }
        // Row 1 of 128 bytes begins with the part that is second without swizzling.
        assert_eq!(descriptor(128, 0, 1024).address(1, 0, 2, false), 1024 + 128 + 16);
        assert_eq!(descriptor(128, 0, 1024).address(7, 8, 2, false), 1024 + 7 * 128 + (1 ^ 7) * 16);
    }
}
