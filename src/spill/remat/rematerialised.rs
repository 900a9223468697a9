//! The chosen values, and the registers that can therefore no longer be chosen.

use super::sources::{Extensions, result, sources};
use crate::function::{Function, Inst, VReg};
use crate::index::IndexVec;
use crate::spill::groups::Group;

/// A rematerialised value.
pub(super) struct Rematerialised {
    pub(super) reg: VReg,
    /// The repeated instructions in their order. The last is the value's only definition. The results of the others
    /// have no other reader.
    pub(super) computed: Vec<Inst>,
    pub(super) groups: Vec<Group>,
    /// Number of registers that live longer for the clones; 0 for comparisons, because ptxas itself repeats their
    /// operands.
    pub(super) extended: usize,
}

impl Rematerialised {
    /// Returns the groups that get a clone.
    pub(super) fn clones(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.has_definition)
    }

    /// Returns the number of cloned instructions.
    pub(super) fn instructions(&self) -> usize {
        self.clones().count() * self.computed.len()
    }

    /// Returns the registers that clones read and no clone computes, each with the definition that reads it.
    pub(super) fn sources(&self, function: &Function) -> impl Iterator<Item = (VReg, Inst)> {
        let is_computed = |source| self.computed.iter().any(|&inst| result(function, inst) == Some(source));
        let read = self.computed.iter().flat_map(|&inst| sources(function, inst).map(move |source| (source, inst)));
        read.filter(move |&(source, _)| !is_computed(source))
    }
}

/// All rematerialised values. Registers that these values remove or read cannot be chosen.
pub(super) struct RematPlan {
    pub(super) values: Vec<Rematerialised>,
    /// Registers whose definitions are removed, so that no clone may read them.
    is_removed: IndexVec<VReg, bool>,
    /// Registers that clones read.
    is_read_by_clones: IndexVec<VReg, bool>,
    /// The instructions at which registers live longer for clones.
    pub(super) extensions: Extensions,
}

impl RematPlan {
    pub(super) fn none(function: &Function) -> Self {
        let none = || IndexVec::filled(false, function.num_regs());
        Self { values: Vec::new(), is_removed: none(), is_read_by_clones: none(), extensions: Extensions::default() }
    }

    /// Whether a register that `computed` computes may still be chosen.
    pub(super) fn allow(&self, function: &Function, reg: VReg, computed: &[Inst]) -> bool {
        !self.is_read_by_clones[reg]
            && !computed.iter().any(|&inst| sources(function, inst).any(|source| self.is_removed[source]))
    }

    /// Whether no chosen value removes or reads a register.
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
