//! Values moved out of the way: where more words are live than there are registers, a value goes to memory behind its
//! definition, or is dropped, and comes back in front of the reads that follow.
//!
//! The places are shared memory, local memory, and none: a value whose definition is cheap and reads only what is live
//! anyway is computed again. ptxas promotes spills to local memory back to registers unless it cannot see their address;
//! what is volatile in shared memory it leaves alone. Each thread has slots of its own, so no thread waits for another.
//!
//! In the order of the files:
//! * [`callees`]: which functions of a module have shared memory;
//! * [`mod@room`]: how much shared memory a kernel may take, and why it may take none;
//! * [`eligible`]: which values can be moved at all;
//! * [`choice`]: which of them are, those that free the highest pressure for the lowest cost;
//! * [`full`]: the instructions with more words live than there is room for;
//! * [`places`]: what each place costs for a value, and which is the cheapest;
//! * [`slots`]: slots that values share if they are never live together, and where they lie;
//! * here: the edits.

mod callees;
mod choice;
mod eligible;
mod full;
mod places;
mod room;
mod slots;
#[cfg(test)]
mod tests;

pub use callees::{Call, CalleeMemory, CalleeTable};
pub use choice::Aim;
pub use room::{Launch, Refusal, bounds};
pub use slots::Bytes;

use crate::analysis::Occurrence;
use crate::config::SpillTo;
use crate::function::{Edit, EditList, Effects, Function, Inst, Position, Role, Slot, VReg};
use crate::spill::remat::compute_again;
use crate::target::Classification;
use choice::{Chosen, choose};
use room::{Room, room};
use slots::Slots;

/// Where a value goes that is moved out of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A slot of each thread in an array in shared memory.
    Shared,
    /// A slot in local memory.
    Local,
    /// Nowhere: its definition is done again in front of its reads.
    Recomputed,
}

/// A value that was moved out of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its register.
    pub reg: VReg,
    /// Its only definition.
    pub definition: Inst,
    /// Where it is meanwhile.
    pub place: Place,
    /// In how many places it comes back.
    pub reloads: usize,
    /// Its bytes.
    pub bytes: u32,
}

/// What was done.
#[derive(Debug)]
pub struct Outcome {
    /// The changes.
    pub edits: EditList,
    /// The values that were moved out of the way, in the order in which they were chosen.
    pub kept: Vec<Kept>,
    /// The memory that they take.
    pub bytes: Bytes,
    /// The bytes of L1 cache that an SM gives up for the slots in shared memory.
    pub cache_given_up: u32,
    /// The most words that are live at one instruction, before and after.
    pub peaks: [u32; 2],
    /// Why the function got no slots in shared memory, though other places than that were allowed, too.
    pub refusal: Option<Refusal>,
}

/// Moves values to some of the places `aim.to` until at most `aim.words` words are live at each instruction, as far as there
/// are values and memory for it. A kernel that does not say how large its blocks are says so with slots in shared memory. The
/// function must have left SSA form.
///
/// # Errors
/// Says why a function with more live words must have no slots in shared memory, if no other place is allowed.
pub fn keep_values(
    (function, classification): (&Function, &Classification),
    aim: &Aim,
    launch: &Launch<'_>,
) -> Result<Outcome, Refusal> {
    let mut facts = choice::Facts::new((function, classification), aim.to);
    let before = facts.peak();
    let mut outcome = Outcome {
        edits: EditList::new(function),
        kept: Vec::new(),
        bytes: Bytes::default(),
        cache_given_up: 0,
        peaks: [before; 2],
        refusal: None,
    };
    if before <= aim.words {
        return Ok(outcome);
    }
    let room = match room((function, classification), launch) {
        _ if !aim.to.contains(SpillTo::SHARED) => None,
        Ok(room) => Some(room),
        Err(refusal) if aim.to == SpillTo::SHARED => return Err(refusal),
        Err(refusal) => {
            outcome.refusal = Some(refusal);
            None
        }
    };
    let mut slots = Slots::new(function, room.as_ref());
    let (chosen, reached) = choose(&mut facts, aim, &mut slots);
    outcome.peaks = [before, reached];
    let (created, bytes) = slots.create(&mut outcome.edits);
    outcome.bytes = bytes;
    let given_up = |room: &Room| launch.architecture.cache_given_up(&room.as_it_is, bytes.shared);
    outcome.cache_given_up = room.as_ref().map_or(0, given_up);
    for value in &chosen {
        match value.home.slot {
            Some(slot) => rewrite(function, value, created[slot], &mut outcome.edits),
            None => {
                let register = (value.reg, value.definition.inst);
                compute_again(function, &facts.occurrences, register, &value.groups, &mut outcome.edits);
            }
        }
    }
    let is_unbounded = function.kernel().is_some_and(|bounds| bounds.threads().is_none());
    if let Some(room) = room.filter(|_| is_unbounded && bytes.shared > 0) {
        outcome.edits.push(Edit::SetAttribute { key: "nvvm.maxntid".into(), value: room.threads.to_string() });
    }
    outcome.edits.finish();
    debug_assert_eq!(crate::check::slots::verify(function, &outcome.edits), [], "{function}");
    let kept = chosen.iter().map(|value| Kept {
        reg: value.reg,
        definition: value.definition.inst,
        place: value.home.place,
        reloads: value.reloads().count(),
        bytes: function.class(value.reg).spilled_bytes().unwrap_or(0),
    });
    outcome.kept = kept.collect();
    Ok(outcome)
}

fn rewrite(function: &Function, value: &Chosen, slot: Slot, edits: &mut EditList) {
    edits.insert_spill(behind(function, &value.definition), value.reg, slot);
    for group in value.reloads() {
        let at = Position { block: group.reads[0].block, before: Some(group.place) };
        let reg = edits.create_register(function.class(value.reg));
        edits.insert_reload(at, reg, slot);
        for read in &group.reads {
            edits.push(Edit::SetRegister { inst: read.inst, operand: read.operand, reg });
        }
    }
}

/// The place behind a definition: not within a call sequence, where nothing may stand.
fn behind(function: &Function, definition: &Occurrence) -> Position {
    let end = function.block_range(definition.block).end;
    let is_free =
        |&inst: &Inst| !function.effects(inst).contains(Effects::CALL_SEQUENCE) && function.role(inst) != Role::Debug;
    let next = (definition.inst.0 + 1..end.0).map(Inst).find(is_free);
    // In front of terminators is the end of the block.
    let next = next.filter(|&inst| !function.effects(inst).contains(Effects::TERMINATOR));
    Position { block: definition.block, before: next }
}
