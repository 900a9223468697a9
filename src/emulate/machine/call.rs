//! Calls and returns.

use super::frame::Frame;
use super::next::{Next, undefined};
use super::place::MOST_LOCAL;
use super::warp::{Warp, lanes};
use super::world::World;
use super::{Ran, barrier, halt};
use crate::emulate::memory::Bytes;
use crate::emulate::program::{Call, Callee, Op, Place};
use crate::emulate::types::Kind;

/// The deepest nesting of calls.
const DEEPEST: u32 = 256;

/// Executes a call by some threads.
#[expect(clippy::too_many_arguments, reason = "the threads, where they are, and what they do")]
pub(super) fn call(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    frame_number: u32,
    call: &Call,
    pc: u32,
    active: u32,
    mask: u32,
) -> Ran<Next> {
    // Threads that do not call continue after the call.
    lanes(mask & !active).for_each(|lane| warp.pc[lane] = pc + 1);
    let first = active.trailing_zeros() as usize;
    let (number, callers) = match &call.callee {
        Callee::Function(number) => (*number, active),
        Callee::Indirect(row) => {
            if !frame.is_defined(*row, active) {
                return undefined(world, frame, *row, "a call");
            }
            let address = frame.value(*row, first);
            let same = lanes(active).filter(|&lane| frame.value(*row, lane) == address);
            let same = same.fold(0, |mask, lane| mask | 1 << lane);
            match world.program.addresses_of_functions.get(&address) {
                Some(&number) => (number, same),
                None => return halt("a call of an address that is not a function"),
            }
        }
        Callee::Missing(name) if name == "__assertfail" => return halt("an assertion of the program fails"),
        Callee::Missing(name) => return halt(format!("a call of {name}, which has no body")),
    };
    // Threads that call another function stay at the call.
    lanes(active & !callers).for_each(|lane| warp.pc[lane] = pc);
    if frame.depth >= DEEPEST {
        return halt("calls are nested too deeply");
    }
    let base = frame.top.map(|top| top.next_multiple_of(16));
    if lanes(callers).any(|lane| u64::from(base[lane]) >= MOST_LOCAL) {
        return halt("the stack is too large");
    }
    let mut callee = warp.enter(world, number, base, callers, frame.depth + 1, Some((frame_number, pc)));
    let function = world.function(number);
    if function.parameters.len() != call.arguments.len() {
        return halt("the number of arguments");
    }
    for (&from, &to) in call.arguments.iter().zip(&function.parameters) {
        for lane in lanes(callers) {
            let value = PassedValue::take(world, warp, frame, from, lane);
            value.put(world, warp, &mut callee, to, lane);
        }
    }
    let place = warp.frames.iter().position(Option::is_none).filter(|&place| place as u32 != frame_number);
    let place = place.unwrap_or_else(|| {
        warp.frames.push(None);
        warp.frames.len() - 1
    });
    warp.frames[place] = Some(Box::new(callee));
    for lane in lanes(callers) {
        warp.frame[lane] = place as u32;
        warp.pc[lane] = 0;
    }
    Ok(Next::Placed)
}

/// A value in transit between caller and function: its bytes, as parts of one byte each.
struct PassedValue(Vec<Bytes>);

impl PassedValue {
    fn take(world: &World<'_, '_>, warp: &Warp, frame: &Frame, from: Place, lane: usize) -> Self {
        match from {
            Place::Register(row) => {
                let value = frame.bytes(row, world.function(frame.function).rows[row.0 as usize].bits, lane);
                Self((0..8).map(|byte| value.part(byte, 1)).collect())
            }
            Place::Frame { offset, bytes } => {
                let start = (frame.base[lane] + offset) as usize;
                Self((0..bytes as usize).map(|byte| warp.local[lane].read(start + byte, 1)).collect())
            }
        }
    }

    fn put(&self, world: &World<'_, '_>, warp: &mut Warp, frame: &mut Frame, to: Place, lane: usize) {
        match to {
            Place::Register(row) => {
                let bits = world.function(frame.function).rows[row.0 as usize].bits;
                frame.set_bytes(row, bits, lane, Bytes::joined(self.0.iter().copied(), 1));
            }
            Place::Frame { offset, bytes } => {
                let start = (frame.base[lane] + offset) as usize;
                for byte in 0..bytes as usize {
                    let value = self.0.get(byte).copied().unwrap_or(Bytes::undefined(1));
                    warp.local[lane].write(start + byte, 1, value, Kind::default());
                }
            }
        }
    }
}

/// Executes a return.
pub(super) fn leave(
    world: &mut World<'_, '_>,
    warp: &mut Warp,
    frame: &mut Frame,
    pc: u32,
    active: u32,
    mask: u32,
) -> Ran<Next> {
    lanes(mask & !active).for_each(|lane| warp.pc[lane] = pc + 1);
    frame.lanes &= !active;
    let Some((caller_number, call_pc)) = frame.caller else {
        end(world, warp, active);
        return Ok(Next::Placed);
    };
    let Some(mut caller) = warp.frames[caller_number as usize].take() else { return halt("a frame is missing") };
    let call = &world.function(caller.function).insts[call_pc as usize].op;
    let Op::Call(call) = call else { return halt("a return without a call") };
    let function = world.function(frame.function);
    for (&to, &from) in call.returns.iter().zip(&function.returns) {
        for lane in lanes(active) {
            let value = PassedValue::take(world, warp, frame, from, lane);
            value.put(world, warp, &mut caller, to, lane);
        }
    }
    warp.frames[caller_number as usize] = Some(caller);
    for lane in lanes(active) {
        warp.frame[lane] = caller_number;
        warp.pc[lane] = call_pc + 1;
    }
    Ok(Next::Placed)
}

/// Ends threads.
pub(super) fn end(world: &mut World<'_, '_>, warp: &mut Warp, active: u32) {
    warp.live &= !active;
    world.blocks[warp.block].live[usize::from(warp.number)] = warp.live;
    world.changed();
    barrier::check_all(world, warp.block);
}

/// Removes ended threads from the frames of the callers.
pub(super) fn forget(warp: &mut Warp, frame: &Frame, ended: u32) {
    let mut next = frame.caller;
    while let Some((number, _)) = next {
        let Some(caller) = warp.frames[number as usize].as_mut() else { return };
        caller.lanes &= !ended;
        next = caller.caller;
        if caller.lanes == 0 {
            warp.frames[number as usize] = None;
        }
    }
}
