//! Observable actions of a run, and whether an edited function has the same.

use super::interpret::{Limits, interpret};
use super::memory::Seen;
use super::value::Bits;
use crate::check::check;
use crate::function::{Applied, EditList, Function, Inst, Origin};

/// An executed instruction with an effect, or an executed branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The instruction: the block's last for a branch.
    pub inst: Inst,
    /// The number of the block visit, counted from the start.
    pub visit: usize,
    /// A hash of its operation, equal for the register and the immediate form of an opcode.
    pub operation: u64,
    /// Whether it is a branch or a return.
    pub is_branch: bool,
    /// The values of its operands, sign-extended.
    pub reads: Vec<Bits>,
    /// The parts of memory and of earlier effects that it saw.
    pub seen: Seen,
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A return.
    Return,
    /// A trap of an instruction that may trap.
    Trap,
    /// A fault of a pure instruction, in this visit of a block.
    Fault {
        /// The visit.
        visit: usize,
    },
    /// A possible end: the run may also continue.
    Unknown,
}

/// The trace of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The events, in order. A return and a trap see all of memory, which is the final state of the run.
    pub events: Vec<Event>,
    /// The end of the run. `None` if the run was cut off, or if it branched on an undefined value, after which any
    /// behaviour is possible.
    pub end: Option<End>,
    /// The number of blocks entered.
    pub visits: usize,
}

/// The first difference of an edited function from the original.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}, event {event}: {reason}")]
pub struct Mismatch {
    /// The seed of the inputs.
    pub seed: u64,
    /// The index of the event.
    pub event: usize,
    /// The difference.
    pub reason: String,
}

impl Trace {
    /// Whether the end of the run is completely known.
    pub fn is_complete(&self) -> bool {
        matches!(self.end, Some(End::Return | End::Trap))
    }

    /// Checks that `edited` has the same events in the same order. Each must read and see the same values as the
    /// original, or any values where the original's are undefined. Only events that both runs reached are compared. If
    /// the original faults, the edited function may do anything. The edited function may fault only if the original
    /// does.
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
    /// Returns the trace with the events of each block visit sorted by the result of `number` for their instructions,
    /// instead of by time. A branch stays last.
    ///
    /// No instruction with an effect leaves its block, and a run is cut off between blocks, so the events that both
    /// runs reached are the same in this order, too.
    fn sorted_by(mut self, number: impl Fn(Inst) -> Option<Inst>) -> Trace {
        for visit in self.events.chunk_by_mut(|event, next| event.visit == next.visit) {
            visit.sort_by_key(|event| (event.is_branch, number(event.inst)));
        }
        self
    }
}

/// Runs both functions on some inputs, and checks that the reordered one has the same effects. Events that do not
/// conflict may be exchanged.
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

/// Applies edits. Panics if the checker refuses them, or if they change the meaning.
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

/// Runs both functions on some inputs, and checks that the edited one has the same meaning.
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

    /// An endless loop with more instructions is cut off after fewer iterations; this is no difference.
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
