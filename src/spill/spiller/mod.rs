//! Values moved out of the way: where more words are live than there are registers, a value goes to memory behind its
//! definition, or is dropped, and comes back in front of the reads that follow.
//!
//! The places are shared memory, local memory, and none: a value whose definition is cheap and reads only what is live
//! anyway is computed again. ptxas promotes spills to local memory back to registers unless it cannot see their address;
//! what is stored by volatile stores in shared memory it leaves alone. Each thread has slots of its own, so no thread waits
//! for another.
//!
//! In the order of the files:
//! * [`callees`]: which functions of a module have shared memory;
//! * [`mod@room`]: how much shared memory a kernel may take, and why it may take none;
//! * [`facts`]: what is known of the function;
//! * [`aim`]: what values are chosen for, and by which means;
//! * [`eligible`]: which values can be moved at all; [`reached`]: those that some path leaves undefined;
//! * [`trials`]: choices of values with more and more means, of which the best is kept;
//! * [`served`]: the reads that each of ptxas's own loads of a value serves;
//! * [`choice`]: a choice, of those values that free the highest pressure for the lowest cost;
//! * [`full`]: the instructions with more words live than there is room for;
//! * [`places`]: what each place costs for a value, and which is the cheapest;
//! * [`slots`]: slots that values share if they are never live together, and where they lie;
//! * [`hoist`]: the places where values come back, one for several groups of reads where that is rarer;
//! * [`sink`]: the places further down where a value may be stored once for all of its definitions;
//! * [`stores`]: the places where values are stored; [`mod@moved`]: both places of a value;
//! * [`neighbours`]: slots beside each other, and stores and loads of several values at once;
//! * here: the edits.

mod aim;
mod callees;
mod choice;
mod eligible;
mod facts;
mod full;
mod hoist;
mod moved;
mod neighbours;
mod places;
mod reached;
mod room;
mod served;
mod sink;
mod slots;
mod stores;
#[cfg(test)]
mod tests;
mod trials;

pub use aim::{Aim, Means, Paid};
pub use callees::{Call, CalleeMemory, CalleeTable};
pub use facts::Facts;
pub use room::{Launch, Refusal, bounds};
pub use slots::Bytes;
pub use trials::{Score, Trial};

use crate::config::SpillTo;
use crate::function::{Edit, EditList, Function, Inst, Slot, VReg};
use crate::spill::remat::compute_again;
use hoist::place_reloads;
use moved::Moved;
use neighbours::{Joint, Neighbours};
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
    /// In how many places it is stored, if it goes to memory: behind each definition, or further down.
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
    if before <= aim.words && aim.paid.is_none() {
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
    let (moved, mut pressure) = place_reloads(facts, choice, aim);
    let neighbours = Neighbours {
        function,
        frequencies: &facts.frequencies,
        moved: &moved,
        pressure: &mut pressure,
        words: aim.words,
        bytes: aim.access_bytes,
        stores: moved.iter().map(|value| value.stores[0]).collect(),
    };
    let (rows, joints) = neighbours.find();
    let mut is_used = vec![false; slots.len()];
    moved.iter().filter_map(|value| value.chosen.home.slot).for_each(|slot| is_used[slot] = true);
    let (created, bytes) = slots.create(&is_used, rows, &mut outcome.edits);
    outcome.bytes = bytes;
    let given_up = |room: &Room| launch.architecture.cache_given_up(&room.as_it_is, bytes.shared);
    outcome.cache_given_up = room.as_ref().map_or(0, given_up);
    for joint in &joints {
        access(function, &moved, joint, &created, &mut outcome.edits);
    }
    for Moved { chosen, .. } in moved.iter().filter(|value| value.chosen.home.slot.is_none()) {
        compute_again(function, &facts.occurrences, &[chosen.definition()], &chosen.groups, &mut outcome.edits);
    }
    let is_unbounded = function.kernel().is_some_and(|bounds| bounds.threads().is_none());
    if let Some(room) = room.filter(|_| is_unbounded && bytes.shared > 0) {
        outcome.edits.push(Edit::SetAttribute { key: "nvvm.maxntid".into(), value: room.threads.to_string() });
    }
    outcome.edits.finish();
    debug_assert_eq!(crate::check::slots::verify(function, &outcome.edits), [], "{function}");
    let kept = moved.iter().map(|Moved { chosen, stores, reloads, .. }| Kept {
        reg: chosen.reg,
        definition: chosen.definition(),
        place: chosen.home.place,
        stores: stores.len(),
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
            // What is tied to a definition is read in the register of that definition.
            Some(reload) if reloads[reload].is_tied(function) => chosen.reg,
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
