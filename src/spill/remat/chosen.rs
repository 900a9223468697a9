//! What was chosen, and what can be chosen no more because of it.

use super::sources::{Extensions, sources};
use crate::function::{Function, Inst, VReg};
use crate::index::IndexVec;
use crate::spill::groups::Group;

/// A value that is computed again.
pub(super) struct Chosen {
    pub(super) reg: VReg,
    /// Its only definition.
    pub(super) definition: Inst,
    pub(super) groups: Vec<Group>,
    /// How many registers its clones read where these were not live, and which are kept for that. What comparisons read, ptxas
    /// computes again.
    pub(super) extended: usize,
}

impl Chosen {
    /// The groups that get a clone.
    pub(super) fn clones(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.has_definition)
    }
}

/// All that is computed again. Other registers cannot be, because what was chosen has to do with them.
pub(super) struct Choices {
    pub(super) values: Vec<Chosen>,
    /// They go: nobody else may read them.
    gone: IndexVec<VReg, bool>,
    /// Clones read them where they are live now.
    held: IndexVec<VReg, bool>,
    /// Clones read them where they were not live.
    pub(super) extensions: Extensions,
}

impl Choices {
    pub(super) fn none(function: &Function) -> Self {
        let none = || IndexVec::filled(false, function.num_regs());
        Self { values: Vec::new(), gone: none(), held: none(), extensions: Extensions::default() }
    }

    /// Whether a register with that definition may still be chosen.
    pub(super) fn allow(&self, function: &Function, reg: VReg, definition: Inst) -> bool {
        !self.held[reg] && !sources(function, definition).any(|source| self.gone[source])
    }

    /// Whether nothing that was chosen has to do with a register.
    pub(super) fn is_free(&self, reg: VReg) -> bool {
        !self.held[reg] && !self.gone[reg]
    }

    pub(super) fn add(&mut self, function: &Function, value: Chosen) {
        self.gone[value.reg] = true;
        sources(function, value.definition).for_each(|source| self.held[source] = true);
        self.values.push(value);
    }
}
