//! A value that is moved out of the way, with the places of its stores and loads.

use super::choice::Chosen;
use crate::analysis::Occurrence;
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

/// A value that is moved out of the way, and where it comes back.
pub(super) struct Moved {
    pub(super) chosen: Chosen,
    pub(super) reloads: Vec<Reload>,
    /// Where it is stored: at one place at least, unless it is computed again.
    pub(super) stores: Vec<At>,
    /// The end of the instructions behind the only definition, in its block, at whose reads its register is live.
    pub(super) until: u32,
}

/// A new register that a value is loaded into.
pub(super) struct Reload {
    pub(super) at: At,
    pub(super) reads: Vec<Occurrence>,
}

impl Reload {
    /// Whether a read is tied to a definition: the value then comes back in its own register.
    pub(super) fn is_tied(&self, function: &Function) -> bool {
        self.reads.iter().any(|read| function.operands(read.inst)[read.operand as usize].tied.is_some())
    }
}
