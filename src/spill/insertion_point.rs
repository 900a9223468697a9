//! Insertion points of stores and loads.

use crate::analysis::Occurrence;
use crate::function::{Block, Effects, Function, Inst, Position, Role};

/// A place in a block: before an instruction, or at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InsertionPoint {
    pub(crate) block: Block,
    /// The instruction after the place. At the end of a block, the first terminator, or the number after the block's
    /// last instruction.
    pub(crate) before: u32,
}

impl InsertionPoint {
    /// Returns the place at the end of a block.
    pub(crate) fn end(function: &Function, block: Block) -> Self {
        let range = function.block_range(block);
        let is_terminator = |&inst: &u32| function.effects(Inst(inst)).contains(Effects::TERMINATOR);
        let terminators = (range.start.0..range.end.0).rev().take_while(is_terminator).count() as u32;
        Self { block, before: range.end.0 - terminators }
    }

    /// Returns the first place after a definition at which an instruction can be inserted, which is not within a call
    /// sequence.
    pub(crate) fn after(function: &Function, definition: &Occurrence) -> Self {
        let end = Self::end(function, definition.block);
        let is_free = |&inst: &Inst| {
            !function.effects(inst).contains(Effects::CALL_SEQUENCE) && function.role(inst) != Role::Debug
        };
        let next = (definition.inst.0 + 1..end.before).map(Inst).find(is_free);
        next.map_or(end, |next| Self { block: definition.block, before: next.0 })
    }

    /// Converts the place for an edit.
    pub(crate) fn position(self, function: &Function) -> Position {
        let is_end = self == Self::end(function, self.block);
        Position { block: self.block, before: (!is_end).then_some(Inst(self.before)) }
    }
}
