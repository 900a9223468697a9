//! Matrices in a warp's registers, by the fragment layouts of the PTX ISA.

use super::access::{beyond, carry, noted, origin_of, read, target, write};
use super::frame::Frame;
use super::next::{origin, undefined};
use super::place::Target;
use super::warp::{Warp, lanes};
use super::world::World;
use super::{Ran, halt, partial};
use crate::emulate::memory::{Bytes, Origin, Write};
use crate::emulate::number::{BF16, E4M3, E5M2, F16, F32, Rounding, TF32};
use crate::emulate::program::{Address, CarriedKind, Multiply, Row, Tile, WarpOp};
use crate::emulate::types::{Kind, Ty, low, signed};

/// Executes an operation of all 32 threads.
pub(super) fn run(world: &mut World<'_, '_>, warp: &mut Warp, frame: &mut Frame, op: &WarpOp, line: u32) -> Ran<()> {
    match op {
        WarpOp::LoadMatrix { to, address, is_transposed, carried } => {
            load_matrices(world, warp, frame, (to, carried), *address, *is_transposed, line)
        }
        WarpOp::StoreMatrix { from, address, is_transposed, kinds } => {
            store_matrices(world, warp, frame, (from, kinds), *address, *is_transposed, line)
        }
        WarpOp::MoveMatrix { to, from } => {
            let values = frame.values[from.0 as usize];
            let element = |row: usize, column: usize| values[row * 4 + column / 2] >> (16 * (column & 1)) & 0xffff;
            let moved = std::array::from_fn(|lane| {
                let (row, column) = (lane / 4, lane % 4 * 2);
                element(column, row) | element(column + 1, row) << 16
            });
            let defined = if frame.is_defined(*from, u32::MAX) { u32::MAX } else { 0 };
            let origin = partial::origin_of(world, frame, &[*from], u32::MAX, line);
            frame.set_origin(*to, origin);
            frame.set_lanes(*to, 32, u32::MAX, &moved, defined);
            Ok(())
        }
        WarpOp::Multiply(multiply) => {
            multiplied(world, frame, multiply, line);
            Ok(())
        }
        WarpOp::LoadTile { to, address, stride, tile } => {
            tiles(world, warp, frame, to, *address, *stride, *tile, (true, line))
        }
        WarpOp::StoreTile { from, address, stride, tile } => {
            tiles(world, warp, frame, from, *address, *stride, *tile, (false, line))
        }
        _ => Ok(()),
    }
}

/// Lane `8 * m + i` has the address of row `i` of matrix `m`; each lane receives two neighbours of a row.
fn load_matrices(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    (to, carried): (&[Row], &[Option<CarriedKind>]),
    address: Address,
    is_transposed: bool,
    line: u32,
) -> Ran<()> {
    // The address register may be the destination of the first matrix.
    let mut matrices = Vec::with_capacity(to.len());
    let mut lane_accesses = world.lane_accesses(16);
    for (number, carried) in carried.iter().enumerate() {
        let mut elements = [[Bytes::whole(0); 8]; 8];
        for (index, elements) in elements.iter_mut().enumerate() {
            let lane = 8 * number + index;
            let place = target(world, frame, address, lane, 16)?;
            lane_accesses.add(lane, place);
            for pair in 0..4 {
                let place = beyond(place, 4 * pair as u32);
                noted(world, warp, lane, place, 4, None, false)?;
                let value = read(world, warp, lane, place, 4, Kind::F16);
                if let Some(carried) = *carried {
                    carry(world, warp, lane, place, 4, (frame.function, carried));
                }
                let value = Bytes { origin: origin_of(value, place, line), ..value };
                elements[2 * pair] = value.part(0, 2);
                elements[2 * pair + 1] = value.part(2, 2);
            }
        }
        matrices.push(elements);
    }
    world.traced(warp.index, &lane_accesses);
    for (&row, elements) in to.iter().zip(&matrices) {
        for lane in 0..32 {
            let (first, second) = (lane / 4, lane % 4 * 2);
            let pair = if is_transposed {
                [elements[second][first], elements[second + 1][first]]
            } else {
                [elements[first][second], elements[first][second + 1]]
            };
            frame.set_bytes(row, 32, lane, Bytes::joined(pair, 2));
        }
    }
    Ok(())
}

fn store_matrices(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    (from, kinds): (&[Row], &[Kind]),
    address: Address,
    is_transposed: bool,
    line: u32,
) -> Ran<()> {
    for (number, (&row, &kind)) in from.iter().zip(kinds).enumerate() {
        let element = |i: usize, j: usize| frame.bytes(row, 32, 4 * i + j / 2).part(2 * (j & 1), 2);
        for index in 0..8 {
            let lane = 8 * number + index;
            let place = target(world, frame, address, lane, 16)?;
            for pair in 0..4 {
                let at = |j: usize| if is_transposed { element(j, index) } else { element(index, j) };
                let value = Bytes::joined([at(2 * pair), at(2 * pair + 1)], 2);
                let place = beyond(place, 4 * pair as u32);
                noted(world, warp, lane, place, 4, Some(value.value), false)?;
                let thread = warp.global_thread(world, lane);
                let by = Write { thread, function: frame.function as u32, line, kind };
                write(world, warp, lane, place, 4, value, by);
            }
        }
    }
    Ok(())
}

/// Operand of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Left,
    Right,
    Sum,
}

/// Returns row and column of element `number` of a lane.
pub(super) fn place(part: Part, shape: [u32; 3], ty: Ty, lane: u32, number: u32) -> (u32, u32) {
    let (group, inside) = (lane / 4, lane % 4);
    if ty == Ty::F64 {
        return match part {
            Part::Left if shape[0] == 16 => (group + number % 2 * 8, inside + number / 2 * 4),
            Part::Left => (group, inside),
            Part::Right => (inside + number * 4, group),
            Part::Sum => (group + number / 2 * 8, 2 * inside + number % 2),
        };
    }
    // The number of elements in one register.
    let packed = 32 / ty.bits();
    let (register, within) = (number / packed, number % packed);
    match part {
        Part::Left => {
            let rows = if shape[0] == 16 { 2 } else { 1 };
            let row = group + 8 * (register % rows);
            (row, inside * packed + within + register / rows * 4 * packed)
        }
        Part::Right => (inside * packed + within + register * 4 * packed, group),
        Part::Sum => {
            let pair = number / 2;
            (group + 8 * pair, 2 * inside + number % 2)
        }
    }
}

/// Returns element `number` of a lane.
pub(super) fn element(frame: &Frame, rows: &[Row], ty: Ty, lane: usize, number: u32) -> u64 {
    let packed = (32 / ty.bits()).max(1);
    let value = frame.value(rows[(number / packed) as usize], lane);
    low(value >> (number % packed * ty.bits().min(32)), ty.bits())
}

pub(super) fn float(ty: Ty, bits: u64) -> f64 {
    match ty {
        Ty::F16 => F16.value(bits),
        Ty::BF16 => BF16.value(bits),
        // The low bits of a float are ignored.
        Ty::TF32 => TF32.value(bits & !0x1fff),
        Ty::F64 => f64::from_bits(bits),
        Ty::E4M3 => E4M3.value(bits),
        Ty::E5M2 => E5M2.value(bits),
        Ty::Signed(width) => signed(bits, width.into()) as f64,
        Ty::Unsigned(_) => bits as f64,
        _ => F32.value(bits),
    }
}

pub(super) fn rounded(ty: Ty, value: f64) -> u64 {
    match ty {
        Ty::F16 => F16.round(value, Rounding::Nearest, false),
        Ty::F64 => value.to_bits(),
        _ => F32.round(value, Rounding::Nearest, false),
    }
}

/// Gathers the elements of a matrix, in rows. `held` returns an element from the registers, the type, the lane and the
/// element's number in the lane. The layout is [`place`], or the layout of tiles.
fn gathered(multiply: &Multiply, part: Part, held: impl Fn(&[Row], Ty, usize, u32) -> u64) -> Vec<u64> {
    let Multiply { shape: [m, n, k], types, rows, is_tile, .. } = multiply;
    let (which, height, width) = match part {
        Part::Left => (1, *m, *k),
        Part::Right => (2, *k, *n),
        Part::Sum => (3, *m, *n),
    };
    let (rows, ty) = (&rows[which], types[which]);
    let size = height * width;
    let mut matrix = vec![0; size as usize];
    let count = if *is_tile { rows.len() as u32 * (32 / ty.bits()).max(1) } else { size.div_ceil(32) };
    for lane in 0..32 {
        for number in 0..count {
            let at = if *is_tile {
                (number * 32 + lane) % size
            } else {
                let (row, column) = place(part, multiply.shape, ty, lane, number);
                row * width + column
            };
            matrix[at as usize] = held(rows, ty, lane as usize, number);
        }
    }
    matrix
}

/// Returns for each element of a product whether it is defined: its row of the left factor, its column of the right
/// factor and its addend must be.
fn defined(frame: &Frame, multiply: &Multiply) -> Vec<bool> {
    let [m, n, k] = multiply.shape.map(|size| size as usize);
    let [left, right, sum] = [Part::Left, Part::Right, Part::Sum].map(|part| {
        gathered(multiply, part, |rows, ty, lane, number| {
            let packed = (32 / ty.bits()).max(1);
            frame.is_defined(rows[(number / packed) as usize], 1 << lane).into()
        })
    });
    let rows: Vec<bool> = (0..m).map(|row| (0..k).all(|i| left[row * k + i] == 1)).collect();
    let columns: Vec<bool> = (0..n).map(|column| (0..k).all(|i| right[i * n + column] == 1)).collect();
    (0..m * n).map(|at| rows[at / n] && columns[at % n] && sum[at] == 1).collect()
}

fn multiplied(world: &mut World<'_, '_>, frame: &mut Frame, multiply: &Multiply, line: u32) {
    let Multiply { shape, types, rows, is_tile, saturates } = multiply;
    let [m, n, k] = shape.map(|size| size as usize);
    let [to_ty, a_ty, b_ty, c_ty] = *types;
    let undefined = rows[1..].iter().flatten().find(|&&row| !frame.is_defined(row, u32::MAX));
    let from = undefined.map_or(Origin::default(), |&row| origin(world, frame, row).or(Origin::unset(line)));
    let defined = undefined.map(|_| defined(frame, multiply));
    let is_integer = a_ty.is_integer();
    let [a, b, c] = [Part::Left, Part::Right, Part::Sum]
        .map(|part| gathered(multiply, part, |rows, ty, lane, number| element(frame, rows, ty, lane, number)));
    let mut d = vec![0u64; m * n];
    for row in 0..m {
        for column in 0..n {
            let at = row * n + column;
            d[at] = if is_integer {
                let value = |ty: Ty, bits: u64| if ty.is_signed() { signed(bits, ty.bits()) } else { bits as i64 };
                let products = (0..k).map(|i| value(a_ty, a[row * k + i]) * value(b_ty, b[i * n + column]));
                let sum = products.sum::<i64>() + signed(c[at], 32);
                let sum = if *saturates { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
                low(sum as u64, 32)
            } else {
                let products = (0..k).map(|i| float(a_ty, a[row * k + i]) * float(b_ty, b[i * n + column]));
                rounded(to_ty, products.fold(float(c_ty, c[at]), |sum, product| sum + product))
            };
        }
    }
    let packed = (32 / to_ty.bits()).max(1);
    for lane in 0..32u32 {
        for (number, &row) in rows[0].iter().enumerate() {
            let part = |within: u32| {
                let number = number as u32 * packed + within;
                let at = if *is_tile {
                    (number * 32 + lane) as usize % (m * n)
                } else {
                    let (row, column) = place(Part::Sum, *shape, to_ty, lane, number);
                    row as usize * n + column as usize
                };
                let is_defined = defined.as_ref().is_none_or(|defined| defined[at]);
                is_defined.then(|| d[at] << (within * to_ty.bits().min(32) % 64))
            };
            let value = (0..packed).map(part).try_fold(0, |all, part| Some(all | part?));
            frame.set(row, if to_ty == Ty::F64 { 64 } else { 32 }, lane as usize, value);
            if value.is_none() {
                frame.set_origin(row, from);
            }
        }
    }
}

/// Executes a load or store of a `wmma` fragment.
#[expect(clippy::too_many_arguments, reason = "the threads, and all that a tile is")]
fn tiles(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    rows: &[Row],
    address: Address,
    stride: Row,
    tile: Tile,
    (is_load, line): (bool, u32),
) -> Ran<()> {
    let bytes = tile.ty.bits() / 8;
    let packed = (32 / tile.ty.bits()).max(1);
    let size = tile.rows * tile.columns;
    if !frame.is_defined(stride, u32::MAX) {
        return undefined(world, frame, stride, "a stride");
    }
    if !is_load && rows.len() as u32 * packed * 32 != size {
        return halt("a fragment that does not fill its tile");
    }
    for lane in lanes(u32::MAX) {
        let first = target(world, frame, address, lane, bytes)?;
        // The fragment may overwrite the stride's register.
        let stride = frame.value(stride, lane) as u32;
        for (number, &row) in rows.iter().enumerate() {
            let mut value = Some(0);
            for within in 0..packed {
                let at = ((number as u32 * packed + within) * 32 + lane as u32) % size;
                let (i, j) = (at / tile.columns, at % tile.columns);
                let offset = if tile.is_row_major { i * stride + j } else { j * stride + i };
                let place = beyond(first, offset * bytes);
                let kind = Kind::of(tile.ty);
                if is_load {
                    noted(world, warp, lane, place, bytes as usize, None, false)?;
                    let found = read(world, warp, lane, place, bytes as usize, kind);
                    let part = found.known();
                    if part.is_none() {
                        frame.set_origin(row, origin_of(found, place, line));
                    }
                    value = value.zip(part).map(|(all, part)| all | part << (within * tile.ty.bits() % 64));
                } else {
                    let is_defined = frame.is_defined(row, 1 << lane);
                    let part = low(frame.value(row, lane) >> (within * tile.ty.bits() % 64), tile.ty.bits());
                    if !is_defined && matches!(place, Target::Global(_)) {
                        return undefined(world, frame, row, "a stored value");
                    }
                    let none = Bytes { origin: origin(world, frame, row), ..Bytes::undefined(bytes as usize) };
                    let part = if is_defined { Bytes::whole(part) } else { none };
                    noted(world, warp, lane, place, bytes as usize, Some(part.value), false)?;
                    let thread = warp.global_thread(world, lane);
                    let by = Write { thread, function: frame.function as u32, line, kind };
                    write(world, warp, lane, place, bytes as usize, part, by);
                }
            }
            if is_load {
                frame.set(row, if tile.ty == Ty::F64 { 64 } else { 32 }, lane, value);
            }
        }
    }
    Ok(())
}
