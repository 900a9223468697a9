//! Recipes on a kernel, and the choice of the next one: the recipe with the largest expected gain.

use super::Kernel;
use crate::tune::figures::Figures;
use crate::tune::learned::expectation::Neighbours;
use crate::tune::learned::experience::Experience;
use crate::tune::learned::gain::{Counts, gain};
use crate::tune::learned::traits::Traits;
use crate::tune::objective::Objective;
use crate::tune::recipe::{Base, Recipe, Step};
use crate::tune::variant::Variant;

/// The applied recipes of a kernel by number, each with the variant that it made.
pub(super) type AppliedRecipes = Vec<(usize, Variant)>;

/// A recipe that may be next.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    number: usize,
    pub(super) step: Step,
    pub(super) variant: Variant,
    /// The expected improvement on the best, as a fraction of stock's time.
    pub(super) improvement: f64,
}

impl Kernel {
    /// Returns the numbers of the recipes that have made a variant.
    pub fn recipes_of(&self, variant: &Variant) -> impl Iterator<Item = usize> {
        self.applied_recipes.iter().filter(move |(_, made)| made == variant).map(|(number, _)| *number)
    }

    /// Returns the number of the inspection that found the values that a variant spills, if any.
    pub fn inspection_of(&self, variant: &Variant) -> Option<usize> {
        let recipes = Recipe::all();
        let mut inspections =
            self.applied_recipes.iter().filter(|(number, _)| recipes[*number].step == Step::InspectSpills);
        let has_found = |looked: &Variant| looked.order() == variant.order() && looked.limit() == variant.limit();
        (!variant.named().is_empty())
            .then(|| inspections.find(|(_, looked)| has_found(looked)))?
            .map(|(number, _)| *number)
    }

    /// Returns what is known of the kernel before any run.
    pub fn traits(&self, objective: &Objective) -> Traits {
        let stock = &self.stock;
        Traits {
            instructions: stock.sass.instructions,
            registers: stock.ptxas_report.registers,
            spill_cost: stock.spill_cost(),
            local: stock.sass.local,
            stack_traffic: stock.sass.stack_traffic,
            work: stock.sass.work,
            shared_traffic: stock.sass.shared_traffic,
            warps: stock.warps,
            may_win_warps: self.winning_step(objective, stock).is_some(),
            may_keep: self.most_threads().is_some() && self.block.dynamic_shared.is_some() && !self.is_relocatable,
        }
    }

    /// Returns the mean gain of the best recipes on kernels like this one.
    pub fn hope(&self, objective: &Objective) -> f64 {
        Neighbours::new(Experience::shipped(), &self.traits(objective)).hope()
    }

    /// Returns a variant's [`gain`]. 0 if it is not admissible.
    fn gain_of(&self, objective: &Objective, variant: &Variant, figures: &Figures) -> f64 {
        let counts = |of: &Figures| Counts {
            spill_cost: of.spill_cost() as f64,
            warps: if of.counts_instructions_alone { 0.0 } else { f64::from(of.warps) },
            instructions: f64::from(of.instructions()),
        };
        if self.is_admissible(objective, variant, figures) { gain(&counts(&self.stock), &counts(figures)) } else { 0.0 }
    }

    /// Returns the gain of each recipe with a known result. The gain of an inspection is the gain of the best variant
    /// that spills inspected values to shared memory.
    fn observed(&self, objective: &Objective) -> Vec<(usize, f64)> {
        let gain = |variant: &Variant, figures: Figures| self.gain_of(objective, variant, &figures);
        let recipes = Recipe::all();
        let of_inspections = || {
            let kept = self.judged().filter(|(variant, _)| !variant.named().is_empty());
            kept.map(|(variant, figures)| gain(variant, figures)).reduce(f64::max)
        };
        let observed = |(number, variant): &(usize, Variant)| match recipes[*number].step {
            Step::InspectSpills => Some((*number, of_inspections()?)),
            _ => Some((*number, self.tried(variant)?.figures.map_or(0.0, |figures| gain(variant, figures)))),
        };
        self.applied_recipes.iter().filter_map(observed).collect()
    }

    /// Returns the recipes that may be next, the largest expected gain first, equal ones in the order of the list.
    /// O(recipes · recorded kernels).
    pub(super) fn candidates(&self, objective: &Objective) -> Vec<Candidate> {
        let mut neighbours = Neighbours::new(Experience::shipped(), &self.traits(objective));
        for (number, gain) in self.observed(objective) {
            neighbours.observe(number, gain);
        }
        let best = self.best(objective);
        let known = self.gain_of(objective, &best.0, &best.1);
        let is_given = |number: usize| self.applied_recipes.iter().any(|(applied, _)| *applied == number);
        let open = Recipe::all().iter().enumerate().filter(|(number, _)| !is_given(*number));
        let candidate = |(number, recipe): (usize, &Recipe)| {
            let variant = self.prepared(objective, *recipe, &best)?;
            let variant = if recipe.step == Step::InspectSpills { variant } else { self.freed(objective, variant) };
            let is_allowed = variant.limit().is_none_or(|limit| self.may_be_limited_to(objective, limit));
            let is_new = recipe.step == Step::InspectSpills || !self.proposed.contains(&variant);
            let is_left_out = self.is_left_out(&variant).is_some();
            let is_wanted = is_allowed && is_new && !is_left_out && !self.is_hopeless_choice(objective, &variant);
            let improvement = neighbours.improvement(number, known);
            is_wanted.then_some(Candidate { number, step: recipe.step, variant, improvement })
        };
        let mut candidates: Vec<Candidate> = open.filter_map(candidate).collect();
        candidates.sort_by(|one, other| other.improvement.total_cmp(&one.improvement));
        candidates
    }

    /// Marks a recipe as tried.
    pub(super) fn give(&mut self, candidate: &Candidate) {
        self.applied_recipes.push((candidate.number, candidate.variant.clone()));
    }

    /// Applies a recipe to this kernel, with this best variant. `None` if the recipe has nothing to change.
    fn prepared(&self, objective: &Objective, recipe: Recipe, best: &(Variant, Figures)) -> Option<Variant> {
        let (base, figures) = match recipe.base {
            Base::Text => (Variant::DEFAULT, self.default().unwrap_or(self.stock)),
            Base::Best if best.0 == Variant::Stock || best.0 == Variant::DEFAULT => return None,
            Base::Best => best.clone(),
        };
        let variant = match recipe.step {
            Step::Default => Some(base.clone()),
            Step::Order(order) => Some(base.with_order(order, 0)),
            Step::OrderAgain(order) => Some(base.with_order(order, 0).with_remat("peaks")),
            Step::Remat(remat) => Some(base.with_remat(remat)),
            Step::Bits => Some(base.with_bits("on")),
            Step::Names(names, coalesces) => Some(base.with_registers(names, coalesces)),
            Step::SharedAddresses => Some(base.toggled_shared_addresses()),
            Step::SimdVideo => Some(base.toggled_simd_video()),
            Step::FewerRegisters => self.winning_step(objective, &figures).map(|limit| base.with_limit(limit)),
            Step::AllRegisters => self.limit_at_no_cost(objective, &figures).map(|limit| base.with_limit(limit)),
            Step::SmemSpilling => {
                (self.may_spill_to_shared && figures.spill_bytes() > 0).then(|| base.with_smem_spilling())
            }
            Step::Kept(way) => self.kept_by(objective, way, &figures).map(|kept| base.with_kept_values(kept)),
            Step::InspectSpills => self.variant_to_inspect(&base, &figures),
            Step::Loops => Some(base.with_turned_loops()),
        }?;
        (variant != base || matches!(recipe.step, Step::Default | Step::InspectSpills)).then_some(variant)
    }

    /// Returns the most registers that cost no warp, if ptxas uses fewer or spills.
    fn limit_at_no_cost(&self, objective: &Objective, figures: &Figures) -> Option<u32> {
        let limits =
            self.limits(objective, &Variant::DEFAULT, figures).into_iter().filter_map(|variant| variant.limit());
        limits.filter(|&limit| limit > figures.ptxas_report.registers || figures.spill_bytes() > 0).max()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::answered;
    use super::*;
    use crate::tune::figures::{Block, tests::figures};
    use crate::tune::optimisations::Choices;
    use crate::tune::price::Work;
    use crate::tune::question::{Answer, Question, Spilled};

    fn text(spills: u32) -> Kernel {
        let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };
        Kernel::new("k", "0", block, figures(spills, 32, 500), "stock".into(), Choices::Nothing)
    }

    /// Runs a search to the end, with the figures that `outcome` returns for each PTX. Returns the judged variants in
    /// order.
    fn searched(kernel: &mut Kernel, runs: usize, outcome: impl Fn(&Variant) -> Figures) -> Vec<Variant> {
        let mut judged = Vec::new();
        answered(kernel, runs, |question| match question {
            Question::Text(variant) => Answer::Text(Ok(variant.to_string())),
            Question::Figures(variant) => {
                let figures = outcome(&variant);
                judged.push(variant);
                Answer::Figures(Ok(figures))
            }
            Question::Spilled(variant) => Answer::Spilled(Ok(Spilled {
                registers: ["%r7"].into_iter().collect(),
                text: variant.to_string(),
                figures: None,
            })),
            Question::Compared(_) => Answer::Compared(None),
        });
        judged
    }

    /// Each recipe is tried once if all are wanted, and no variant twice.
    #[test]
    fn all_recipes() {
        let mut kernel = text(400);
        kernel.tries_all = true;
        let judged = searched(&mut kernel, 400, |variant| figures(400 - variant.to_string().len() as u32, 32, 500));
        let mut once = judged.iter().map(Variant::to_string).collect::<Vec<_>>();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), judged.len());
        let applied_recipes: std::collections::BTreeSet<usize> =
            kernel.applied_recipes.iter().map(|(number, _)| *number).collect();
        assert_eq!(applied_recipes.len(), kernel.applied_recipes.len(), "each once");
        let orders = judged.iter().filter(|variant| variant.has_order()).count();
        assert!(orders >= 10 && judged.len() > 30, "{} of {}", orders, judged.len());
    }

    /// A share of the effort bounds the tried variants, whatever their results. A larger share begins with the same
    /// variants.
    #[test]
    fn a_share_of_work() {
        let of = |runs: u64| {
            let mut kernel = text(400);
            let run = kernel.run().0;
            kernel.give_work([Work(run * runs); 2], 1.0);
            searched(&mut kernel, 32, |variant| figures(400 - variant.to_string().len() as u32, 32, 500))
        };
        let [none, few, more] = [0, 4, 12].map(of);
        assert!(none.is_empty() && (1..=3).contains(&few.len()) && (4..=9).contains(&more.len()), "{few:?} {more:?}");
        assert_eq!(few[..1], more[..1]);
    }

    /// If the recipes that gain most on such kernels gain nothing, a search ends before its share is spent.
    #[test]
    fn nothing_to_expect() {
        let mut kernel = text(0);
        kernel.give_work([Work(kernel.run().0 * 100); 2], 1.0);
        let judged = searched(&mut kernel, 64, |_| figures(0, 32, 500)).len();
        assert!(judged < 25, "{judged}");
    }
}
