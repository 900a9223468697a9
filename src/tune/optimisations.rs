//! Which of LLVM's own optimisations a variant goes without, and which it gets on top.

use crate::config::{Add, Skip};

/// The default is LLVM's own pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Optimisations {
    skip: Skip,
    add: Add,
}

impl Optimisations {
    /// LLVM's own pipeline.
    pub const STOCK: Self = Self { skip: Skip::empty(), add: Add::empty() };

    /// What to leave out, or to have again, and what to add, or to leave as it was: first what helps most kernels.
    /// `structurizecfg` is not searched: it changes the control flow, and a comparison sees only the code that a
    /// few launches reach.
    pub const TOGGLES: [Self; 19] = [
        Self::HOIST,
        Self::without(Skip::LOOP_REDUCE),
        Self::without(Skip::CODE_GEN_PREPARE),
        Self::without(Skip::MACHINE_SINK),
        Self::with(Add::REG2MEM),
        Self::TOLD,
        Self::with(Add::REASSOCIATE),
        Self::without(Skip::LOAD_STORE_VECTORIZER),
        Self::without(Skip::MACHINE_CSE),
        Self::with(Add::SEPARATE_CONST_OFFSET),
        Self::with(Add::SINK),
        Self::without(Skip::SLSR),
        Self::with(Add::SLSR),
        Self::without(Skip::MACHINE_LICM),
        Self::with(Add::SLP_VECTORIZER),
        Self::without(Skip::SPECULATIVE_EXECUTION),
        Self::without(Skip::SEPARATE_CONST_OFFSET),
        Self::without(Skip::GVN),
        Self::without(Skip::BLOCK_PLACEMENT),
    ];

    /// Those that help most kernels that spill nothing.
    pub const FOR_WARPS: [Self; 4] = [
        Self::without(Skip::LOOP_REDUCE),
        Self::without(Skip::MACHINE_SINK),
        Self::without(Skip::CODE_GEN_PREPARE),
        Self::without(Skip::LOAD_STORE_VECTORIZER),
    ];

    /// LLVM's own pipeline, and what it is not told of inline assembly: without it most orders of code that has any are
    /// the same.
    pub const TOLD: Self = Self::with(Add::ASSEMBLY_EFFECTS);

    /// That which helps most kernels that spill.
    pub const HOIST: Self = Self::with(Add::GVN_HOIST);

    /// LLVM's own pipeline without some of it.
    pub const fn without(skip: Skip) -> Self {
        Self { skip, ..Self::STOCK }
    }

    /// LLVM's own pipeline and more.
    pub const fn with(add: Add) -> Self {
        Self { add, ..Self::STOCK }
    }

    /// The same but for what `other` has, too, and with what `other` alone has.
    pub fn toggled(self, other: Self) -> Self {
        Self { skip: self.skip ^ other.skip, add: self.add ^ other.add }
    }

    /// What of it is done to LLVM IR, ahead of the choice of instructions.
    #[cfg(any(feature = "llvm", test))]
    pub fn of_ir(self) -> Self {
        Self { skip: self.skip & Skip::OF_IR, ..self }
    }

    /// The options that ask for it.
    pub fn options(self) -> impl Iterator<Item = String> {
        let add = (!self.add.is_empty()).then(|| format!("add={}", self.add.words()));
        let skip = (!self.skip.is_empty()).then(|| format!("skip={}", self.skip.words()));
        add.into_iter().chain(skip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is toggled twice is as it was, and machine code's part is none of IR's.
    #[test]
    fn toggles() {
        let both = Optimisations::HOIST.toggled(Optimisations::without(Skip::MACHINE_SINK | Skip::GVN));
        assert_eq!(both.options().collect::<Vec<_>>(), ["add=gvn-hoist", "skip=gvn+machine-sink"]);
        assert_eq!(both.toggled(Optimisations::HOIST).options().collect::<Vec<_>>(), ["skip=gvn+machine-sink"]);
        assert_eq!(both.of_ir().options().collect::<Vec<_>>(), ["add=gvn-hoist", "skip=gvn"]);
        assert_eq!(both.toggled(both), Optimisations::STOCK);
    }

    /// Each that there is stands once in the list, but for the forecast's choice and what changes the control flow.
    #[test]
    fn all_are_toggled() {
        let all = Optimisations::TOGGLES.into_iter().fold(Optimisations::STOCK, Optimisations::toggled);
        assert_eq!(all, Optimisations { skip: Skip::all() - Skip::AUTO, add: Add::all() - Add::STRUCTURIZE_CFG });
        let count = all.skip.iter().count() + all.add.iter().count();
        assert_eq!(Optimisations::TOGGLES.len(), count);
    }
}
