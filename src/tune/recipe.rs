//! The recipes that a search of PTX tries: each makes a variant of the code as it is, or of the best variant so far.
//!
//! What a recipe gains on a kernel was recorded on many kernels ([`learned`](super::learned)), so the set of recipes is fixed and
//! each has a name. Limits on registers and kept values depend on the kernel's figures; a recipe says which.

use std::sync::OnceLock;

use super::variant::{Names, Variant};

/// In how many ways values are kept in shared memory.
pub const KEPT_WAYS: usize = 7;

/// What a recipe is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// The code as it is.
    Text,
    /// The best variant so far.
    Best,
}

/// What a recipe does to its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The passes as they are by default.
    Default,
    /// An order of instructions.
    Order(&'static str),
    /// An order, with values computed again.
    OrderAgain(&'static str),
    /// Values computed again.
    Remat(&'static str),
    /// Predicates kept as bits.
    Bits,
    /// Names of registers, and copies that stay.
    Names(Names, bool),
    /// Shared addresses in registers of their own, or the other way round.
    SharedAddresses,
    /// SIMD video instructions, or the other way round.
    SimdVideo,
    /// The limit on registers that wins a step of warps.
    FewerRegisters,
    /// The limit on registers that costs no warp.
    AllRegisters,
    /// ptxas's own spills to shared memory.
    SmemSpilling,
    /// Values kept in shared memory, by the number of the way.
    Kept(usize),
    /// The values that ptxas spills, kept in shared memory: its machine code is looked at first.
    InspectSpills,
    /// Loops in the form that ptxas unrolls.
    Loops,
}

/// A recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// What it is applied to.
    pub base: Base,
    /// What it does.
    pub step: Step,
}

impl Recipe {
    /// All of them; a position in this list is a recipe's number.
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Recipe>> = OnceLock::new();
        ALL.get_or_init(Self::list)
    }

    fn list() -> Vec<Self> {
        let orders = || Variant::orders().map(Step::Order);
        let again = ["eager", "latency", "late"].map(Step::OrderAgain);
        let remats = || Variant::remats().filter(|remat| *remat != Variant::default_remat()).map(Step::Remat);
        let names = [(Names::Fewest, true), (Names::Some, false), (Names::Llvm, true)];
        let names = names.map(|(names, coalesces)| Step::Names(names, coalesces));
        let toggles = [Step::SharedAddresses, Step::SimdVideo];
        let registers = [Step::FewerRegisters, Step::AllRegisters];
        let kept = || [Step::SmemSpilling, Step::InspectSpills].into_iter().chain((0..KEPT_WAYS).map(Step::Kept));
        let of_text = [Step::Default, Step::Bits].into_iter().chain(orders()).chain(again).chain(remats());
        let of_text = of_text.chain(names).chain(toggles).chain(registers).chain(kept()).chain([Step::Loops]);
        let of_best = [Step::Bits].into_iter().chain(remats()).chain(orders()).chain(names).chain(registers);
        let of_best = of_best.chain(kept()).chain([Step::Loops]);
        let with = |base| move |step| Self { base, step };
        of_text.map(with(Base::Text)).chain(of_best.map(with(Base::Best))).collect()
    }

    /// How the recipe is called in what was recorded.
    pub fn name(&self) -> String {
        let step = match self.step {
            Step::Default => "default".into(),
            Step::Order(order) => format!("order={order}"),
            Step::OrderAgain(order) => format!("order={order}+remat"),
            Step::Remat(remat) => format!("remat={remat}"),
            Step::Bits => "bits".into(),
            Step::Names(Names::Fewest, _) => "names=fewest".into(),
            Step::Names(Names::Some, _) => "copies".into(),
            Step::Names(Names::Llvm, _) => "names=own".into(),
            Step::SharedAddresses => "shared-addresses".into(),
            Step::SimdVideo => "simd-video".into(),
            Step::FewerRegisters => "registers=fewer".into(),
            Step::AllRegisters => "registers=all".into(),
            Step::SmemSpilling => "smem-spilling".into(),
            Step::Kept(way) => format!("kept={way}"),
            Step::InspectSpills => "look".into(),
            Step::Loops => "loops".into(),
        };
        match self.base {
            Base::Text => step,
            Base::Best => format!("best+{step}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each recipe has a name of its own, without a space.
    #[test]
    fn names() {
        let mut names: Vec<String> = Recipe::all().iter().map(Recipe::name).collect();
        assert!(names.iter().all(|name| !name.is_empty() && !name.contains(' ')), "{names:?}");
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
