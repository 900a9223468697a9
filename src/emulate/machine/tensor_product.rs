//! `tcgen05.mma`: a matrix product with its result in tensor memory, by the descriptors of sm_100.

use super::access::{noted, read, write};
use super::frame::Frame;
use super::group::{Descriptor, matrix};
use super::matrix::float;
use super::next::undefined;
use super::tensor_memory::{place, word};
use super::warp::Warp;
use super::world::World;
use super::{Ran, halt};
use crate::emulate::memory::{Bytes, Origin, Write};
use crate::emulate::number::{F32, Rounding};
use crate::emulate::program::Row;
use crate::emulate::tensor::{Factor, Numbers, TensorMultiply};
use crate::emulate::types::{Kind, Ty, low, signed};

/// Contents of a product's instruction descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Product {
    rows: u32,
    columns: u32,
    left: Ty,
    right: Ty,
    is_negative: bool,
    saturates: bool,
    /// Whether the rows or columns of each factor are contiguous, instead of the summed dimension.
    order: [bool; 2],
}

/// Bits that are zero in all modelled products: sparsity and reserved bits.
const UNKNOWN: u32 = 0b111 | 1 << 6 | 1 << 23 | 0b111 << 29;

impl Product {
    fn new(numbers: Numbers, bits: u32) -> Option<Self> {
        let field = |from: u32, count: u32| bits >> from & ((1 << count) - 1);
        let ty = |from: u32| {
            Some(match (numbers, field(from, 3)) {
                (Numbers::Halves, 0) => Ty::F16,
                (Numbers::Halves, 1) => Ty::BF16,
                (Numbers::Words, 2) => Ty::TF32,
                (Numbers::Bytes, 0) => Ty::E4M3,
                (Numbers::Bytes, 1) => Ty::E5M2,
                (Numbers::Integers, 0) => Ty::Unsigned(8),
                (Numbers::Integers, 1) => Ty::Signed(8),
                _ => return None,
            })
        };
        let is_integer = numbers == Numbers::Integers;
        // Half-precision results are not modelled: their layout in tensor memory is not certain.
        let is_sum_known = field(4, 2) == if is_integer { 2 } else { 1 };
        let (rows, columns, signs) = (field(24, 5) << 4, field(17, 6) << 3, field(13, 2));
        let is_known = bits & UNKNOWN == 0
            && is_sum_known
            && (is_integer || field(3, 1) == 0)
            && !(is_integer && signs != 0)
            && matches!((rows, columns % 16), (64, _) | (128, 0))
            && (8..=256).contains(&columns);
        is_known.then_some(Self {
            rows,
            columns,
            left: ty(7)?,
            right: ty(10)?,
            is_negative: signs == 1 || signs == 2,
            saturates: field(3, 1) == 1,
            order: [field(15, 1) == 1, field(16, 1) == 1],
        })
    }

    /// Returns the lane of a row: of 64 rows, each quarter has 16.
    fn lane(self, row: u32) -> u32 {
        if self.rows == 128 { row } else { row % 16 + row / 16 * 32 }
    }
}

fn number(ty: Ty, bits: u64) -> f64 {
    match ty {
        Ty::Signed(8) => signed(bits, 8) as f64,
        Ty::Unsigned(8) => low(bits, 8) as f64,
        _ => float(ty, bits),
    }
}

fn defined(world: &World<'_, '_>, frame: &Frame, row: Row, lane: usize) -> Ran<u64> {
    if !frame.is_defined(row, 1 << lane) {
        return undefined(world, frame, row, "a matrix product");
    }
    Ok(frame.value(row, lane))
}

/// Executes a product that a thread starts.
pub(super) fn run(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &Frame,
    multiply: &TensorMultiply,
    lane: usize,
    line: u32,
) -> Ran<()> {
    let bits = defined(world, frame, multiply.descriptor, lane)? as u32;
    let Some(product) = Product::new(multiply.numbers, bits) else {
        return halt(format!("not modelled: a matrix product with the descriptor {bits:#010x}"));
    };
    let Product { rows, columns, .. } = product;
    let adds = defined(world, frame, multiply.adds, lane)? != 0;
    let depth = 256 / multiply.numbers.bits();
    let shared = |world: &mut World<'_, '_>, warp: &Warp, row, count, ty, order| {
        let Some(descriptor) = Descriptor::of_tensor(defined(world, frame, row, lane)?) else {
            return halt("not modelled: the layout of a shared-memory descriptor");
        };
        matrix(world, warp, lane, descriptor, (0, count, depth), (ty, order))
    };
    let a = match multiply.left {
        Factor::Shared(row) => shared(world, warp, row, rows, product.left, product.order[0])?,
        Factor::Tensor(address) => {
            if product.order[0] {
                return halt("a transposed factor in tensor memory");
            }
            // Numbers of less than a word share a column.
            let packed = 32 / multiply.numbers.bits();
            let (first, column) = place(world, warp, frame, address, (lane, depth / packed))?;
            let mut values = Vec::with_capacity((rows * depth) as usize);
            let mut is_whole = true;
            for row in 0..rows {
                let own = tensor_lane(first, product.lane(row))?;
                for i in 0..depth {
                    let at = word(own, column + i / packed);
                    noted(world, warp, lane, at, 4, None, false)?;
                    let value = read(world, warp, lane, at, 4, Kind::Bits);
                    is_whole &= value.known().is_some();
                    let width = multiply.numbers.bits();
                    values.push(number(product.left, low(value.value >> (i % packed * width), width)));
                }
            }
            is_whole.then_some(values)
        }
    };
    let b = shared(world, warp, multiply.right, columns, product.right, product.order[1])?;
    let (first, column) = place(world, warp, frame, multiply.to, (lane, columns))?;
    let nothing = Bytes { origin: Origin::shared(line), ..Bytes::undefined(4) };
    let is_integer = multiply.numbers == Numbers::Integers;
    let kind = if is_integer { Kind::Integer } else { Kind::F32 };
    for row in 0..rows {
        let own = tensor_lane(first, product.lane(row))?;
        for j in 0..columns {
            let at = word(own, column + j);
            let old = if adds {
                noted(world, warp, lane, at, 4, None, false)?;
                read(world, warp, lane, at, 4, kind)
            } else {
                Bytes::whole(0)
            };
            let value = match (&a, &b, old.known()) {
                (Some(a), Some(b), Some(old)) => {
                    let [left, right] = [(a, row), (b, j)]
                        .map(|(factor, number)| &factor[(number * depth) as usize..][..depth as usize]);
                    let sum: f64 = left.iter().zip(right).map(|(a, b)| a * b).sum();
                    let sum = if product.is_negative { -sum } else { sum };
                    Bytes::whole(total(old, sum, is_integer, product.saturates))
                }
                _ => nothing,
            };
            noted(world, warp, lane, at, 4, Some(value.value), false)?;
            let thread = warp.global_thread(world, lane);
            let by = Write { thread, function: frame.function as u32, line, kind };
            write(world, warp, lane, at, 4, value, by);
        }
    }
    Ok(())
}

fn tensor_lane(first: u32, lane: u32) -> Ran<u32> {
    if first + lane < crate::emulate::tensor::LANES {
        Ok(first + lane)
    } else {
        halt("a product beyond the lanes of tensor memory")
    }
}

/// Returns a word plus a sum of products.
fn total(old: u64, sum: f64, is_integer: bool, saturates: bool) -> u64 {
    if !is_integer {
        return F32.round(F32.value(old) + sum, Rounding::Nearest, false);
    }
    let total = signed(old, 32) + sum as i64;
    low(if saturates { total.clamp(i32::MIN.into(), i32::MAX.into()) } else { total } as u64, 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses the descriptor of 128 rows and columns of halves, with contiguous columns in the right factor. A
    /// descriptor with another bit is another product or is refused.
    #[test]
    fn descriptors() {
        let plain = 0x0821_0010;
        let product = Product::new(Numbers::Halves, plain).expect("it is known");
        assert_eq!((product.rows, product.columns, product.order), (128, 128, [false, true]));
        assert_eq!((product.left, product.right, product.is_negative), (Ty::F16, Ty::F16, false));
        for bit in 0..32 {
            let other = Product::new(Numbers::Halves, plain ^ 1 << bit);
            assert_ne!(other, Some(product), "bit {bit}");
        }
        assert_eq!(Product::new(Numbers::Words, plain), None);
        let lanes = Product { rows: 64, ..product };
        assert_eq!([lanes.lane(15), lanes.lane(16), lanes.lane(63)], [15, 32, 111]);
    }

    /// Integers wrap or saturate.
    #[test]
    fn integers() {
        let most = i32::MAX as u64;
        assert_eq!(total(most, 1.0, true, false), 1 << 31);
        assert_eq!(total(most, 1.0, true, true), most);
        assert_eq!(total(5, -6.0, true, false), 0xffff_ffff);
    }
}
