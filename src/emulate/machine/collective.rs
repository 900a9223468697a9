//! Collective operations of a warp: threads wait until all participants have arrived.

use super::frame::Frame;
use super::next::{Next, undefined};
use super::warp::{Warp, lanes};
use super::world::World;
use super::{Ran, group, halt, matrix, partial, tensor_memory};
use crate::emulate::memory::{Bytes, Origin};
use crate::emulate::program::{Inst, Op, Reduction, Row, ShuffleMode, Vote, WarpOp};
use crate::emulate::types::{Ty, low, signed};

/// Executes the arrival of threads at a collective operation. The operation runs once all participants have arrived.
#[expect(clippy::too_many_arguments, reason = "the threads, where they are, and what they do")]
pub(super) fn run(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    frame_number: u32,
    (op, row, line): (&WarpOp, Row, u32),
    pc: u32,
    active: u32,
    mask: u32,
) -> Ran<Next> {
    if !frame.is_defined(row, active) {
        return undefined(world, frame, row, "a thread mask");
    }
    let first = active.trailing_zeros() as usize;
    let wanted = frame.value(row, first) as u32;
    if lanes(active).any(|lane| frame.value(row, lane) as u32 >> lane & 1 == 0) {
        return halt("a thread is not in its own thread mask");
    }
    let same = lanes(active).filter(|&lane| frame.value(row, lane) as u32 == wanted);
    let same = same.fold(0u32, |mask, lane| mask | 1 << lane);
    let waiting = lanes(warp.gathering).filter(|&lane| (warp.frame[lane], warp.pc[lane]) == (frame_number, pc));
    let waiting = waiting.fold(0u32, |mask, lane| mask | 1 << lane);
    let needed = wanted & warp.live;
    if needed == active && active == mask {
        act(world, warp, frame, op, needed, line)?;
        warp.tick();
        return Ok(Next::Go);
    }
    // Threads whose guard does not hold continue.
    lanes(mask & !active).for_each(|lane| warp.pc[lane] = pc + 1);
    lanes(active).for_each(|lane| warp.pc[lane] = pc);
    if needed & !(same | waiting) == 0 {
        act(world, warp, frame, op, needed, line)?;
        warp.tick();
        lanes(needed).for_each(|lane| warp.pc[lane] = pc + 1);
        warp.blocked &= !needed;
        warp.gathering &= !needed;
        return Ok(Next::Placed);
    }
    warp.blocked |= same;
    warp.gathering |= same;
    lanes(same).for_each(|lane| warp.wanted[lane] = wanted);
    Ok(Next::Placed)
}

/// Runs waiting operations again after threads have ended, if no participant is missing.
pub(super) fn retry(world: &mut World<'_, '_>, warp: &mut Warp) -> Ran<bool> {
    for lane in lanes(warp.gathering) {
        let (number, pc) = (warp.frame[lane], warp.pc[lane]);
        let Some(mut frame) = warp.frames[number as usize].take() else { continue };
        let Inst { op, line, .. } = &world.function(frame.function).insts[pc as usize];
        let mut has_run = false;
        if let Op::Warp { op, mask } = op {
            // In machine code, the mask belongs to the warp. Since the arrival, threads may have left the mask (BREAK).
            // Other threads in the same function may meanwhile use its register for another mask.
            let (now, then) = (frame.value(*mask, lane) as u32, warp.wanted[lane]);
            let has_shrunk = now >> lane & 1 == 1 && now & !then == 0;
            let needed = if has_shrunk { now } else { then } & warp.live;
            let is_here = |other: usize| (warp.frame[other], warp.pc[other]) == (number, pc);
            if needed & !warp.gathering == 0 && lanes(needed).all(is_here) {
                act(world, warp, &mut frame, op, needed, *line)?;
                warp.tick();
                lanes(needed).for_each(|lane| warp.pc[lane] = pc + 1);
                warp.blocked &= !needed;
                warp.gathering &= !needed;
                has_run = true;
            }
        }
        warp.frames[number as usize] = Some(frame);
        if has_run {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Executes the operation for the threads of a mask, all of which have arrived.
fn act(world: &mut World<'_, '_>, warp: &mut Warp, frame: &mut Frame, op: &WarpOp, all: u32, line: u32) -> Ran<()> {
    let function = world.function(frame.function);
    let bits = |row: Row| function.rows[row.0 as usize].bits;
    let every = |value: u64| [value; 32];
    match op {
        WarpOp::Synchronise => {}
        WarpOp::Shuffle { mode, to, is_inside, value, lane, control } => {
            let mut values = [Bytes::undefined(4); 32];
            let mut inside = [0; 32];
            for own in lanes(all) {
                for row in [*lane, *control] {
                    if !frame.is_defined(row, 1 << own) {
                        return undefined(world, frame, row, "a shuffle");
                    }
                }
                let (from, is_valid) = source(*mode, own, frame.value(*lane, own), frame.value(*control, own));
                inside[own] = u64::from(is_valid);
                values[own] = if all >> from & 1 == 1 {
                    let value = frame.bytes(*value, bits(*value), from);
                    Bytes { origin: value.origin.or(Origin::unset(line)), ..value }
                } else {
                    // The value of a thread that does not participate is unknown.
                    Bytes { origin: Origin::shuffle(line), ..Bytes::undefined(4) }
                };
            }
            if !frame.is_defined(*value, all) {
                let special = partial::origin_of(world, frame, &[*value], all, line);
                values
                    .iter_mut()
                    .filter(|value| value.origin == Origin::unset(line))
                    .for_each(|value| value.origin = special);
            }
            lanes(all).for_each(|own| frame.set_bytes(*to, bits(*to), own, values[own]));
            frame.set_lanes(*is_inside, 1, all, &inside, u32::MAX);
        }
        WarpOp::Vote { vote, to, predicate } => {
            if !frame.is_defined(*predicate, all) {
                return undefined(world, frame, *predicate, "a vote");
            }
            let votes = frame.nonzero(*predicate) & all;
            let value = match vote {
                Vote::All => u64::from(votes == all),
                Vote::Any => u64::from(votes != 0),
                Vote::Uniform => u64::from(votes == 0 || votes == all),
                Vote::Ballot => votes.into(),
            };
            frame.set_lanes(*to, bits(*to), all, &every(value), u32::MAX);
        }
        WarpOp::Match { is_all, to, is_same, value } => {
            if !frame.is_defined(*value, all) {
                return undefined(world, frame, *value, "a match");
            }
            let mut values = [0; 32];
            let mut same = [0; 32];
            for own in lanes(all) {
                let equal = lanes(all).filter(|&other| frame.value(*value, other) == frame.value(*value, own));
                let equal = equal.fold(0u32, |mask, lane| mask | 1 << lane);
                same[own] = u64::from(equal == all);
                values[own] = if *is_all && equal != all { 0 } else { equal.into() };
            }
            frame.set_lanes(*to, bits(*to), all, &values, u32::MAX);
            frame.set_lanes(*is_same, 1, all, &same, u32::MAX);
        }
        WarpOp::Reduce { reduction, ty, to, value } => {
            let defined = if frame.is_defined(*value, all) { u32::MAX } else { 0 };
            let values = lanes(all).map(|lane| low(frame.value(*value, lane), 32));
            let result = values.reduce(|a, b| reduced(*reduction, *ty, a, b)).unwrap_or_default();
            let origin = partial::origin_of(world, frame, &[*value], all, line);
            frame.set_origin(*to, origin);
            frame.set_lanes(*to, bits(*to), all, &every(result), defined);
        }
        WarpOp::Elect { to, is_elected } => {
            let leader = all.trailing_zeros() as usize;
            let elected = std::array::from_fn(|lane| u64::from(lane == leader));
            frame.set_lanes(*to, bits(*to), all, &every(leader as u64), u32::MAX);
            frame.set_lanes(*is_elected, 1, all, &elected, u32::MAX);
        }
        op => {
            if all != u32::MAX {
                return halt("a matrix operation by less than a warp");
            }
            match op {
                WarpOp::GroupMultiply(multiply) => group::run(world, warp, frame, multiply, line)?,
                WarpOp::Tensor { op, at } => tensor_memory::run(world, warp, frame, (op, *at), line)?,
                op => matrix::run(world, warp, frame, op, line)?,
            }
        }
    }
    Ok(())
}

/// Returns the lane that a shuffle reads, and whether this lane is inside its segment.
fn source(mode: ShuffleMode, own: usize, lane: u64, control: u64) -> (usize, bool) {
    let lane = (lane & 31) as i32;
    let (segment, clamp) = ((control >> 8 & 31) as i32, (control & 31) as i32);
    let own = own as i32;
    let most = own & segment | clamp & !segment;
    let least = own & segment;
    let (from, is_inside) = match mode {
        ShuffleMode::Up => (own - lane, own - lane >= most),
        ShuffleMode::Down => (own + lane, own + lane <= most),
        ShuffleMode::Butterfly => (own ^ lane, own ^ lane <= most),
        ShuffleMode::Index => {
            let from = least | lane & !segment;
            (from, from <= most)
        }
    };
    if is_inside { ((from & 31) as usize, true) } else { (own as usize, false) }
}

fn reduced(reduction: Reduction, ty: Ty, a: u64, b: u64) -> u64 {
    let is_less = if ty.is_signed() { signed(a, 32) < signed(b, 32) } else { a < b };
    match reduction {
        Reduction::Add => low(a.wrapping_add(b), 32),
        Reduction::Min => {
            if is_less {
                a
            } else {
                b
            }
        }
        Reduction::Max => {
            if is_less {
                b
            } else {
                a
            }
        }
        Reduction::And => a & b,
        Reduction::Or => a | b,
        Reduction::Xor => a ^ b,
    }
}
