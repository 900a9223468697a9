//! What a run of a function does that can be seen, and whether an edited function does the same.

use super::interpret::{Limits, interpret};
use super::memory::Seen;
use super::value::Bits;
use crate::check::check;
use crate::function::{Applied, EditList, Function, Inst, Origin};

/// An instruction with an effect, or a branch that chose, as it was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The instruction: the block's last for a branch.
    pub inst: Inst,
    /// Which visit of a block it belongs to, counted from the start.
    pub visit: usize,
    /// A hash of what it does, the same for the register and the immediate form of an opcode.
    pub operation: u64,
    /// Whether it is a branch that chose, or a return.
    pub is_branch: bool,
    /// The values that it read, sign-extended.
    pub reads: Vec<Bits>,
    /// What it saw of memory and of what was executed before.
    pub seen: Seen,
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It returned.
    Return,
    /// An instruction that may trap did.
    Trap,
    /// A pure instruction faulted, in that visit of a block.
    Fault {
        /// The visit.
        visit: usize,
    },
    /// It may go on or not.
    Unknown,
}

/// What a run of a function does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The events, in order. A return and a trap see all of memory: that is what a run leaves behind.
    pub events: Vec<Event>,
    /// How the run ended; none where it was cut off, or branched on an undefined value: what follows may be anything.
    pub end: Option<End>,
    /// How many blocks were entered.
    pub visits: usize,
}

/// Where an edited function does something else than the original.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}, event {event}: {reason}")]
pub struct Mismatch {
    /// The seed of the inputs.
    pub seed: u64,
    /// The number of the event.
    pub event: usize,
    /// What differs.
    pub reason: String,
}

impl Trace {
    /// Whether the run came to an end of which all is known.
    pub fn is_complete(&self) -> bool {
        matches!(self.end, Some(End::Return | End::Trap))
    }

    /// Checks that `edited` does the same: each event is there, in the same order, and reads and sees what the original
    /// read and saw, or anything where that was undefined. Only what both runs reached is compared. An original that
    /// faults may do anything; an edited function faults only where the original does.
    pub fn refined_by(&self, edited: &Trace, seed: u64) -> Result<(), Mismatch> {
        if matches!(self.end, Some(End::Fault { .. })) {
            return Ok(());
        }
        let fail = |event, reason| Err(Mismatch { seed, event, reason });
        if let Some(End::Fault { visit }) = edited.end
            && (self.is_complete() || visit < self.visits || visit == self.visits && self.end.is_none())
        {
            return fail(edited.events.len(), format!("the edited function faults in block {visit} of its run"));
        }
        for (index, (old, new)) in self.events.iter().zip(&edited.events).enumerate() {
            if old.operation != new.operation || old.reads.len() != new.reads.len() {
                return fail(index, format!("{} of the original became {} of the edited function", old.inst, new.inst));
            }
            let differs = |&(old, new): &(&Bits, &Bits)| !old.is_refined_by(*new);
            if let Some((was, is)) = old.reads.iter().zip(&new.reads).find(differs) {
                return fail(index, format!("{} read {was:x?}, and as {} it reads {is:x?}", old.inst, new.inst));
            }
            let is_seen = |(old, new): (&Option<u64>, &Option<u64>)| old.is_none() || old == new;
            if old.seen.len() != new.seen.len() || !old.seen.iter().zip(&new.seen).all(is_seen) {
                let (was, is) = (&old.seen, &new.seen);
                return fail(index, format!("{} saw {was:x?}, and as {} it sees {is:x?}", old.inst, new.inst));
            }
        }
        let (old, new) = (self.events.len(), edited.events.len());
        if edited.is_complete() && new < old || self.is_complete() && old < new {
            return fail(old.min(new), format!("the original has {old} events, the edited function {new}"));
        }
        Ok(())
    }
}

impl Trace {
    /// The same events, those of one visit of a block by a number of their instructions instead of by time; a branch
    /// stays behind them.
    ///
    /// Nothing with an effect leaves its block, and a run is cut off between blocks, so what both runs reached is the
    /// same in this order, too.
    fn sorted_by(mut self, number: impl Fn(Inst) -> Option<Inst>) -> Trace {
        for visit in self.events.chunk_by_mut(|event, next| event.visit == next.visit) {
            visit.sort_by_key(|event| (event.is_branch, number(event.inst)));
        }
        self
    }
}

/// Runs both functions on some inputs, and checks that the reordered one does what the original does. Events that do
/// not conflict may change places.
pub fn check_same_effects(original: &Function, reordered: &Applied) -> Result<(), Mismatch> {
    let number = |inst| match reordered.origin.get(inst) {
        Some(&Origin::Kept(inst)) => Some(inst),
        _ => None,
    };
    for seed in 0..4 {
        let limits = Limits::default();
        let expected = interpret(original, seed, limits).sorted_by(Some);
        expected.refined_by(&interpret(&reordered.function, seed, limits).sorted_by(number), seed)?;
    }
    Ok(())
}

/// Edits a function; panics where the checker refuses the edits, or the function does something else then.
pub(super) fn sound(function: &Function, edits: &EditList) -> Applied {
    if let Err(errors) = check(function, edits) {
        panic!("{errors:#?}\n{edits:#?}\n{function}");
    }
    let applied = edits.apply(function).expect("the edits fit");
    applied.function.validate().expect("it stays valid");
    if let Err(mismatch) = check_same_effects(function, &applied) {
        panic!("{mismatch}\n{edits:#?}\n{function}\n{}", applied.function);
    }
    applied
}

/// Runs both functions on some inputs, and checks that the edited one does what the original does.
pub fn check_same_meaning(original: &Function, edited: &Function) -> Result<(), Mismatch> {
    for seed in 0..4 {
        let limits = Limits::default();
        interpret(original, seed, limits).refined_by(&interpret(edited, seed, limits), seed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{Block, EditList, Position, RegClass};

    /// A loop that nothing leaves is cut off after fewer rounds where it has more instructions; that is no difference.
    #[test]
    fn endless_loops_of_other_lengths_have_the_same_effects() {
        let head = "mfv 1\nfunction \"k\"\nopcode MOV_B32_i constant\nopcode ADD32ri\nopcode LD_i32\nopcode GOTO\n";
        let body = "regs %0 B32 B32 B32 B32\nbb0: frequency 1.0 depth 0 -> bb1\n  %0 = MOV_B32_i 7\nbb1: frequency 8.0 depth 1 -> bb1\n  %1 = LD_i32 %0, 1 :: read \
            global\n  %2 = LD_i32 %0, 2 :: read global\n  %3 = ADD32ri %0, 1\n  GOTO bb1 :: terminator\nend\n";
        let function = Function::parse(&format!("{head}{body}")).expect("a view");
        let mut edits = EditList::new(&function);
        let register = edits.create_register(RegClass::B32);
        let sum = function.block_insts(Block(1)).nth(2).expect("the sum");
        for _ in 0..40 {
            edits.insert_clone(Position { block: Block(1), before: Some(sum) }, sum, register);
        }
        let longer = edits.apply(&function).expect("the edits fit");
        assert_eq!(check_same_effects(&function, &longer), Ok(()));
    }
}
