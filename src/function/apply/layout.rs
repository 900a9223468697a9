//! The order of instructions: insertions, moves and permutations.

use std::ops::Range;

use super::ApplyError;
use super::ids::{Reason, known_block};
use crate::function::{Block, Effects, Function, Inst, Position, Role};
use crate::index::{EntityIndex, IndexVec};

/// The positions of inserted and moved instructions.
///
/// A position before an instruction of the view refers to that instruction's original position, even if the instruction
/// is moved or deleted. Positions are therefore fixed from the start, and one merge computes the new order.
pub(super) struct Layout {
    /// Inserted and moved instructions with their positions, in the order of the edits.
    placed: Vec<(Place, Inst)>,
    /// Whether each instruction of the view is moved.
    moved: IndexVec<Inst, bool>,
    is_any_moved: bool,
    /// Instructions before which a move places another instruction, each with the index of the edit. No edit may move
    /// these instructions.
    anchors: Vec<(usize, Inst)>,
    /// For each block of the view, its first terminator. If the block has no terminator, the instruction after the
    /// block's last.
    first_terminator: IndexVec<Block, Inst>,
    permutations: Vec<(Block, usize, Vec<Inst>)>,
}

/// The block, and the instruction before which an instruction is placed. Positions are ordered by block.
type Place = (Block, Inst);

impl Layout {
    pub(super) fn new(function: &Function, num_edits: usize) -> Self {
        let first_terminator = function.blocks().map(|block| {
            let trailing = function.block_insts(block).rev();
            trailing
                .take_while(|&inst| function.effects(inst).contains(Effects::TERMINATOR))
                .last()
                .unwrap_or(function.block_range(block).end)
        });
        Self {
            placed: Vec::with_capacity(num_edits),
            moved: IndexVec::filled(false, function.num_insts()),
            is_any_moved: false,
            anchors: Vec::new(),
            first_terminator: first_terminator.collect(),
            permutations: Vec::new(),
        }
    }

    /// Checks that instructions may be placed at a position.
    pub(super) fn check_place(&self, view: &Function, num_blocks: usize, at: Position) -> Result<(), Reason> {
        known_block(at.block, num_blocks)?;
        let Some(before) = at.before else { return Ok(()) };
        if at.block.index() >= view.num_blocks() {
            return Err(format!("{} has no instructions of the view: insert at its end", at.block));
        }
        if !view.block_range(at.block).contains(&before) {
            return Err(format!("{before} is not an instruction of {} of the view", at.block));
        }
        if view.role(before) == Role::Phi {
            return Err(format!("no instruction may be placed before {before}, a PHI"));
        }
        if before > self.first_terminator[at.block] {
            return Err(format!("no instruction may be placed between terminators, before {before}"));
        }
        Ok(())
    }

    /// Places an inserted instruction at a position that was checked.
    pub(super) fn place(&mut self, inst: Inst, at: Position) {
        let end = self.first_terminator.get(at.block).copied().unwrap_or(Inst(0));
        self.placed.push(((at.block, at.before.unwrap_or(end)), inst));
    }

    /// Moves an instruction of the view to a position that was checked.
    pub(super) fn move_inst(&mut self, index: usize, inst: Inst, at: Position) -> Result<(), Reason> {
        if std::mem::replace(&mut self.moved[inst], true) {
            return Err(format!("{inst} is moved twice"));
        }
        self.is_any_moved = true;
        if let Some(before) = at.before {
            self.anchors.push((index, before));
        }
        self.place(inst, at);
        Ok(())
    }

    pub(super) fn is_moved(&self, inst: Inst) -> bool {
        self.moved.get(inst).copied().unwrap_or(false)
    }

    pub(super) fn permute(
        &mut self,
        num_blocks: usize,
        index: usize,
        block: Block,
        order: &[Inst],
    ) -> Result<(), Reason> {
        known_block(block, num_blocks)?;
        if block.index() >= self.first_terminator.len() {
            return Err(format!("{block} is made by a split: insert its instructions in their final order"));
        }
        self.permutations.push((block, index, order.to_vec()));
        Ok(())
    }

    /// Returns all instructions in their new order, block by block. `branches[block]` is the branch that a split adds
    /// at the block's end. O(blocks + insertions · log insertions), and O(instructions) if some are moved or permuted.
    pub(super) fn order(
        &mut self,
        work: &Function,
        num_splits: usize,
        branches: &IndexVec<Block, Option<Inst>>,
    ) -> Result<Order, ApplyError> {
        for &(index, anchor) in &self.anchors {
            if self.moved[anchor] {
                let reason = format!(
                    "the position is before {anchor}, which is moved too: use an instruction that is not moved"
                );
                return Err(ApplyError { index, reason });
            }
        }
        self.placed.sort_by_key(|&(place, _)| place);
        self.permutations.sort_by_key(|&(block, index, _)| (block, index));
        let mut placed = self.placed.iter().peekable();
        let mut permutations = self.permutations.iter().peekable();
        let mut order = Order::default();
        for block in (0..work.num_blocks() + num_splits).map(Block::new) {
            let mut stay = if block.index() < work.num_blocks() { work.block_range(block) } else { Inst(0)..Inst(0) };
            order.begin_block();
            while let Some(&((_, before), inst)) = placed.next_if(|&&((other, _), _)| other == block) {
                self.keep(stay.start..before, &mut order);
                order.push(inst..Inst(inst.0 + 1));
                stay.start = before;
            }
            self.keep(stay, &mut order);
            let mut is_permuted = false;
            while let Some((_, index, new)) = permutations.next_if(|&&(other, ..)| other == block) {
                let check = match std::mem::replace(&mut is_permuted, true) {
                    true => Err(format!("{block} is permuted twice")),
                    false => check_permutation(work, block, &order.last_block(), new),
                };
                check.map_err(|reason| ApplyError { index: *index, reason })?;
                order.replace_last_block(new);
            }
            if let Some(branch) = branches[block] {
                order.push(branch..Inst(branch.0 + 1));
            }
        }
        Ok(order)
    }

    /// Appends consecutive instructions of the view, without the moved ones.
    fn keep(&self, insts: Range<Inst>, order: &mut Order) {
        if !self.is_any_moved {
            return order.push(insts);
        }
        for inst in (insts.start.0..insts.end.0).map(Inst).filter(|&inst| !self.moved[inst]) {
            order.push(inst..Inst(inst.0 + 1));
        }
    }
}

/// The instructions of all blocks in their new order, as runs of consecutive instructions.
#[derive(Default)]
pub(super) struct Order {
    runs: Vec<Range<Inst>>,
    /// The index of each block's first run.
    starts: IndexVec<Block, usize>,
}

impl Order {
    /// Returns the runs of each block. No run is empty.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (Block, &[Range<Inst>])> {
        self.starts.iter_enumerated().map(|(block, &start)| {
            let end = self.starts.get(Block(block.0 + 1)).copied().unwrap_or(self.runs.len());
            (block, &self.runs[start..end])
        })
    }

    /// Returns the number of blocks.
    pub(super) fn num_blocks(&self) -> usize {
        self.starts.len()
    }

    fn begin_block(&mut self) {
        self.starts.push(self.runs.len());
    }

    /// Appends instructions to the last block.
    fn push(&mut self, insts: Range<Inst>) {
        let start = self.start_of_last_block();
        match self.runs[start..].last_mut() {
            _ if insts.is_empty() => {}
            Some(last) if last.end == insts.start => last.end = insts.end,
            _ => self.runs.push(insts),
        }
    }

    fn last_block(&self) -> Vec<Inst> {
        let runs = self.runs[self.start_of_last_block()..].iter();
        runs.flat_map(|run| (run.start.0..run.end.0).map(Inst)).collect()
    }

    fn replace_last_block(&mut self, insts: &[Inst]) {
        self.runs.truncate(self.start_of_last_block());
        insts.iter().for_each(|&inst| self.push(inst..Inst(inst.0 + 1)));
    }

    fn start_of_last_block(&self) -> usize {
        self.starts.as_slice().last().copied().unwrap_or(0)
    }
}

/// Checks that `new` is a permutation of `old`, that PHIs are still first, and that terminators have not moved.
fn check_permutation(work: &Function, block: Block, old: &[Inst], new: &[Inst]) -> Result<(), Reason> {
    let (mut old_sorted, mut new_sorted) = (old.to_vec(), new.to_vec());
    old_sorted.sort_unstable();
    new_sorted.sort_unstable();
    if old_sorted != new_sorted {
        return Err(format!("the order must list every instruction of {block} once, insertions and moves included"));
    }
    let is_phi = |&&inst: &&Inst| work.role(inst) == Role::Phi;
    if new.iter().take_while(is_phi).count() != new.iter().filter(is_phi).count() {
        return Err(format!("the PHIs of {block} must stay first"));
    }
    let terminators = old.iter().rev().take_while(|&&inst| work.effects(inst).contains(Effects::TERMINATOR)).count();
    if old[old.len() - terminators..] != new[new.len() - terminators..] {
        return Err(format!("the terminators of {block} must stay last, in their order"));
    }
    Ok(())
}
