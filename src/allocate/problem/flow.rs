//! Control flow: the order of instructions, which live ranges alone do not show.
//!
//! Allocators do not need it. Analyses of the allocated code do.

use std::fmt;
use std::ops::Range;

use super::{Problem, ProblemError};
use crate::function::{Block, Inst};
use crate::index::{EntityIndex, IndexVec};

/// A basic block: instructions that execute one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowBlock {
    /// The block's instructions. It begins where the previous block ends.
    pub insts: Range<Inst>,
    /// Successors of the block.
    pub succs: Vec<Block>,
}

/// The control flow of a problem, which begins at the first block. Without blocks, the control flow is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    pub(super) blocks: IndexVec<Block, FlowBlock>,
    /// Instructions whose only effect is their writes, in order.
    pub(super) pure: Vec<Inst>,
}

impl FlowBlock {
    /// Returns the block's instructions, in order.
    pub fn insts(&self) -> impl DoubleEndedIterator<Item = Inst> + use<> {
        (self.insts.start.0..self.insts.end.0).map(Inst)
    }
}

impl Flow {
    /// Returns the blocks.
    pub fn blocks(&self) -> &IndexVec<Block, FlowBlock> {
        &self.blocks
    }

    /// Returns the number of instructions in all blocks. The instructions are numbered from 0.
    pub fn num_insts(&self) -> usize {
        self.blocks.iter().next_back().map_or(0, |block| block.insts.end.0 as usize)
    }

    /// Whether an instruction may be removed if its results are never read. O(log instructions).
    pub fn is_pure(&self, inst: Inst) -> bool {
        self.pure.binary_search(&inst).is_ok()
    }
}

impl fmt::Display for Flow {
    /// Writes the blocks and pure instructions as lines of a problem's text form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for FlowBlock { insts, succs } in self.blocks.iter() {
            write!(f, "block {}..{}", insts.start.0, insts.end.0)?;
            for (number, succ) in succs.iter().enumerate() {
                write!(f, "{} {}", if number == 0 { " ->" } else { "" }, succ.0)?;
            }
            writeln!(f)?;
        }
        if !self.pure.is_empty() {
            write!(f, "pure")?;
            self.pure.iter().try_for_each(|inst| write!(f, " {}", inst.0))?;
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Problem {
    /// Returns the control flow.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Checks that blocks are consecutive, have existing successors, and contain all instructions with accesses.
    pub(super) fn validate_flow(&self) -> Result<(), ProblemError> {
        let mut start = Inst(0);
        for (block, data) in self.flow.blocks.iter_enumerated() {
            let leads_nowhere = data.succs.iter().any(|succ| succ.index() >= self.flow.blocks.len());
            if data.insts.start != start || data.insts.end < start || leads_nowhere {
                return Err(ProblemError::Flow { block });
            }
            start = data.insts.end;
        }
        match self.flow.blocks.ids().next_back() {
            Some(block) if self.accesses.iter().any(|access| access.inst >= start) => Err(ProblemError::Flow { block }),
            _ => Ok(()),
        }
    }
}
