//! Edits as a table, to be asked at each step.

use super::CleanupEdit;
use crate::allocate::problem::Problem;
use crate::function::Inst;

/// What the edits say of each access and instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::allocate) struct Overlay {
    /// By access: where it reads instead.
    reads: Vec<Option<u32>>,
    /// By access: it is not stored.
    is_unstored: Vec<bool>,
    /// By instruction: it is left out.
    is_removed: Vec<bool>,
}

impl Overlay {
    /// The table of some edits of what exists in the problem; later ones win.
    pub(in crate::allocate) fn new(problem: &Problem, edits: &[CleanupEdit]) -> Self {
        let (accesses, insts) = (problem.num_accesses(), problem.flow().num_insts());
        let mut overlay =
            Self { reads: vec![None; accesses], is_unstored: vec![false; accesses], is_removed: vec![false; insts] };
        for &edit in edits {
            match edit {
                CleanupEdit::Read { access, unit } => overlay.read_at(access, Some(unit)),
                CleanupEdit::Unstored { access } => overlay.leave_unstored(access),
                CleanupEdit::Remove { inst } => overlay.remove(inst),
            }
        }
        overlay
    }

    /// Where an access reads instead.
    pub(in crate::allocate) fn read(&self, access: usize) -> Option<u32> {
        self.reads[access]
    }

    /// Whether an access is not stored.
    pub(in crate::allocate) fn is_unstored(&self, access: usize) -> bool {
        self.is_unstored[access]
    }

    /// Whether an instruction is left out.
    pub(in crate::allocate) fn is_removed(&self, inst: Inst) -> bool {
        self.is_removed.get(inst.0 as usize).is_some_and(|&is_removed| is_removed)
    }

    pub(super) fn read_at(&mut self, access: usize, unit: Option<u32>) {
        if let Some(read) = self.reads.get_mut(access) {
            *read = unit;
        }
    }

    pub(super) fn leave_unstored(&mut self, access: usize) {
        if let Some(is_unstored) = self.is_unstored.get_mut(access) {
            *is_unstored = true;
        }
    }

    pub(super) fn remove(&mut self, inst: Inst) {
        if let Some(is_removed) = self.is_removed.get_mut(inst.0 as usize) {
            *is_removed = true;
        }
    }

    /// Keeps an instruction after all.
    pub(super) fn keep(&mut self, inst: Inst) {
        if let Some(is_removed) = self.is_removed.get_mut(inst.0 as usize) {
            *is_removed = false;
        }
    }

    /// The edits: accesses first, by their numbers, then instructions.
    pub(super) fn edits(&self) -> Vec<CleanupEdit> {
        let numbered = self.reads.iter().enumerate();
        let reads = numbered.filter_map(|(access, read)| Some(CleanupEdit::Read { access, unit: (*read)? }));
        let unstored = (0..self.is_unstored.len()).filter(|&access| self.is_unstored[access]);
        let removed = (0..self.is_removed.len()).filter(|&inst| self.is_removed[inst]);
        let unstored = unstored.map(|access| CleanupEdit::Unstored { access });
        reads.chain(unstored).chain(removed.map(|inst| CleanupEdit::Remove { inst: Inst(inst as u32) })).collect()
    }
}
