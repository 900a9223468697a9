//! Executes one instruction of converged threads of a warp.

use super::frame::Frame;
use super::next::{Next, undefined};
use super::place::{Target, generic};
use super::warp::{Warp, lanes};
use super::world::World;
use super::{
    Ran, access, atomic, barrier, bulk, call, collective, copies, halt, mbarrier, partial, registers, tensor_product,
};
use crate::emulate::memory::Origin;
use crate::emulate::program::{Inst, Op, Row, Space, WarpOp};
use crate::emulate::types::{hash_of, low, mixed};
use crate::emulate::ways::{FAILED, HELD, compares, relation};

/// Returns the lanes in which the guard of an instruction holds.
fn guarded(world: &mut World<'_, '_>, frame: &Frame, inst: &Inst, mask: u32) -> Ran<u32> {
    let Some((row, is_negated)) = inst.guard else { return Ok(mask) };
    if !frame.is_defined(row, mask) {
        return undefined(world, frame, row, "a predicate");
    }
    let holds = frame.nonzero(row);
    Ok(mask & if is_negated { !holds } else { holds })
}

/// Returns the outcomes of a predicate that holds in some of the lanes.
fn ways(holds: u32, mask: u32) -> u8 {
    let [held, failed] = [holds != 0, holds != mask];
    (HELD * u8::from(held)) | (FAILED * u8::from(failed))
}

/// Returns the number of steps of an instruction. A matrix product takes as many steps as the products that each thread
/// computes.
fn steps(op: &Op) -> u64 {
    match op {
        Op::Warp { op: WarpOp::Multiply(multiply), .. } => multiply.products().max(1),
        Op::Warp { op: WarpOp::GroupMultiply(multiply), .. } => multiply.products().max(1),
        Op::TensorMultiply(_) => TENSOR_STEPS,
        _ => 1,
    }
}

/// Steps of a product of 128 by 128 by 16, which one thread starts.
const TENSOR_STEPS: u64 = 128 * 128 * 16 / 32;

/// Executes an instruction.
pub(super) fn step(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    frame_number: u32,
    inst: &Inst,
    pc: u32,
    mask: u32,
) -> Ran<Next> {
    let active = guarded(world, frame, inst, mask)?;
    if inst.guard.is_some() {
        world.outcome.ways[frame.function][pc as usize] |= ways(active, mask);
    }
    // Each statement counts once, however many operations it has.
    if inst.is_first {
        world.outcome.issued[frame.function][pc as usize] += 1;
        world.outcome.instructions += 1;
        world.outcome.steps += steps(&inst.op);
        world.outcome.thread_steps += u64::from(mask.count_ones());
        if let Some(trace) = world.outcome.traces.get_mut(warp.index) {
            trace.step(frame.function, inst.line, mask);
        }
    }
    if active == 0 {
        return Ok(Next::Go);
    }
    let function = world.function(frame.function);
    world.outcome.covered[frame.function][pc as usize] = true;
    let threads = active;
    // ptxas removes the synchronisation of a warp whose threads are already converged: their accesses are in order.
    if world.program.is_machine_code
        && mask == warp.live
        && matches!(inst.op, Op::Load(_) | Op::Store(_) | Op::Warp { .. })
    {
        warp.tick();
    }
    let active = if inst.is_uniform { u32::MAX } else { active };
    let bits = |row: Row| function.rows[row.0 as usize].bits;
    match &inst.op {
        Op::Pure { pure, to, from } => {
            let mut results = [[0; 32]; 2];
            let sources = from.each_ref().map(|row| &frame.values[row.0 as usize]);
            (pure.eval)(&sources, active, &mut results);
            if compares(pure) {
                let [left, right] = [sources[0], sources[1]];
                let ways = lanes(active).fold(0, |all, lane| all | relation(pure.sources[0], left[lane], right[lane]));
                world.outcome.ways[frame.function][pc as usize] |= ways;
            }
            let count = pure.sources.len();
            let mut defined = from[..count].iter().fold(u32::MAX, |all, row| all & frame.defined[row.0 as usize]);
            if defined & active != active {
                partial::computed(world, frame, inst, (pure, to, from), active, &results);
                return Ok(Next::Go);
            }
            if pure.divides && !world.setting.divides_by_zero {
                let by_zero = active & !frame.nonzero(from[1]);
                if by_zero != 0 {
                    frame.set_origin(to[0], Origin::division(inst.line));
                }
                defined &= !by_zero;
            }
            for (&row, values) in to.iter().zip(&results).take(pure.results.len()) {
                frame.set_lanes(row, bits(row), active, values, defined);
            }
        }
        Op::Move { to, from } | Op::MoveAddress { to, from } => {
            let (values, defined) = (frame.values[from.0 as usize], frame.defined[from.0 as usize]);
            if defined & active == active {
                frame.set_lanes(*to, bits(*to), active, &values, defined);
            } else {
                partial::moved(world, frame, inst.line, *to, *from, active);
            }
        }
        Op::Select { to, yes, no, by } => {
            let chosen = frame.nonzero(*by);
            if inst.guard.is_none() {
                world.outcome.ways[frame.function][pc as usize] |= ways(active & chosen, active);
            }
            let (first, second) = (&frame.values[yes.0 as usize], &frame.values[no.0 as usize]);
            let values = std::array::from_fn(|lane| if chosen >> lane & 1 == 1 { first[lane] } else { second[lane] });
            if [by, yes, no].iter().all(|&&row| frame.is_defined(row, active)) {
                frame.set_lanes(*to, bits(*to), active, &values, u32::MAX);
            } else {
                partial::selected(world, frame, inst.line, (*to, [*yes, *no], *by), active);
            }
        }
        Op::Pack { to, parts, bits: width } => {
            let values = std::array::from_fn(|lane| {
                let part = |(number, row): (usize, &Row)| {
                    low(frame.values[row.0 as usize][lane], *width) << (number as u32 * width)
                };
                parts.iter().enumerate().map(part).fold(0, |all, part| all | part)
            });
            if parts.iter().all(|&row| frame.is_defined(row, active)) {
                frame.set_lanes(*to, bits(*to), active, &values, u32::MAX);
            } else {
                partial::packed(world, frame, inst.line, (*to, parts, *width), active);
            }
        }
        Op::Unpack { parts, from, bits: width } if !frame.is_defined(*from, active) => {
            partial::unpacked(world, frame, inst.line, (parts, *from, *width), active);
        }
        Op::Unpack { parts, from, bits: width } => {
            let (values, defined) = (frame.values[from.0 as usize], frame.defined[from.0 as usize]);
            for (number, &part) in parts.iter().enumerate() {
                let values = values.map(|value| low(value >> (number as u32 * width), *width));
                frame.set_lanes(part, bits(part), active, &values, defined);
            }
        }
        Op::Load(one) => access::load(world, warp, frame, one, active, (pc, inst.line))?,
        Op::Store(one) => access::store(world, warp, frame, one, active, (pc, inst.line))?,
        Op::Atomic { address, op, ty, to, from, kind } => {
            let atomic = atomic::Atomic { address: *address, op: *op, ty: *ty, to: *to, from: *from, kind: *kind };
            atomic::run(world, warp, frame, &atomic, active, (pc, inst.line))?;
        }
        Op::IsSpace { to, from, space, is_global } => {
            let is_there = |address| match generic(address) {
                Target::Global(_) => *is_global,
                Target::Shared(_) => *space == Space::Shared,
                Target::Local(_) => *space == Space::Local,
            };
            let values = frame.values[from.0 as usize].map(|address| is_there(address).into());
            let defined = frame.defined[from.0 as usize];
            let origin = partial::origin_of(world, frame, &[*from], active, inst.line);
            frame.set_origin(*to, origin);
            frame.set_lanes(*to, bits(*to), active, &values, defined);
        }
        Op::Warp { op, mask: row } => {
            return collective::run(world, warp, frame, frame_number, (op, *row, inst.line), pc, active, mask);
        }
        Op::ActiveMask { to, is_known } => {
            if threads != warp.live && !is_known {
                return halt("activemask depends on the order of threads");
            }
            frame.set_lanes(*to, bits(*to), active, &[threads.into(); 32], u32::MAX);
        }
        Op::First { to, from } => {
            let lane = threads.trailing_zeros() as usize % 32;
            let value = frame.bytes(*from, bits(*from), lane);
            lanes(active).for_each(|lane| frame.set_bytes(*to, bits(*to), lane, value));
        }
        Op::Barrier { .. } => return barrier::run(world, warp, frame, frame_number, &inst.op, pc, active, mask),
        Op::Mbarrier { address, op } => return mbarrier::run(world, warp, frame, *address, *op, active, inst.line),
        Op::AsyncCopy { to, from, bytes, given } => {
            copies::start(world, warp, frame, (*to, *from, *bytes, *given), active, (pc, inst.line))?;
        }
        Op::TensorMultiply(multiply) => {
            for lane in lanes(active) {
                tensor_product::run(world, warp, frame, multiply, lane, inst.line)?;
            }
        }
        Op::AsyncCommit => lanes(active).for_each(|lane| warp.copies[lane].commit()),
        Op::AsyncWait { left } => copies::wait(world, warp, *left as usize, active, inst.line)?,
        Op::Bulk(copy) => bulk::run(world, warp, frame, copy, active, inst.line)?,
        Op::AsyncArrive { address, as_what } => {
            copies::arrive(world, warp, frame, *address, *as_what, active, inst.line)?;
            return Ok(Next::Go);
        }
        Op::Fence | Op::Nothing => {}
        Op::Registers(request) => return Ok(registers::run(world, warp, *request, (pc, inst.line), active, mask)),
        Op::Branch { target } => {
            if active == mask {
                return Ok(Next::Jump(*target));
            }
            for lane in lanes(mask) {
                warp.pc[lane] = if active >> lane & 1 == 1 { *target } else { pc + 1 };
            }
            return Ok(Next::Placed);
        }
        Op::IndexedBranch { index, targets } => {
            if !frame.is_defined(*index, active) {
                return undefined(world, frame, *index, "a branch");
            }
            for lane in lanes(mask) {
                let target = targets.get(frame.value(*index, lane) as usize);
                warp.pc[lane] = match (active >> lane & 1 == 1, target) {
                    (false, _) => pc + 1,
                    (true, Some(&target)) => target,
                    (true, None) => return halt("an indexed branch beyond its list"),
                };
            }
            return Ok(Next::Placed);
        }
        Op::Call(one) => return call::call(world, warp, frame, frame_number, one, pc, active, mask),
        Op::Return => return call::leave(world, warp, frame, pc, active, mask),
        Op::Exit => {
            call::end(world, warp, active);
            frame.lanes &= !active;
            call::forget(warp, frame, active);
            lanes(mask & !active).for_each(|lane| warp.pc[lane] = pc + 1);
            return Ok(Next::Placed);
        }
        Op::Trap => return halt("a thread traps"),
        Op::StackSave { to } => {
            let values = frame.top.map(u64::from);
            frame.set_lanes(*to, bits(*to), active, &values, u32::MAX);
        }
        Op::StackRestore { from } => {
            for lane in lanes(active) {
                frame.top[lane] = frame.value(*from, lane) as u32;
            }
        }
        Op::Alloca { to, bytes, alignment } => {
            for lane in lanes(active) {
                let start = frame.top[lane].next_multiple_of((*alignment).max(8));
                frame.top[lane] = start.saturating_add(frame.value(*bytes, lane) as u32);
                frame.set(*to, bits(*to), lane, Some(start.into()));
            }
        }
        Op::Hashed { name, to, from } => {
            world.outcome.hashed[*name] += 1;
            let seed = hash_of(&world.program.hashed[*name]);
            let defined = from.iter().fold(u32::MAX, |all, row| all & frame.defined[row.0 as usize]);
            let origin = partial::origin_of(world, frame, from, active, inst.line);
            for (number, &row) in to.iter().enumerate() {
                let values = std::array::from_fn(|lane| {
                    let inputs = from.iter().map(|row| frame.values[row.0 as usize][lane]);
                    inputs.fold(mixed(seed ^ number as u64), |hash, input| mixed(hash ^ input))
                });
                frame.set_origin(row, origin);
                frame.set_lanes(row, bits(row), active, &values, defined);
            }
        }
        Op::Unknown(what) => return halt(format!("not modelled: {what}")),
    }
    Ok(Next::Go)
}
