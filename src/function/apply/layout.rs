//! The order of instructions: insertions, moves and permutations.

use super::ApplyError;
use super::editor::{Reason, known_block};
use crate::function::{Block, Effects, Function, Inst, Position, Role};
use crate::index::{EntityIndex, IndexVec};

/// Where insertions and moves put instructions.
///
/// A place before an instruction of the view is that instruction's own place in the view, even where the instruction
/// itself is moved away or deleted. So places are fixed from the start, and the new order is one merge.
pub(super) struct Layout {
    /// Instructions put at places, in the order of the edits.
    placed: Vec<(Place, Inst)>,
    /// Per instruction of the view: it is moved.
    moved: IndexVec<Inst, bool>,
    /// Moves to before an instruction, which must not be moved itself: the edit's number and that instruction.
    anchors: Vec<(usize, Inst)>,
    /// Per block of the view: its first terminator, or the instruction after its last.
    first_terminator: IndexVec<Block, Inst>,
    permutations: Vec<(Block, usize, Vec<Inst>)>,
}

/// Before which number an instruction goes; of places in different blocks, the earlier block's is first.
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
            anchors: Vec::new(),
            first_terminator: first_terminator.collect(),
            permutations: Vec::new(),
        }
    }

    /// Whether instructions may be put at a place.
    pub(super) fn check_place(&self, view: &Function, num_blocks: usize, at: Position) -> Result<(), Reason> {
        known_block(at.block, num_blocks)?;
        let Some(before) = at.before else { return Ok(()) };
        if at.block.index() >= view.num_blocks() {
            return Err(format!("{} has no instructions of the view: put everything at its end", at.block));
        }
        if !view.block_range(at.block).contains(&before) {
            return Err(format!("{before} is not an instruction of {} of the view", at.block));
        }
        if view.role(before) == Role::Phi {
            return Err(format!("nothing goes before {before}, a PHI"));
        }
        if before > self.first_terminator[at.block] {
            return Err(format!("nothing goes between terminators, before {before}"));
        }
        Ok(())
    }

    /// Puts an inserted instruction at a place that was checked.
    pub(super) fn place(&mut self, inst: Inst, at: Position) {
        let end = self.first_terminator.get(at.block).copied().unwrap_or(Inst(0));
        self.placed.push(((at.block, at.before.unwrap_or(end)), inst));
    }

    /// Moves an instruction of the view to a place that was checked.
    pub(super) fn move_inst(&mut self, index: usize, inst: Inst, at: Position) -> Result<(), Reason> {
        if std::mem::replace(&mut self.moved[inst], true) {
            return Err(format!("{inst} is moved twice"));
        }
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
            return Err(format!("{block} is made by a split: insert in the order that is wanted"));
        }
        self.permutations.push((block, index, order.to_vec()));
        Ok(())
    }

    /// All instructions in their new order, block by block; `branches[block]` is the branch that a split adds at the
    /// block's end.
    pub(super) fn order(
        &mut self,
        work: &Function,
        num_splits: usize,
        branches: &IndexVec<Block, Option<Inst>>,
    ) -> Result<IndexVec<Block, Vec<Inst>>, ApplyError> {
        for &(index, anchor) in &self.anchors {
            if self.moved[anchor] {
                let reason = format!("the place is before {anchor}, which is moved too: name one that stays");
                return Err(ApplyError { index, reason });
            }
        }
        self.placed.sort_by_key(|&(place, _)| place);
        let mut placed = self.placed.iter().peekable();
        let mut order: IndexVec<Block, Vec<Inst>> = IndexVec::from(Vec::with_capacity(work.num_blocks() + num_splits));
        for block in (0..work.num_blocks() + num_splits).map(Block::new) {
            let range = if block.index() < work.num_blocks() { work.block_range(block) } else { Inst(0)..Inst(0) };
            let mut insts = Vec::with_capacity(range.end.index() - range.start.index() + 1);
            for inst in (range.start.index()..=range.end.index()).map(Inst::new) {
                while let Some((_, here)) = placed.next_if(|&&(place, _)| place == (block, inst)) {
                    insts.push(*here);
                }
                if inst < range.end && !self.moved[inst] {
                    insts.push(inst);
                }
            }
            order.push(insts);
        }
        self.apply_permutations(work, &mut order)?;
        for (block, &branch) in branches.iter_enumerated() {
            order[block].extend(branch);
        }
        Ok(order)
    }

    fn apply_permutations(
        &mut self,
        work: &Function,
        order: &mut IndexVec<Block, Vec<Inst>>,
    ) -> Result<(), ApplyError> {
        self.permutations.sort_by_key(|&(block, index, _)| (block, index));
        let mut previous = None;
        for (block, index, permuted) in self.permutations.drain(..) {
            let twice = previous.replace(block) == Some(block);
            let check = if twice { Err(format!("{block} is permuted twice")) } else { Ok(()) };
            check
                .and_then(|()| check_permutation(work, block, &order[block], &permuted))
                .map_err(|reason| ApplyError { index, reason })?;
            order[block] = permuted;
        }
        Ok(())
    }
}

/// Whether `new` is `old` in another order, with PHIs still first and terminators as they were.
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
