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
//! * [`facts`]: what is known of the function;
//! * [`aim`]: what values are chosen for, and by which means;
//! * [`eligible`]: which values can be moved at all;
//! * [`trials`]: choices of values with more and more means, of which the best is kept;
//! * [`choice`]: a choice, of those values that free the highest pressure for the lowest cost;
//! * [`full`]: the instructions with more words live than there is room for;
//! * [`places`]: what each place costs for a value, and which is the cheapest;
//! * [`slots`]: slots that values share if they are never live together, and where they lie;
//! * [`packing`]: the fewest slots for values that are all known;
//! * here: the edits.

mod aim;
mod callees;
mod choice;
mod eligible;
mod facts;
mod full;
mod packing;
mod places;
mod room;
mod slots;
#[cfg(test)]
mod tests;
mod trials;

pub use aim::{Aim, Means};
pub use callees::{Call, CalleeMemory, CalleeTable};
pub use facts::Facts;
pub use room::{Launch, Refusal, bounds};
pub use slots::Bytes;
pub use trials::{Score, Trial};

use crate::analysis::Occurrence;
use crate::config::SpillTo;
use crate::function::{Edit, EditList, Effects, Function, Inst, Position, Role, Slot, VReg};
use crate::spill::remat::compute_again;
use choice::Chosen;
use room::{Room, room};

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
    /// Its first definition.
    pub definition: Inst,
    /// Where it is meanwhile.
    pub place: Place,
    /// In how many places it is stored, if it goes to memory: behind each definition.
    pub stores: usize,
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
    /// The first of the instructions at which the most words are live afterwards, if these are more than wanted.
    pub fullest: Option<Inst>,
    /// The choices that were tried, in order.
    pub trials: Vec<Trial>,
    /// Why the function got no slots in shared memory, though other places than that were allowed, too.
    pub refusal: Option<Refusal>,
}

/// Moves values to some of the places `aim.to` until at most `aim.words` words are live at each instruction, as far as there
/// are values and memory for it. A kernel that does not say how large its blocks are says so with slots in shared memory. The
/// function must have left SSA form.
///
/// # Errors
/// Says why a function with more live words must have no slots in shared memory, if no other place is allowed.
pub fn keep_values(facts: &Facts<'_>, aim: &Aim, launch: &Launch<'_>) -> Result<Outcome, Refusal> {
    let (function, classification) = (facts.function, facts.classification);
    let before = facts.peak();
    let mut outcome = Outcome {
        edits: EditList::new(function),
        kept: Vec::new(),
        bytes: Bytes::default(),
        cache_given_up: 0,
        peaks: [before; 2],
        fullest: None,
        trials: Vec::new(),
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
    let (choice, slots, trials) = trials::best(facts, aim, room.as_ref());
    let reached = choice.pressure.peak();
    outcome.peaks = [before, reached];
    outcome.fullest = (reached > aim.words).then(|| choice.fullest());
    outcome.trials = trials;
    let (created, bytes) = slots.create(&mut outcome.edits);
    outcome.bytes = bytes;
    let given_up = |room: &Room| launch.architecture.cache_given_up(&room.as_it_is, bytes.shared);
    outcome.cache_given_up = room.as_ref().map_or(0, given_up);
    for value in &choice.chosen {
        match value.home.slot {
            Some(slot) => rewrite(function, value, created[slot], &mut outcome.edits),
            None => {
                let register = (value.reg, value.definition());
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
    let kept = choice.chosen.iter().map(|value| Kept {
        reg: value.reg,
        definition: value.definition(),
        place: value.home.place,
        stores: value.definitions.len(),
        reloads: value.reloads().count(),
        bytes: function.class(value.reg).spilled_bytes().unwrap_or(0),
    });
    outcome.kept = kept.collect();
    Ok(outcome)
}

/// Stores a value behind each of its definitions, and loads it in front of each group. What is tied to a definition is read
/// in the register of that definition, so the value comes back there; elsewhere it has a register of its own.
fn rewrite(function: &Function, value: &Chosen, slot: Slot, edits: &mut EditList) {
    for definition in &value.definitions {
        edits.insert_spill(behind(function, definition), value.reg, slot);
    }
    for group in value.reloads() {
        let at = Position { block: group.reads[0].block, before: Some(group.place) };
        if group.reads.iter().any(|read| function.operands(read.inst)[read.operand as usize].tied.is_some()) {
            edits.insert_reload(at, value.reg, slot);
            continue;
        }
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
