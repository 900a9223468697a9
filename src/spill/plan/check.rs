//! The proof that a plan is right: forwards over all paths, which registers and whether the slot have a value.
//!
//! It knows the function and the plan alone, not how the plan came about. At each load the slot must have the value, and at each
//! read the register that is read. Where the value is undefined, everything has it.

use std::collections::BTreeMap;

use super::{Register, SpilledValue};
use crate::analysis::{Cfg, Occurrence};
use crate::function::{Block, Function, Inst, Role};
use crate::index::IndexVec;
use crate::spill::insertion_point::InsertionPoint;

/// What has the value at a point: bit 0 the slot, bit 1 its own register, behind it the new ones.
type Holding = Vec<bool>;

/// What happens to a value at a place of a block, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// In front of an instruction, stores first.
    Store,
    Reload(Register),
    /// An instruction reads a register.
    Read(Register),
    Undefine,
    Write,
}

/// What is wrong: the instruction at or in front of which something has not the value that it should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::spill) struct PlanError {
    /// Where.
    pub(in crate::spill) at: Inst,
    /// What.
    pub(in crate::spill) reason: &'static str,
}

/// Proves a value of a plan that goes to memory. O(blocks · registers), a few times in loops.
pub(in crate::spill) fn check_value(
    (function, cfg): (&Function, &Cfg),
    accesses: &[Occurrence],
    value: &SpilledValue,
) -> Result<(), PlanError> {
    let events = events(function, accesses, value);
    let registers = 2 + value.reloads.iter().map(|reload| number(reload.into)).max().unwrap_or(1);
    // From all to less: what has the value on each path.
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
                Event::Read(register) if !holding[number(register)] => "a register is read that has not the value",
                Event::Reload(_) if !holding[0] => "the slot is loaded and has not the value",
                Event::Store if !holding[1] => "the register is stored and has not the value",
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

/// The place of a register among what may have the value.
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

/// All events, block by block, in the order in which they happen.
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
