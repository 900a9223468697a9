//! What was chosen, and what can be chosen no more because of it.

use super::links::Links;
use super::sources::{Extensions, result, sources};
use crate::function::{Function, Inst, VReg};
use crate::index::IndexVec;
use crate::spill::groups::Group;

/// A value that is computed again.
pub(super) struct Chosen {
    pub(super) reg: VReg,
    /// Its only definition.
    pub(super) definition: Inst,
    /// What is computed again ahead of that: nobody else reads it.
    pub(super) links: Links,
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

    /// How many instructions the clones are.
    pub(super) fn instructions(&self) -> usize {
        self.clones().count() * (1 + self.links.len())
    }

    /// What is computed again, in its order.
    pub(super) fn computed(&self) -> impl Iterator<Item = Inst> {
        self.links.iter().copied().chain([self.definition])
    }

    /// The registers that clones read and that no clone computes, each with the definition that reads it.
    pub(super) fn sources(&self, function: &Function) -> impl Iterator<Item = (VReg, Inst)> {
        let is_link = |source: VReg| self.links.iter().any(|&link| result(function, link) == Some(source));
        let read = self.computed().flat_map(|inst| sources(function, inst).map(move |source| (source, inst)));
        read.filter(move |&(source, _)| !is_link(source))
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

    /// Whether a register may still be chosen that is computed so.
    pub(super) fn allow(&self, function: &Function, reg: VReg, computed: impl IntoIterator<Item = Inst>) -> bool {
        !self.held[reg] && !computed.into_iter().any(|inst| sources(function, inst).any(|source| self.gone[source]))
    }

    /// Whether nothing that was chosen has to do with a register.
    pub(super) fn is_free(&self, reg: VReg) -> bool {
        !self.held[reg] && !self.gone[reg]
    }

    pub(super) fn add(&mut self, function: &Function, value: Chosen) {
        for inst in value.computed() {
            self.gone[result(function, inst).unwrap_or(value.reg)] = true;
            sources(function, inst).for_each(|source| self.held[source] = true);
        }
        self.values.push(value);
    }
}
