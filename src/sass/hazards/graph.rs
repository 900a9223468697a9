//! The control-flow graph of a function, with its calls.

use super::guard::Guard;
use crate::sass::effects::{Effects, Flow};
use crate::sass::instruction::{Function, Instruction};
use crate::sass::operand::{Operand, PT};

/// An instruction with its effects, if its opcode is known.
#[derive(Clone, Debug)]
pub(super) struct Step<'f> {
    pub(super) instruction: &'f Instruction,
    pub(super) effects: Option<Effects>,
}

impl Step<'_> {
    /// Whether the guard is always false.
    pub(super) fn is_never_done(&self) -> bool {
        self.instruction.guard.is_some_and(|guard| guard.number == PT && guard.negated)
    }
}

/// A basic block: only its first instruction is a jump target, and only its last instruction jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A function's instructions and blocks.
#[derive(Clone, Debug)]
pub(super) struct Graph<'f> {
    pub(super) steps: Vec<Step<'f>>,
    pub(super) blocks: Vec<Block>,
    block_of: Vec<usize>,
}

/// The successors of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ways {
    /// Successors in the same activation, each with the condition of the edge.
    pub(super) next: Vec<(usize, Option<Guard>)>,
    /// The called block. The block after the call is in `next` if `call` is `None` or if the call is conditional.
    pub(super) call: Option<usize>,
    /// Whether the activation ends here.
    pub(super) returns: bool,
    /// Whether the block calls another function, which waits for all pending work.
    pub(super) is_settled: bool,
}

impl<'f> Graph<'f> {
    pub(super) fn of(function: &'f Function) -> Self {
        let steps: Vec<Step<'_>> = function
            .instructions
            .iter()
            .map(|instruction| Step { instruction, effects: Effects::of(instruction) })
            .collect();
        let at = |target: i64| steps.binary_search_by_key(&target, |step| step.instruction.address.into()).ok();
        let mut is_start = vec![false; steps.len() + 1];
        is_start[0] = true;
        for (index, step) in steps.iter().enumerate() {
            let target = match flow(step) {
                Flow::Next => continue,
                Flow::Branch { target, .. } => at(target),
                Flow::Call { target } => target.and_then(at),
                _ => None,
            };
            is_start[index + 1] = true;
            if let Some(target) = target {
                is_start[target] = true;
            }
        }
        let mut blocks: Vec<Block> = Vec::new();
        let mut block_of = Vec::with_capacity(steps.len());
        for (index, &is_start) in is_start.iter().enumerate().take(steps.len()) {
            if is_start {
                blocks.push(Block { start: index, end: index });
            }
            if let Some(last) = blocks.last_mut() {
                last.end = index + 1;
            }
            block_of.push(blocks.len() - 1);
        }
        Self { steps, blocks, block_of }
    }

    /// Returns the block after a block in the code.
    pub(super) fn behind(&self, block: usize) -> Option<usize> {
        Some(block + 1).filter(|&next| next < self.blocks.len())
    }

    /// Returns the successors of a block.
    pub(super) fn ways(&self, block: usize) -> Ways {
        let last = &self.steps[self.blocks[block].end - 1];
        let at = |target: i64| {
            let index = self.steps.binary_search_by_key(&target, |step| step.instruction.address.into()).ok()?;
            Some(self.block_of[index])
        };
        // If the guard is the only condition, the next block is reached only under the opposite condition.
        let guard = last.instruction.guard.and_then(Guard::of);
        let taken = guard.filter(|_| !matches!(flow(last), Flow::Next | Flow::Call { .. }));
        let is_sole = !last.instruction.operands.iter().any(|one| matches!(one, Operand::Predicate(_)))
            && !last.instruction.has("DIV")
            && !last.instruction.has("CONV");
        let passed = taken.filter(|_| is_sole).map(Guard::opposite);
        let behind = |is_wanted: bool| self.behind(block).filter(|_| is_wanted).map(|next| (next, passed));
        let mut ways = Ways::default();
        match flow(last) {
            Flow::Next => ways.next.extend(behind(true)),
            Flow::Branch { target, may_pass } => {
                ways.next.extend(at(target).map(|target| (target, taken)));
                ways.next.extend(behind(may_pass));
            }
            Flow::Call { target } => {
                ways.call = target.and_then(at);
                ways.is_settled = ways.call.is_none();
                // A conditional call may be skipped.
                ways.next.extend(behind(ways.is_settled || guard.is_some()));
            }
            Flow::Return { may_pass } => {
                ways.next.extend(behind(may_pass));
                ways.returns = true;
            }
            Flow::Exit { may_pass } | Flow::Leave { may_pass } => ways.next.extend(behind(may_pass)),
            Flow::Indirect => {}
        }
        ways
    }
}

fn flow(step: &Step<'_>) -> Flow {
    step.effects.as_ref().map_or(Flow::Next, |effects| effects.flow)
}
