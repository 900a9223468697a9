//! Which of LLVM's own optimisations a variant goes without, which it gets on top, and how two of them are bounded.

use crate::config::{AddPasses, Config, SkipPasses, unless_default};

/// What of LLVM's optimisations is among the choices of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choices {
    /// Nothing: they are done.
    Nothing,
    /// Those of the code generator.
    CodeGeneration,
    /// Those, and what is inlined and unrolled ahead of all.
    All,
}

/// What is chosen ahead of LLVM's optimisations, by the names of the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ahead {
    inline: &'static str,
    unroll: &'static str,
}

impl Ahead {
    /// As LLVM does.
    pub const STOCK: Self = Self { inline: "llvm", unroll: "llvm" };

    /// All that is inlined that has addresses of stack variables.
    pub const STACK: Self = Self { inline: "stack", ..Self::STOCK };

    /// What is tried, first what helps most kernels. With the default, they are two rounds of the search.
    pub const CHOICES: [Self; 7] = [
        Self::STACK,
        Self { inline: "all", ..Self::STOCK },
        Self { unroll: "stack", ..Self::STACK },
        Self { unroll: "asked", ..Self::STOCK },
        Self { unroll: "cut", ..Self::STOCK },
        Self { unroll: "stack", ..Self::STOCK },
        Self { inline: "less", ..Self::STOCK },
    ];

    /// Whether less is inlined or unrolled, so that fewer instructions in the code are no fewer in a run.
    pub fn does_less(self) -> bool {
        self.inline == "less" || matches!(self.unroll, "asked" | "cut")
    }

    /// Whether the code may run more instructions than as LLVM has it, though fewer stand in it: loops that are rolled up, and calls.
    fn may_run_more(self) -> bool {
        self.inline != "llvm" || matches!(self.unroll, "asked" | "cut")
    }

    /// The same but for what another one chooses.
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

/// The default is LLVM's own pipeline.
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

    /// What the options have by default.
    pub const DEFAULT: Self = Self::of(&Config::DEFAULT);

    /// What options have.
    pub(super) const fn of(config: &Config) -> Self {
        let ahead = Ahead { inline: config.inline.word(), unroll: config.unroll.word() };
        Self { ahead, skip_passes: config.skip_passes, add_passes: config.add_passes }
    }

    /// What to leave out, or to have again, and what to add, or to leave as it was: first what helps most kernels.
    /// `structurizecfg` is not searched: it changes the control flow, and a comparison sees only the code that a
    /// few launches reach.
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

    /// Those that help most kernels that spill nothing.
    pub const FOR_WARPS: [Self; 4] = [
        Self::without(SkipPasses::LOOP_REDUCE),
        Self::without(SkipPasses::MACHINE_SINK),
        Self::without(SkipPasses::CODE_GEN_PREPARE),
        Self::without(SkipPasses::LOAD_STORE_VECTORIZER),
    ];

    /// LLVM's own pipeline, and what it is not told of inline assembly: without it most orders of code that has any are
    /// the same.
    pub const TOLD: Self = Self::with(AddPasses::ASSEMBLY_EFFECTS);

    /// That which helps most kernels that spill.
    pub const HOIST: Self = Self::with(AddPasses::GVN_HOIST);

    /// LLVM's own pipeline without some of it.
    pub const fn without(skip_passes: SkipPasses) -> Self {
        Self { skip_passes, ..Self::STOCK }
    }

    /// LLVM's own pipeline and more.
    pub const fn with(add_passes: AddPasses) -> Self {
        Self { add_passes, ..Self::STOCK }
    }

    /// LLVM's own pipeline with choices ahead of it.
    pub const fn ahead_of(ahead: Ahead) -> Self {
        Self { ahead, ..Self::STOCK }
    }

    /// The same with choices ahead of it.
    pub fn with_ahead(self, ahead: Ahead) -> Self {
        Self { ahead, ..self }
    }

    /// What is chosen ahead of it.
    pub fn ahead(self) -> Ahead {
        self.ahead
    }

    /// Whether some of it is left out, so that fewer instructions in the code may be more in a run: CodeGenPrepare divides
    /// small numbers of 64 bits by a branch around the long division.
    pub fn leaves_out(self) -> bool {
        !self.skip_passes.is_empty()
    }

    /// Whether a kernel may run more instructions than stock for the registers that it spares: loops that are rolled up, calls, and
    /// addresses that are computed in each turn of a loop.
    pub fn may_run_more(self) -> bool {
        self.skip_passes.contains(SkipPasses::LOOP_REDUCE) || self.ahead.may_run_more()
    }

    /// The same but for what `other` has, too, and with what `other` alone has.
    pub fn toggled(self, other: Self) -> Self {
        Self {
            skip_passes: self.skip_passes ^ other.skip_passes,
            add_passes: self.add_passes ^ other.add_passes,
            ..self
        }
    }

    /// What of it is done to LLVM IR, ahead of the choice of instructions.
    #[cfg(any(feature = "llvm", test))]
    pub fn of_ir(self) -> Self {
        Self { skip_passes: self.skip_passes & SkipPasses::OF_IR, ..self }
    }

    /// The options that ask for it, where these are not the defaults.
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

    /// What is toggled twice is as it was, and machine code's part is none of IR's.
    #[test]
    fn toggles() {
        let both = Optimisations::HOIST.toggled(Optimisations::without(SkipPasses::MACHINE_SINK | SkipPasses::GVN));
        assert_eq!(both.options().collect::<Vec<_>>(), ["add-passes=gvn-hoist", "skip-passes=gvn+machine-sink"]);
        assert_eq!(both.toggled(Optimisations::HOIST).options().collect::<Vec<_>>(), ["skip-passes=gvn+machine-sink"]);
        assert_eq!(both.of_ir().options().collect::<Vec<_>>(), ["add-passes=gvn-hoist", "skip-passes=gvn"]);
        assert_eq!(both.toggled(both), Optimisations::STOCK);
    }

    /// Every word of the options that are read ahead of LLVM's optimisations is tried, and options say what is chosen.
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

    /// Each that there is stands once in the list, but for what changes the control flow.
    #[test]
    fn all_are_toggled() {
        let all = Optimisations::TOGGLES.into_iter().fold(Optimisations::STOCK, Optimisations::toggled);
        let (skip_passes, add_passes) = (SkipPasses::all(), AddPasses::all() - AddPasses::STRUCTURIZE_CFG);
        assert_eq!(all, Optimisations { skip_passes, add_passes, ..Optimisations::STOCK });
        let count = all.skip_passes.iter().count() + all.add_passes.iter().count();
        assert_eq!(Optimisations::TOGGLES.len(), count);
    }
}
