//! The LLVM optimisations that a variant leaves out or adds, and the bounds of inlining and unrolling.

use crate::config::{AddPasses, Config, SkipPasses, unless_default};

/// The LLVM optimisations that a search may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choices {
    /// None. LLVM's own pipeline runs.
    Nothing,
    /// Optimisations of the code generator.
    CodeGeneration,
    /// Optimisations of the code generator, and the inlining and unrolling before all others.
    All,
}

/// Choices before LLVM's optimisations, by the names of the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ahead {
    inline: &'static str,
    unroll: &'static str,
}

impl Ahead {
    /// LLVM's own choices.
    pub const STOCK: Self = Self { inline: "llvm", unroll: "llvm" };

    /// Inlines all calls that receive addresses of stack variables.
    pub const STACK: Self = Self { inline: "stack", ..Self::STOCK };

    /// The tried choices, the most helpful first. With the default, they fill two rounds of the search.
    pub const CHOICES: [Self; 7] = [
        Self::STACK,
        Self { inline: "all", ..Self::STOCK },
        Self { unroll: "stack", ..Self::STACK },
        Self { unroll: "asked", ..Self::STOCK },
        Self { unroll: "cut", ..Self::STOCK },
        Self { unroll: "stack", ..Self::STOCK },
        Self { inline: "less", ..Self::STOCK },
    ];

    /// Whether less is inlined or unrolled than by LLVM. The code then has fewer instructions, but a run does not
    /// execute fewer.
    pub fn does_less(self) -> bool {
        self.inline == "less" || matches!(self.unroll, "asked" | "cut")
    }

    /// Whether a run may execute more instructions than a run of LLVM's own code, because of additional calls and loops
    /// that are not unrolled.
    fn may_run_more(self) -> bool {
        self.inline != "llvm" || matches!(self.unroll, "asked" | "cut")
    }

    /// Combines these choices with those of `other`, which take precedence.
    pub fn with(self, other: Self) -> Self {
        let either = |own, new| if new == "llvm" { own } else { new };
        Self { inline: either(self.inline, other.inline), unroll: either(self.unroll, other.unroll) }
    }
}

impl Default for Ahead {
    fn default() -> Self {
        Self::STOCK
    }
}

/// LLVM optimisations that are chosen, left out or added. The default is LLVM's own pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Optimisations {
    ahead: Ahead,
    skip_passes: SkipPasses,
    add_passes: AddPasses,
}

impl Optimisations {
    /// LLVM's own pipeline.
    pub const STOCK: Self =
        Self { ahead: Ahead::STOCK, skip_passes: SkipPasses::empty(), add_passes: AddPasses::empty() };

    /// The defaults of the options.
    pub const DEFAULT: Self = Self::of(&Config::DEFAULT);

    /// Returns the choices that the options make.
    pub(super) const fn of(config: &Config) -> Self {
        let ahead = Ahead { inline: config.inline.word(), unroll: config.unroll.word() };
        Self { ahead, skip_passes: config.skip_passes, add_passes: config.add_passes }
    }

    /// The changes that a search toggles, the most helpful first: each leaves out or adds passes. `structurizecfg` is
    /// not searched: it changes the control flow, and a comparison covers only the code that a few launches reach.
    pub const TOGGLES: [Self; 19] = [
        Self::HOIST,
        Self::without(SkipPasses::LOOP_REDUCE),
        Self::without(SkipPasses::MACHINE_SINK),
        Self::without(SkipPasses::CODE_GEN_PREPARE),
        Self::with(AddPasses::REG2MEM),
        Self::TOLD,
        Self::with(AddPasses::REASSOCIATE),
        Self::without(SkipPasses::LOAD_STORE_VECTORIZER),
        Self::without(SkipPasses::MACHINE_CSE),
        Self::with(AddPasses::SEPARATE_CONST_OFFSET),
        Self::with(AddPasses::SINK),
        Self::without(SkipPasses::SLSR),
        Self::with(AddPasses::SLSR),
        Self::without(SkipPasses::MACHINE_LICM),
        Self::with(AddPasses::SLP_VECTORIZER),
        Self::without(SkipPasses::SPECULATIVE_EXECUTION),
        Self::without(SkipPasses::SEPARATE_CONST_OFFSET),
        Self::without(SkipPasses::GVN),
        Self::without(SkipPasses::BLOCK_PLACEMENT),
    ];

    /// The toggles that help most kernels without spills.
    pub const FOR_WARPS: [Self; 4] = [
        Self::without(SkipPasses::LOOP_REDUCE),
        Self::without(SkipPasses::MACHINE_SINK),
        Self::without(SkipPasses::CODE_GEN_PREPARE),
        Self::without(SkipPasses::LOAD_STORE_VECTORIZER),
    ];

    /// LLVM's own pipeline, which also reads the effects of inline assembly. Without these effects, most orders of code
    /// with inline assembly are the same.
    pub const TOLD: Self = Self::with(AddPasses::ASSEMBLY_EFFECTS);

    /// The toggle that helps most kernels with spills.
    pub const HOIST: Self = Self::with(AddPasses::GVN_HOIST);

    /// Returns LLVM's own pipeline without some passes.
    pub const fn without(skip_passes: SkipPasses) -> Self {
        Self { skip_passes, ..Self::STOCK }
    }

    /// Returns LLVM's own pipeline with additional passes.
    pub const fn with(add_passes: AddPasses) -> Self {
        Self { add_passes, ..Self::STOCK }
    }

    /// Returns LLVM's own pipeline with choices before it.
    pub const fn ahead_of(ahead: Ahead) -> Self {
        Self { ahead, ..Self::STOCK }
    }

    /// Replaces the choices before the pipeline.
    pub fn with_ahead(self, ahead: Ahead) -> Self {
        Self { ahead, ..self }
    }

    /// Returns the choices before the pipeline.
    pub fn ahead(self) -> Ahead {
        self.ahead
    }

    /// Whether passes are left out. The code may then have fewer instructions although a run executes more:
    /// CodeGenPrepare puts a branch around the long division of 64-bit numbers, so that small numbers skip it.
    pub fn leaves_out(self) -> bool {
        !self.skip_passes.is_empty()
    }

    /// Whether a kernel may execute more instructions than stock to save registers: by loops that are not unrolled, by
    /// calls, and by addresses that are computed in each iteration.
    pub fn may_run_more(self) -> bool {
        self.skip_passes.contains(SkipPasses::LOOP_REDUCE) || self.ahead.may_run_more()
    }

    /// Toggles passes: removes the passes that `other` has, too, and adds the passes that only `other` has.
    pub fn toggled(self, other: Self) -> Self {
        Self {
            skip_passes: self.skip_passes ^ other.skip_passes,
            add_passes: self.add_passes ^ other.add_passes,
            ..self
        }
    }

    /// Returns the part that applies to LLVM IR, before instruction selection.
    #[cfg(any(feature = "llvm", test))]
    pub fn of_ir(self) -> Self {
        Self { skip_passes: self.skip_passes & SkipPasses::OF_IR, ..self }
    }

    /// Returns the options that differ from the defaults.
    pub fn options(self) -> impl Iterator<Item = String> {
        let Ahead { inline, unroll } = self.ahead;
        let (add, skip) = (self.add_passes.words(), self.skip_passes.words());
        let chosen = [("inline", inline.into()), ("unroll", unroll.into()), ("add-passes", add), ("skip-passes", skip)];
        chosen.into_iter().filter_map(|(name, words)| unless_default(name, &words))
    }
}

#[cfg(test)]
mod tests {
    use crate::config::find;

    use super::*;

    /// Toggling twice restores the original. The part for machine code is not in the part for IR.
    #[test]
    fn toggles() {
        let both = Optimisations::HOIST.toggled(Optimisations::without(SkipPasses::MACHINE_SINK | SkipPasses::GVN));
        assert_eq!(both.options().collect::<Vec<_>>(), ["add-passes=gvn-hoist", "skip-passes=gvn+machine-sink"]);
        assert_eq!(both.toggled(Optimisations::HOIST).options().collect::<Vec<_>>(), ["skip-passes=gvn+machine-sink"]);
        assert_eq!(both.of_ir().options().collect::<Vec<_>>(), ["add-passes=gvn-hoist", "skip-passes=gvn"]);
        assert_eq!(both.toggled(both), Optimisations::STOCK);
    }

    /// Every word of the options before LLVM's optimisations is tried, and the options state the choice.
    #[test]
    fn choices_ahead() {
        let words = |name| find(name).map_or(&[][..], |spec| spec.shape.choices()).iter().map(|choice| choice.name);
        let all = words("inline")
            .map(|word| format!("inline={word}"))
            .chain(words("unroll").map(|word| format!("unroll={word}")));
        let mut all: Vec<String> = all.filter(|option| !option.ends_with("llvm")).collect();
        let mut tried: Vec<String> =
            Ahead::CHOICES.into_iter().flat_map(|ahead| Optimisations::ahead_of(ahead).options()).collect();
        all.sort_unstable();
        tried.sort_unstable();
        tried.dedup();
        assert_eq!(tried, all);
        let both = Ahead::STACK.with(Ahead { unroll: "asked", ..Ahead::STOCK });
        let both = Optimisations::HOIST.with_ahead(both);
        assert_eq!(both.options().collect::<Vec<_>>(), ["inline=stack", "unroll=asked", "add-passes=gvn-hoist"]);
        assert_eq!((both.of_ir(), both.ahead().with(Ahead::STOCK)), (both, both.ahead()));
    }

    /// Each toggle is in the list once, except the one that changes the control flow.
    #[test]
    fn all_are_toggled() {
        let all = Optimisations::TOGGLES.into_iter().fold(Optimisations::STOCK, Optimisations::toggled);
        let (skip_passes, add_passes) = (SkipPasses::all(), AddPasses::all() - AddPasses::STRUCTURIZE_CFG);
        assert_eq!(all, Optimisations { skip_passes, add_passes, ..Optimisations::STOCK });
        let count = all.skip_passes.iter().count() + all.add_passes.iter().count();
        assert_eq!(Optimisations::TOGGLES.len(), count);
    }
}
