//! Places for stores and loads.

use crate::function::{Block, Effects, Function, Inst, Position};

/// A place in a block: in front of an instruction, or at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) block: Block,
    /// The instruction; at the end of the block the first terminator, or the number behind the block.
    pub(super) before: u32,
}

impl At {
    /// The place at the end of a block.
    pub(super) fn end(function: &Function, block: Block) -> Self {
        let range = function.block_range(block);
        let is_terminator = |&inst: &u32| function.effects(Inst(inst)).contains(Effects::TERMINATOR);
        let terminators = (range.start.0..range.end.0).rev().take_while(is_terminator).count() as u32;
        Self { block, before: range.end.0 - terminators }
    }

    /// The same place for an edit.
    pub(super) fn position(self, function: &Function) -> Position {
        let is_end = self == Self::end(function, self.block);
        Position { block: self.block, before: (!is_end).then_some(Inst(self.before)) }
    }
}
