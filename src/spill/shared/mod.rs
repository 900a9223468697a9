//! Values kept in shared memory: where more words are live than there are registers, a value is stored behind its
//! definition and loaded again in front of the reads that follow.
//!
//! ptxas promotes spills to local memory back to registers, or makes other ones; what is volatile in shared memory it
//! leaves alone. Each thread has slots of its own in an array of the kernel, so no thread waits for another.
//!
//! In the order of the files:
//! * [`mod@room`]: how much shared memory a kernel may take, and why it may take none;
//! * [`eligible`]: which values can be kept in memory at all;
//! * [`choice`]: which of them are, those that free the highest pressure for the least traffic;
//! * [`full`]: the instructions with more words live than there is room for;
//! * [`slots`]: slots that values share if they are never live together, and where they lie;
//! * here: the edits.

mod choice;
mod eligible;
mod full;
mod room;
mod slots;

pub use choice::Aim;
pub use room::{Launch, Refusal, bounds};

use crate::analysis::Occurrence;
use crate::function::{Edit, EditList, Effects, Function, Inst, Position, Role, SharedArray, Slot, VReg};
use crate::target::Classification;
use choice::{Chosen, choose};
use room::room;
use slots::Slots;

/// A value that is kept in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its register.
    pub reg: VReg,
    /// Its only definition.
    pub definition: Inst,
    /// In how many places it is loaded again.
    pub reloads: usize,
    /// Its bytes.
    pub bytes: u32,
}

/// What was done.
#[derive(Debug)]
pub struct Outcome {
    /// The changes.
    pub edits: EditList,
    /// The values that are kept in shared memory, in the order in which they were chosen.
    pub kept: Vec<Kept>,
    /// Bytes of shared memory of a block.
    pub bytes: u32,
    /// The most words that are live at one instruction, before and after.
    pub peaks: [u32; 2],
}

/// Keeps values in shared memory until at most `aim.words` words are live at each instruction, as far as there are values
/// and memory for it. A kernel that does not say how large its blocks are says so afterwards. The function must have left
/// SSA form.
///
/// # Errors
/// Says why a function with more live words must have no slots in shared memory.
pub fn keep_in_shared(
    (function, classification): (&Function, &Classification),
    aim: &Aim,
    launch: &Launch<'_>,
) -> Result<Outcome, Refusal> {
    let unchanged = |peak| Outcome { edits: EditList::new(function), kept: Vec::new(), bytes: 0, peaks: [peak; 2] };
    let mut choice = choice::Facts::new(function, classification);
    if choice.peak() <= aim.words {
        return Ok(unchanged(choice.peak()));
    }
    let room = room((function, classification), launch)?;
    let before = choice.peak();
    let mut found = Slots::new(function, &room);
    let (chosen, reached) = choose(&mut choice, aim, &mut found);
    if chosen.is_empty() {
        return Ok(unchanged(before));
    }
    let (layout, row_of) = found.layout();
    let mut edits = EditList::new(function);
    edits.push(Edit::CreateSharedArray(SharedArray { threads: room.threads, bytes: layout.bytes }));
    let slots: Vec<_> = layout.rows.iter().map(|row| edits.create_shared_slot(row.size, row.offset)).collect();
    for value in &chosen {
        rewrite(function, value, slots[row_of[value.slot]], &mut edits);
    }
    if function.kernel().is_some_and(|bounds| bounds.threads().is_none()) {
        edits.push(Edit::SetAttribute { key: "nvvm.maxntid".into(), value: room.threads.to_string() });
    }
    edits.finish();
    let kept = chosen.iter().map(|value| Kept {
        reg: value.reg,
        definition: value.definition.inst,
        reloads: value.reloads().count(),
        bytes: 4 * function.class(value.reg).words(),
    });
    Ok(Outcome { edits, kept: kept.collect(), bytes: layout.bytes, peaks: [before, reached] })
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
