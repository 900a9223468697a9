//! Proves that a plan is correct, by a forward data-flow analysis over all paths of whether the slot and each register
//! have the value.
//!
//! The proof uses only the function and the plan, not the way in which the plan was made. At each load, the slot must
//! have the value. At each read, the register that is read must have the value. At places where the value is undefined,
//! the slot and all registers count as having it.

use std::collections::BTreeMap;

use super::{Register, SpilledValue};
use crate::analysis::{Cfg, Occurrence};
use crate::function::{Block, Function, Inst, Role};
use crate::index::IndexVec;
use crate::spill::insertion_point::InsertionPoint;

/// Whether each holder has the value at a point. Holder 0 is the slot, holder 1 is the value's own register, and the
/// other holders are the new registers.
type Holding = Vec<bool>;

/// An event of a value. Events at the same place happen in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Before an instruction. Stores come first.
    Store,
    Reload(Register),
    /// An instruction reads a register.
    Read(Register),
    Undefine,
    Write,
}

/// An error of a plan: at or before an instruction, a register or the slot lacks the value that it should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::spill) struct PlanError {
    /// The instruction.
    pub(in crate::spill) at: Inst,
    /// The error.
    pub(in crate::spill) reason: &'static str,
}

/// Proves the plan for a value with a slot. O(blocks · registers), a few times in loops.
pub(in crate::spill) fn check_value(
    (function, cfg): (&Function, &Cfg),
    accesses: &[Occurrence],
    value: &SpilledValue,
) -> Result<(), PlanError> {
    let events = events(function, accesses, value);
    let registers = 2 + value.reloads.iter().map(|reload| number(reload.into)).max().unwrap_or(1);
    // The holders that have the value on all visited paths to each block. The sets only shrink.
    let mut entries: IndexVec<Block, Option<Holding>> = IndexVec::filled(None, function.num_blocks());
    let Some(first) = function.blocks().next() else { return Ok(()) };
    entries[first] = Some(vec![true; registers]);
    let mut todo = vec![first];
    while let Some(block) = todo.pop() {
        let Some(mut holding) = entries[block].clone() else { continue };
        for &(_, event) in events.get(&block).into_iter().flatten() {
            step(&mut holding, event);
        }
        for &succ in function.succs(block) {
            let met: Holding = match &entries[succ] {
                Some(known) => known.iter().zip(&holding).map(|(known, now)| known & now).collect(),
                None => holding.clone(),
            };
            if entries[succ].as_ref() != Some(&met) {
                entries[succ] = Some(met);
                todo.push(succ);
            }
        }
    }
    for (&block, events) in &events {
        let Some(mut holding) = entries[block].clone().filter(|_| cfg.is_reachable(block)) else { continue };
        for &(at, event) in events {
            let reason = match event {
                Event::Read(register) if !holding[number(register)] => "a read register does not have the value",
                Event::Reload(_) if !holding[0] => "the loaded slot does not have the value",
                Event::Store if !holding[1] => "the stored register does not have the value",
                _ => "",
            };
            if !reason.is_empty() {
                return Err(PlanError { at: Inst(at), reason });
            }
            step(&mut holding, event);
        }
    }
    Ok(())
}

/// Returns the number of a register among the holders.
fn number(register: Register) -> usize {
    match register {
        Register::Own => 1,
        Register::New(number) => 2 + number as usize,
    }
}

fn step(holding: &mut Holding, event: Event) {
    match event {
        Event::Store => holding[0] = true,
        Event::Reload(register) => holding[number(register)] = true,
        Event::Read(_) => {}
        Event::Undefine => holding.fill(true),
        Event::Write => {
            holding.fill(false);
            holding[1] = true;
        }
    }
}

/// Returns all events by block, in their order of execution.
fn events(function: &Function, accesses: &[Occurrence], value: &SpilledValue) -> BTreeMap<Block, Vec<(u32, Event)>> {
    let mut events: BTreeMap<Block, Vec<(u32, Event)>> = BTreeMap::new();
    let mut add = |block: Block, at: u32, event: Event| events.entry(block).or_default().push((at, event));
    value.stores.iter().for_each(|&InsertionPoint { block, before }| add(block, before, Event::Store));
    value.reloads.iter().for_each(|reload| add(reload.at.block, reload.at.before, Event::Reload(reload.into)));
    for access in accesses {
        if access.is_def() {
            let is_undefined = function.role(access.inst) == Role::Undef;
            add(access.block, access.inst.0, if is_undefined { Event::Undefine } else { Event::Write });
        } else if access.is_use() {
            let is_this = |read: &&(Occurrence, u32)| read.0.inst == access.inst && read.0.operand == access.operand;
            let register = value.reads.iter().find(is_this).map_or(Register::Own, |&(_, new)| Register::New(new));
            add(access.block, access.inst.0, Event::Read(register));
        }
    }
    events.values_mut().for_each(|of_block| of_block.sort_by_key(|&(at, event)| (at, order(event))));
    events
}

fn order(event: Event) -> u32 {
    match event {
        Event::Store => 0,
        Event::Reload(_) => 1,
        Event::Read(_) => 2,
        Event::Undefine | Event::Write => 3,
    }
}
