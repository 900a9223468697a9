//! Control flow: where one instruction follows another, which live ranges alone do not tell.
//!
//! Whoever only places live ranges needs none of it. It is for what looks at the code that an allocation stands for.

use std::fmt;
use std::ops::Range;

use super::{Problem, ProblemError};
use crate::function::{Block, Inst};
use crate::index::{EntityIndex, IndexVec};

/// A block: instructions that run one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowBlock {
    /// Its instructions; it begins where the block before it ends.
    pub insts: Range<Inst>,
    /// The blocks that may come next.
    pub succs: Vec<Block>,
}

/// The control flow of a problem; control flow enters at the first block. Without blocks, nobody knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    pub(super) blocks: IndexVec<Block, FlowBlock>,
    /// Instructions that do nothing but write what they write, in order.
    pub(super) pure: Vec<Inst>,
}

impl FlowBlock {
    /// Its instructions, in order.
    pub fn insts(&self) -> impl DoubleEndedIterator<Item = Inst> + use<> {
        (self.insts.start.0..self.insts.end.0).map(Inst)
    }
}

impl Flow {
    /// The blocks.
    pub fn blocks(&self) -> &IndexVec<Block, FlowBlock> {
        &self.blocks
    }

    /// The instructions of all blocks; their numbers are below this one.
    pub fn num_insts(&self) -> usize {
        self.blocks.iter().next_back().map_or(0, |block| block.insts.end.0 as usize)
    }

    /// Whether an instruction may be left out where nobody reads what it writes. O(log instructions).
    pub fn is_pure(&self, inst: Inst) -> bool {
        self.pure.binary_search(&inst).is_ok()
    }
}

impl fmt::Display for Flow {
    /// In the lines of a problem's text form.
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
    /// The control flow.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Blocks stand one behind the other, lead to blocks, and hold all instructions that access something.
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
