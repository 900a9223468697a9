//! Edits as a table for quick lookup.

use super::CleanupEdit;
use crate::allocate::problem::Problem;
use crate::function::Inst;

/// Edits of each access and instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::allocate) struct Overlay {
    /// By access: the unit that it reads in place of its own.
    reads: Vec<Option<u32>>,
    /// By access: whether it is not stored.
    is_unstored: Vec<bool>,
    /// By instruction: whether it is removed.
    is_removed: Vec<bool>,
}

impl Overlay {
    /// Builds the table of a list of edits, which refer to existing accesses and instructions. Of two edits of one
    /// access, the later edit counts.
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

    /// Returns the unit that an access reads in place of its own.
    pub(in crate::allocate) fn read(&self, access: usize) -> Option<u32> {
        self.reads[access]
    }

    /// Whether an access is not stored.
    pub(in crate::allocate) fn is_unstored(&self, access: usize) -> bool {
        self.is_unstored[access]
    }

    /// Whether an instruction is removed.
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

    /// Cancels the removal of an instruction.
    pub(super) fn keep(&mut self, inst: Inst) {
        if let Some(is_removed) = self.is_removed.get_mut(inst.0 as usize) {
            *is_removed = false;
        }
    }

    /// Returns the edits: accesses first, by their numbers, then instructions.
    pub(super) fn edits(&self) -> Vec<CleanupEdit> {
        let numbered = self.reads.iter().enumerate();
        let reads = numbered.filter_map(|(access, read)| Some(CleanupEdit::Read { access, unit: (*read)? }));
        let unstored = (0..self.is_unstored.len()).filter(|&access| self.is_unstored[access]);
        let removed = (0..self.is_removed.len()).filter(|&inst| self.is_removed[inst]);
        let unstored = unstored.map(|access| CleanupEdit::Unstored { access });
        reads.chain(unstored).chain(removed.map(|inst| CleanupEdit::Remove { inst: Inst(inst as u32) })).collect()
    }
}
