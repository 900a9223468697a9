//! Places for stores and loads.

use crate::analysis::Occurrence;
use crate::function::{Block, Effects, Function, Inst, Position, Role};

/// A place in a block: in front of an instruction, or at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InsertionPoint {
    pub(crate) block: Block,
    /// The instruction; at the end of the block the first terminator, or the number behind the block.
    pub(crate) before: u32,
}

impl InsertionPoint {
    /// The place at the end of a block.
    pub(crate) fn end(function: &Function, block: Block) -> Self {
        let range = function.block_range(block);
        let is_terminator = |&inst: &u32| function.effects(Inst(inst)).contains(Effects::TERMINATOR);
        let terminators = (range.start.0..range.end.0).rev().take_while(is_terminator).count() as u32;
        Self { block, before: range.end.0 - terminators }
    }

    /// The place behind a definition: not within a call sequence, where nothing may stand.
    pub(crate) fn after(function: &Function, definition: &Occurrence) -> Self {
        let end = Self::end(function, definition.block);
        let is_free = |&inst: &Inst| {
            !function.effects(inst).contains(Effects::CALL_SEQUENCE) && function.role(inst) != Role::Debug
        };
        let next = (definition.inst.0 + 1..end.before).map(Inst).find(is_free);
        next.map_or(end, |next| Self { block: definition.block, before: next.0 })
    }

    /// The same place for an edit.
    pub(crate) fn position(self, function: &Function) -> Position {
        let is_end = self == Self::end(function, self.block);
        Position { block: self.block, before: (!is_end).then_some(Inst(self.before)) }
    }
}
