//! Atomic operations, and the synchronisation that they carry between threads.

use super::Ran;
use super::access::{beyond, noted, origin_of, read, target, write};
use super::frame::Frame;
use super::meeting::meet;
use super::next::undefined;
use super::warp::{Warp, lanes};
use super::world::World;
use crate::emulate::memory::{Bytes, Write};
use crate::emulate::number::{BF16, F16, F32, Format, Rounding, add};
use crate::emulate::program::{Address, AtomicOp, Row, SINK};
use crate::emulate::types::{Kind, Ty, low, signed};

/// An atomic operation.
pub(super) struct Atomic {
    pub(super) address: Address,
    pub(super) op: AtomicOp,
    pub(super) ty: Ty,
    pub(super) to: Row,
    pub(super) from: [Row; 2],
    pub(super) kind: Kind,
}

/// Executes the operation, lane by lane.
pub(super) fn run(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    atomic: &Atomic,
    active: u32,
    (pc, line): (u32, u32),
) -> Ran<()> {
    let bits = atomic.ty.bits();
    let bytes = bits / 8;
    let function = world.function(frame.function);
    let result_bits = function.rows[atomic.to.0 as usize].bits;
    if atomic.to != SINK {
        world.outcome.depends_on_order = true;
    }
    let mut lane_accesses = world.lane_accesses(bytes);
    for lane in lanes(active) {
        let place = target(world, frame, atomic.address, lane, bytes)?;
        lane_accesses.add(lane, place);
        for row in atomic.from {
            if !frame.is_defined(row, 1 << lane) {
                return undefined(world, frame, row, "an atomic operation");
            }
        }
        let given = atomic.from.map(|row| low(frame.value(row, lane), bits));
        let kind = Kind::of(atomic.ty);
        let is_word = world.program.is_machine_code && atomic.op == AtomicOp::CompareAndSwap;
        if !is_word {
            noted(world, warp, lane, place, bytes as usize, Some(!given[0]), true)?;
        }
        let found = read(world, warp, lane, place, bytes as usize, kind.met());
        let Some(old) = found.known() else {
            let source = origin_of(found, place, line).text(&world.specials);
            return super::halt(format!("an atomic operation on memory that is undefined: {source}"));
        };
        let new = computed(atomic.op, atomic.ty, old, given);
        // ptxas exchanges the whole word to change one half. Only the half that changes counts as accessed.
        for half in (0..bytes / 2).filter(|_| is_word) {
            let [old, new] = [old, new].map(|value| low(value >> (16 * half), 16));
            if old != new {
                noted(world, warp, lane, beyond(place, 2 * half), 2, Some(new), true)?;
            }
        }
        let kind = kind.max(atomic.kind);
        let thread = warp.global_thread(world, lane);
        let by = Write { thread, function: frame.function as u32, line, kind };
        write(world, warp, lane, place, bytes as usize, Bytes::whole(new), by);
        frame.set(atomic.to, result_bits, lane, Some(old));
        meet(world, warp, place, true, true);
    }
    world.record_traffic(warp.index, (frame.function, pc), &lane_accesses);
    Ok(())
}

fn halves(format: Format, old: u64, given: u64) -> u64 {
    format.round(add(format.value(old), format.value(given), Rounding::Nearest), Rounding::Nearest, false)
}

/// Returns the new value of a place.
pub(super) fn computed(op: AtomicOp, ty: Ty, old: u64, given: [u64; 2]) -> u64 {
    let bits = ty.bits();
    let value = given[0];
    let is_less = if ty.is_signed() { signed(value, bits) < signed(old, bits) } else { value < old };
    match (op, ty) {
        (AtomicOp::Add, Ty::F32) => halves(F32, old, value),
        (AtomicOp::Add, Ty::F64) => (f64::from_bits(old) + f64::from_bits(value)).to_bits(),
        (AtomicOp::Add, Ty::F16) => halves(F16, old, value),
        (AtomicOp::Add, Ty::BF16) => halves(BF16, old, value),
        (AtomicOp::Add, Ty::F16x2 | Ty::BF16x2) => {
            let format = if ty == Ty::F16x2 { F16 } else { BF16 };
            halves(format, old & 0xffff, value & 0xffff) | halves(format, old >> 16, value >> 16) << 16
        }
        (AtomicOp::Add, _) => low(old.wrapping_add(value), bits),
        (AtomicOp::Min, _) => {
            if is_less {
                value
            } else {
                old
            }
        }
        (AtomicOp::Max, _) => {
            if is_less {
                old
            } else {
                value
            }
        }
        (AtomicOp::And, _) => old & value,
        (AtomicOp::Or, _) => old | value,
        (AtomicOp::Xor, _) => old ^ value,
        (AtomicOp::Exchange, _) => value,
        (AtomicOp::CompareAndSwap, _) => {
            if old == value {
                given[1]
            } else {
                old
            }
        }
        (AtomicOp::Increment, _) => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        (AtomicOp::Decrement, _) => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
    }
}
