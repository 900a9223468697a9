//! The recipes that a search of PTX tries. Each makes a variant of stock, or of the best variant so far.
//!
//! The gains of recipes were recorded on many kernels ([`learned`](super::learned)), so the set of recipes is fixed and
//! each has a name. Register limits and spilled values depend on the kernel's figures. A recipe states only the rule
//! that chooses them.

use std::sync::OnceLock;

use super::variant::{Names, Variant};

/// The number of ways to spill values to shared memory.
pub const KEPT_WAYS: usize = 7;

/// The variant to which a recipe applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// The code without changes.
    Text,
    /// The best variant so far.
    Best,
}

/// The change of a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The passes with their defaults.
    Default,
    /// An order of instructions.
    Order(&'static str),
    /// An order, with rematerialised values.
    OrderAgain(&'static str),
    /// Rematerialised values.
    Remat(&'static str),
    /// Predicates packed as bits.
    Bits,
    /// Register names, and copies that are not coalesced.
    Names(Names, bool),
    /// Toggles separate registers for shared addresses.
    SharedAddresses,
    /// Toggles the expansion of SIMD video instructions.
    SimdVideo,
    /// The register limit that gains an occupancy step.
    FewerRegisters,
    /// The largest register limit that keeps the occupancy.
    AllRegisters,
    /// ptxas's own spills to shared memory.
    SmemSpilling,
    /// Values spilled to shared memory, by the number of the way.
    Kept(usize),
    /// Spills the values to shared memory that ptxas spills. Its machine code is inspected first.
    InspectSpills,
    /// Loops in the form that ptxas unrolls.
    Loops,
}

/// A recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The variant to which it applies.
    pub base: Base,
    /// Its change.
    pub step: Step,
}

impl Recipe {
    /// Returns all recipes. The position in this list is the recipe's number.
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

    /// Returns the recipe's name in the recorded data.
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

    /// Each recipe has a unique name without a space.
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
