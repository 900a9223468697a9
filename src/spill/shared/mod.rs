//! Values moved out of the way: where more words are live than there are registers, a value goes to memory behind its
//! definition, or is dropped, and comes back in front of the reads that follow.
//!
//! The places are shared memory, local memory, and none: a value whose definition is cheap and reads only what is live
//! anyway is computed again. ptxas promotes spills to local memory back to registers unless it cannot see their address;
//! what is volatile in shared memory it leaves alone. Each thread has slots of its own, so no thread waits for another.
//!
//! In the order of the files:
//! * [`mod@room`]: how much shared memory a kernel may take, and why it may take none;
//! * [`eligible`]: which values can be moved at all;
//! * [`choice`]: which of them are, those that free the highest pressure for the lowest cost;
//! * [`full`]: the instructions with more words live than there is room for;
//! * [`places`]: what each place costs for a value, and which is the cheapest;
//! * [`slots`]: slots that values share if they are never live together, and where they lie;
//! * [`hoist`]: the places where values come back, one for several groups of reads where that is rarer;
//! * [`neighbours`]: slots beside each other, and stores and loads of several values at once;
//! * here: the edits.

mod choice;
mod eligible;
mod full;
mod hoist;
mod neighbours;
mod places;
mod room;
mod slots;
#[cfg(test)]
mod tests;

pub use choice::Aim;
pub use room::{Launch, Refusal, bounds};
pub use slots::Bytes;

use crate::analysis::Occurrence;
use crate::config::SpillTo;
use crate::function::{Edit, EditList, Effects, Function, Inst, Role, Slot, VReg};
use crate::spill::remat::compute_again;
use crate::target::Classification;
use choice::choose;
use hoist::{At, Moved, place_reloads};
use neighbours::{Joint, Neighbours};
use room::room;
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
    let moved = place_reloads(&mut facts, chosen, aim.words, aim.hoists);
    let neighbours = Neighbours {
        function,
        frequencies: &facts.frequencies,
        moved: &moved,
        pressure: &mut facts.pressure,
        words: aim.words,
        bytes: aim.access_bytes,
        stores: moved.iter().map(|value| behind(function, &value.chosen.definition)).collect(),
    };
    let (rows, joints) = neighbours.find();
    let mut is_used = vec![false; slots.len()];
    moved.iter().filter_map(|value| value.chosen.home.slot).for_each(|slot| is_used[slot] = true);
    let (created, bytes) = slots.create(&is_used, rows, &mut outcome.edits);
    outcome.bytes = bytes;
    for joint in &joints {
        access(function, &moved, joint, &created, &mut outcome.edits);
    }
    for Moved { chosen, .. } in moved.iter().filter(|value| value.chosen.home.slot.is_none()) {
        let register = (chosen.reg, chosen.definition.inst);
        compute_again(function, &facts.occurrences, register, &chosen.groups, &mut outcome.edits);
    }
    let is_unbounded = function.kernel().is_some_and(|bounds| bounds.threads().is_none());
    if let Some(room) = room.filter(|_| is_unbounded && bytes.shared > 0) {
        outcome.edits.push(Edit::SetAttribute { key: "nvvm.maxntid".into(), value: room.threads.to_string() });
    }
    outcome.edits.finish();
    let kept = moved.iter().map(|Moved { chosen, reloads, .. }| Kept {
        reg: chosen.reg,
        definition: chosen.definition.inst,
        place: chosen.home.place,
        reloads: reloads.len(),
        bytes: function.class(chosen.reg).spilled_bytes().unwrap_or(0),
    });
    outcome.kept = kept.collect();
    Ok(outcome)
}

/// Stores or loads, at once where there are several. What read a loaded value reads its new register.
fn access(function: &Function, moved: &[Moved], joint: &Joint, slots: &[Slot], edits: &mut EditList) {
    let mut parts = Vec::new();
    for part in &joint.parts {
        let Moved { chosen, reloads, .. } = &moved[part.value];
        let Some(slot) = chosen.home.slot.map(|slot| slots[slot]) else { continue };
        let reg = match part.reload {
            None => chosen.reg,
            Some(reload) => {
                let reg = edits.create_register(function.class(chosen.reg));
                for read in &reloads[reload].reads {
                    edits.push(Edit::SetRegister { inst: read.inst, operand: read.operand, reg });
                }
                reg
            }
        };
        parts.push((reg, slot));
    }
    let is_store = joint.parts.first().is_some_and(|part| part.reload.is_none());
    let at = joint.at.position(function);
    match (is_store, parts.as_slice()) {
        (true, &[(reg, slot)]) => edits.insert_spill(at, reg, slot),
        (false, &[(reg, slot)]) => edits.insert_reload(at, reg, slot),
        (true, _) => edits.insert_wide_spill(at, parts),
        (false, _) => edits.insert_wide_reload(at, parts),
    };
}

/// The place behind a definition: not within a call sequence, where nothing may stand.
fn behind(function: &Function, definition: &Occurrence) -> At {
    let end = At::end(function, definition.block);
    let is_free =
        |&inst: &Inst| !function.effects(inst).contains(Effects::CALL_SEQUENCE) && function.role(inst) != Role::Debug;
    let next = (definition.inst.0 + 1..end.before).map(Inst).find(is_free);
    next.map_or(end, |next| At { block: definition.block, before: next.0 })
}
