//! What was chosen, and what can be chosen no more because of it.

use super::sources::{Extensions, result, sources};
use crate::function::{Function, Inst, VReg};
use crate::index::IndexVec;
use crate::spill::groups::Group;

/// A value that is computed again.
pub(super) struct Rematerialised {
    pub(super) reg: VReg,
    /// What is computed again, in its order: last the value's only definition, and ahead of it what nobody else reads.
    pub(super) computed: Vec<Inst>,
    pub(super) groups: Vec<Group>,
    /// How many registers its clones read where these were not live, and which are kept for that. What comparisons read, ptxas
    /// computes again.
    pub(super) extended: usize,
}

impl Rematerialised {
    /// The groups that get a clone.
    pub(super) fn clones(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.has_definition)
    }

    /// How many instructions the clones are.
    pub(super) fn instructions(&self) -> usize {
        self.clones().count() * self.computed.len()
    }

    /// The registers that clones read and that no clone computes, each with the definition that reads it.
    pub(super) fn sources(&self, function: &Function) -> impl Iterator<Item = (VReg, Inst)> {
        let is_computed = |source| self.computed.iter().any(|&inst| result(function, inst) == Some(source));
        let read = self.computed.iter().flat_map(|&inst| sources(function, inst).map(move |source| (source, inst)));
        read.filter(move |&(source, _)| !is_computed(source))
    }
}

/// All that is computed again. Other registers cannot be, because what was chosen has to do with them.
pub(super) struct RematPlan {
    pub(super) values: Vec<Rematerialised>,
    /// They go: nobody else may read them.
    is_removed: IndexVec<VReg, bool>,
    /// Clones read them where they are live now.
    is_read_by_clones: IndexVec<VReg, bool>,
    /// Clones read them where they were not live.
    pub(super) extensions: Extensions,
}

impl RematPlan {
    pub(super) fn none(function: &Function) -> Self {
        let none = || IndexVec::filled(false, function.num_regs());
        Self { values: Vec::new(), is_removed: none(), is_read_by_clones: none(), extensions: Extensions::default() }
    }

    /// Whether a register may still be chosen that is computed so.
    pub(super) fn allow(&self, function: &Function, reg: VReg, computed: &[Inst]) -> bool {
        !self.is_read_by_clones[reg]
            && !computed.iter().any(|&inst| sources(function, inst).any(|source| self.is_removed[source]))
    }

    /// Whether nothing that was chosen has to do with a register.
    pub(super) fn is_free(&self, reg: VReg) -> bool {
        !self.is_read_by_clones[reg] && !self.is_removed[reg]
    }

    pub(super) fn add(&mut self, function: &Function, value: Rematerialised) {
        for &inst in &value.computed {
            result(function, inst).into_iter().for_each(|reg| self.is_removed[reg] = true);
            sources(function, inst).for_each(|source| self.is_read_by_clones[source] = true);
        }
        self.values.push(value);
    }
}
