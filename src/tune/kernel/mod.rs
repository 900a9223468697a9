//! A kernel under search: the tried variants, and the best variant so far.

mod choices_ahead;
mod compilers;
mod disqualification;
mod effects;
mod lessons;
mod limits;
mod proposals;
mod recipes;
mod rounds;
mod spilled;
mod trades;

use std::collections::{HashMap, HashSet, VecDeque};

pub(super) use self::lessons::{Lessons, TEACHERS, TemplateGroup};
pub use self::limits::{GIVEN_UP, given_up};
use self::rounds::Rounds;
#[cfg(test)]
pub(super) use self::rounds::{COMPILED_FOR_EACH, ROUND};
use self::spilled::SpillInspections;
use super::axis::Axis;
use super::figures::{Block, Figures};
use super::findings::Findings;
use super::objective::Objective;
use super::optimisations::{Ahead, Choices};
use super::price::Work;
use super::variant::Variant;
use crate::target::machine::RegisterRequests;

/// A variant that was tried.
#[derive(Clone, Debug)]
pub struct TriedVariant {
    /// The variant.
    pub variant: Variant,
    /// The fingerprint of its PTX, if there is any.
    text: Option<String>,
    /// Its figures. `None` if ptxas refused it.
    pub figures: Option<Figures>,
}

impl TriedVariant {
    /// Returns the fingerprint of its PTX, if there is any.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

/// A kernel and its tried variants.
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The hash of its code.
    pub hash: String,
    /// What is known of its launch.
    pub block: Block,
    /// Whether ptxas may spill to shared memory.
    pub may_spill_to_shared: bool,
    /// Whether ptxas may compile the kernel under another name.
    pub may_have_other_name: bool,
    /// Whether ptxas ignores its `setmaxnreg` because `.minnctapersm` is missing.
    pub wants_blocks: bool,
    /// Whether the values that ptxas spills can be found in its machine code.
    pub may_be_inspected: bool,
    /// Whether it is linked later. No variant may then change what other files see.
    pub is_relocatable: bool,
    /// Whether ptxas would unroll some of its loops if they were turned. The best variant is then tried with turned
    /// loops at the end.
    pub has_loops_to_turn: bool,
    /// Whether turned loops are its only tried change, because it has no deficit.
    pub is_for_loops_alone: bool,
    /// The kernel's requests for registers at run time, by `setmaxnreg`. `None` if there are none.
    pub register_requests: Option<RegisterRequests>,
    /// The name of the template of which it is an instance.
    pub template: Option<String>,
    /// The LLVM optimisations that may be chosen.
    choices: Choices,
    /// Whether the queue holds choices before LLVM's optimisations. All later variants depend on their results.
    has_first_choices: bool,
    /// Its figures without the passes.
    pub stock: Figures,
    /// The fingerprint of its PTX without the passes.
    stock_text: String,
    /// The tried variants, in this order.
    pub tried: Vec<TriedVariant>,
    /// The number of variants that ptxas refused or that have no PTX.
    pub lost: usize,
    /// Why the first of these variants failed.
    pub first_loss: Option<String>,
    /// ptxas's results for the kernel's PTX, by fingerprint.
    known: HashMap<String, Option<Figures>>,
    proposed: Vec<Variant>,
    applied_recipes: recipes::AppliedRecipes,
    /// Whether recipes are tried before all else: for PTX of one compiler.
    by_recipes: bool,
    /// Its share of the effort. `None` if runs are counted.
    work: Option<Work>,
    /// Whether every recipe is tried, and nothing else.
    pub tries_all: bool,
    queue: VecDeque<Variant>,
    /// Whether the unchanged code of all compilers is ranked.
    has_ranked: bool,
    /// The number of randomly perturbed orders so far.
    perturbed: u32,
    rounds: Rounds,
    inspections: SpillInspections,
    lessons: Lessons,
    /// The register limit of variants that spill to shared memory, if ptxas gives registers up for such variants.
    limit_of_kept: Option<u32>,
    /// The register limit of variants with an order that do not spill to shared memory, if ptxas gives registers up for
    /// such variants.
    limit_of_ordered: Option<u32>,
    /// Results of comparisons with stock.
    pub findings: Findings,
}

impl Kernel {
    /// Creates a kernel of which only stock is known. `text` is the fingerprint of stock's PTX.
    pub fn new(name: &str, hash: &str, block: Block, stock: Figures, text: String, choices: Choices) -> Self {
        Self {
            name: name.to_owned(),
            hash: hash.to_owned(),
            block,
            may_spill_to_shared: false,
            may_have_other_name: false,
            wants_blocks: false,
            may_be_inspected: true,
            is_relocatable: false,
            has_loops_to_turn: false,
            is_for_loops_alone: false,
            register_requests: None,
            template: None,
            choices,
            has_first_choices: choices == Choices::All,
            stock,
            tried: Vec::new(),
            lost: 0,
            first_loss: None,
            known: HashMap::from([(text.clone(), Some(stock))]),
            stock_text: text,
            proposed: Vec::new(),
            applied_recipes: Vec::new(),
            by_recipes: choices == Choices::Nothing,
            work: None,
            tries_all: false,
            queue: proposals::first(&stock, choices),
            has_ranked: true,
            perturbed: 0,
            rounds: Rounds::default(),
            inspections: SpillInspections::default(),
            lessons: Lessons::default(),
            limit_of_kept: None,
            limit_of_ordered: None,
            findings: Findings::default(),
        }
    }

    /// Replaces the recipes by the variants for kernels with code of several compilers.
    #[cfg(test)]
    pub(super) fn without_recipes(mut self) -> Self {
        self.by_recipes = false;
        self.queue = proposals::first_of_text();
        self
    }

    /// Adds other compilers' code of the kernel, by number. The unchanged code is tried before all else.
    pub fn add_compilers(&mut self, compilers: &[u8]) {
        if compilers.is_empty() {
            return;
        }
        self.has_ranked = false;
        if std::mem::take(&mut self.by_recipes) {
            self.queue = proposals::first_of_text();
        }
        self.queue = compilers::as_they_are(compilers, std::mem::take(&mut self.queue));
    }

    /// Adds the choices for some kernels only: another name, and `.minnctapersm` if `setmaxnreg` requires it. They are
    /// tried right after the defaults.
    pub fn add_rare_choices(&mut self) {
        let with_blocks = self.wants_blocks.then(|| Variant::DEFAULT.with_blocks_said());
        let with_name = self.may_have_other_name.then(|| Variant::DEFAULT.toggled_name());
        for variant in with_name.into_iter().chain(with_blocks) {
            self.queue.insert(self.queue.len().min(1), variant);
        }
    }

    /// Returns the next variant to try. No variant is returned twice.
    fn propose(&mut self, objective: &Objective) -> Variant {
        loop {
            if self.inspections.queue.is_empty() && self.queue.is_empty() {
                self.fill_queue(objective);
            }
            let Some(variant) = self.inspections.queue.pop_front().or_else(|| self.queue.pop_front()) else { continue };
            let variant = self.freed(objective, self.with_sparing_bits(objective, variant));
            if variant.limit().is_some_and(|limit| !self.may_be_limited_to(objective, limit)) {
                continue;
            }
            if !self.proposed.contains(&variant) && !self.is_hopeless_choice(objective, &variant) {
                self.proposed.push(variant.clone());
                return variant;
            }
        }
    }

    /// Returns ptxas's result for the same PTX, if known.
    fn known(&self, text: &str) -> Option<Option<Figures>> {
        self.known.get(text).copied()
    }

    /// Stores the result of a variant. `text` is the fingerprint of its PTX.
    fn record(&mut self, objective: &Objective, variant: Variant, text: String, figures: Option<Figures>) {
        let figures = figures.filter(|figures| self.has_room(&variant, figures));
        let figures = figures.map(|figures| self.with_slots(objective, &variant, figures));
        let figures = *self.known.entry(text.clone()).or_insert(figures);
        let figures = figures.map(|figures| self.as_counted(&variant, figures));
        if let Some(figures) = &figures {
            self.limit_if_given_up(&variant, figures);
        }
        self.tried.push(TriedVariant { variant, text: Some(text), figures });
    }

    /// Whether every launch of stock has enough shared memory for a variant of another compiler's code. If the shared
    /// memory that launches add is unknown, the variant may declare no more shared memory than stock.
    fn has_room(&self, variant: &Variant, figures: &Figures) -> bool {
        let is_known = variant.compiler() == 0 || self.block.dynamic_shared.is_some();
        is_known || figures.ptxas_report.shared_bytes <= self.stock.ptxas_report.shared_bytes
    }

    /// Adjusts the figures of a variant for its choices, slots in shared memory included.
    pub fn of_variant(&self, objective: &Objective, variant: &Variant, figures: Figures) -> Figures {
        self.as_counted(variant, self.with_slots(objective, variant, figures))
    }

    fn with_slots(&self, objective: &Objective, variant: &Variant, figures: Figures) -> Figures {
        let alone = self.stock.counts_instructions_alone;
        let figures = figures.with_arrays(objective.allowance).with_instructions_alone(alone);
        if variant.spills_to_shared() {
            figures.with_slots_in_shared(&self.stock, objective.shared_cost)
        } else {
            figures
        }
    }

    fn as_counted(&self, variant: &Variant, figures: Figures) -> Figures {
        // A variant with exactly stock's figures may have stock's PTX, in which no loop is turned.
        let as_it_comes = self.as_it_comes(variant).filter(|_| figures != self.stock);
        let figures = as_it_comes.map_or(figures, |known| figures.with_turned_loops(&known));
        let optimisations = variant.optimisations();
        if optimisations.ahead().does_less() {
            figures.with_counts_of(&self.stock)
        } else if optimisations.leaves_out() {
            figures.with_instructions_of(&self.stock)
        } else {
            figures
        }
    }

    /// Returns the figures that a variant with turned loops is compared with: the same variant without turned loops if
    /// known, else the unchanged code.
    pub fn as_it_comes(&self, variant: &Variant) -> Option<Figures> {
        let as_it_comes = variant.with_loops_as_they_come()?;
        let unchanged = Variant::Stock.on_code_of(variant.compiler());
        Some(self.figures(&as_it_comes).or_else(|| self.figures(&unchanged)).unwrap_or(self.stock))
    }

    /// Whether a variant is admissible: no figure is worse than stock's, except where the user allows it.
    pub fn is_admissible(&self, objective: &Objective, variant: &Variant, figures: &Figures) -> bool {
        // A variant with `.minnctapersm` is admissible only if fewer warps are allowed, however many warps it holds.
        let may_say_blocks = objective.allowance.fewer_warps || !variant.moves_along(Axis::Blocks);
        let is_reshaped = variant.optimisations().ahead() != Ahead::STOCK;
        figures.is_no_worse(&self.stock, objective.allowance)
            && may_say_blocks
            && (!is_reshaped || figures.leaves_arrays(&self.stock))
            && !self.is_hopeless_choice(objective, variant)
    }

    /// Returns a predicate for variants that may win: the variant is admissible, is not left out, is not excluded by a
    /// comparison, is better than stock, and is no worse than the better compiler's code. O(tried variants).
    fn may_win<'k>(
        &'k self,
        objective: &'k Objective,
        is_left_out: impl Fn(&Variant) -> bool + 'k,
    ) -> impl Fn(&Variant, &Figures) -> bool + 'k {
        let counts = move |variant: &Variant, figures: &Figures| {
            let is_set_aside = || {
                self.findings.has_refused(variant)
                    || self.findings.has_disqualified(variant, objective.allowance.uncompared)
            };
            self.is_admissible(objective, variant, figures) && !is_set_aside() && !is_left_out(variant)
        };
        let better = self.better_compiler(objective, &counts).map(|(variant, figures)| (variant.clone(), figures));
        move |variant, figures| {
            let is_better = || figures.is_better(&self.stock, &objective.preference);
            let wins = || match &better {
                Some((as_it_is, bar)) => {
                    let is_as_good = || figures.compare(bar, &objective.preference).is_le();
                    variant == as_it_is
                        || figures.is_no_worse(bar, objective.allowance) && (is_better() || is_as_good())
                }
                None => is_better(),
            };
            counts(variant, figures) && wins()
        }
    }

    /// Returns all variants that may win by current knowledge, the best first.
    pub fn winners(&self, objective: &Objective) -> Vec<Variant> {
        let may_win = self.may_win(objective, |_| false);
        self.ranked(objective, self.judged().filter(|(variant, figures)| may_win(variant, figures)))
    }

    /// Stores a failed variant and the reason. `text` is `None` if LLVM produced no PTX.
    fn lose(&mut self, variant: Variant, text: Option<String>, problem: String) {
        self.lost += 1;
        self.first_loss.get_or_insert(problem);
        self.known.extend(text.clone().map(|text| (text, None)));
        self.tried.push(TriedVariant { variant, text, figures: None });
    }

    /// Returns the tried variants that ptxas accepted and that no comparison excludes, in the order in which they were
    /// tried.
    fn judged(&self) -> impl Iterator<Item = (&Variant, Figures)> {
        let judged = self.tried.iter().filter_map(|tried| Some((&tried.variant, tried.figures?)));
        judged.filter(|(variant, _)| {
            !self.findings.has_refused(variant) && !self.findings.has_disqualified(variant, false)
        })
    }

    /// Returns the judged variants, only the first of several with the same PTX.
    fn judged_once(&self) -> impl Iterator<Item = (&Variant, Figures)> {
        let mut texts = HashSet::new();
        self.judged().filter(move |(variant, _)| texts.insert(self.text(variant)))
    }

    /// Returns the best variant that is no worse than stock, and no worse than a better compiler's code. Among equal
    /// variants, this build's own code wins, then the variant that was tried first. Stock if no variant is better.
    pub fn best(&self, objective: &Objective) -> (Variant, Figures) {
        self.best_but_for(objective, |_| false)
    }

    /// Returns the best variant that is not left out.
    pub fn best_but_for(&self, objective: &Objective, is_left_out: impl Fn(&Variant) -> bool) -> (Variant, Figures) {
        let tried = self.tried.iter().filter_map(|tried| Some((&tried.variant, tried.figures?)));
        let may_win = self.may_win(objective, is_left_out);
        let better = tried.filter(|(variant, figures)| may_win(variant, figures));
        // Among equal variants, this build's own code wins, because it needs no other file.
        let best = better.min_by(|one, other| {
            let by_compiler = || one.0.compiler().cmp(&other.0.compiler());
            one.1.compare(&other.1, &objective.preference).then_with(by_compiler)
        });
        best.map_or((Variant::Stock, self.stock), |(variant, figures)| (variant.clone(), figures))
    }

    /// Returns the best figures after each tried variant.
    pub fn course(&self, objective: &Objective) -> Vec<Figures> {
        let mut best = self.stock;
        let may_win = self.may_win(objective, |_| false);
        let better_than = |best: &Figures, variant: &Variant, figures: &Figures| {
            may_win(variant, figures) && figures.compare(best, &objective.preference).is_lt()
        };
        let after = |TriedVariant { variant, figures, .. }: &TriedVariant| {
            best = figures.filter(|figures| better_than(&best, variant, figures)).unwrap_or(best);
            best
        };
        self.tried.iter().map(after).collect()
    }

    fn tried(&self, variant: &Variant) -> Option<&TriedVariant> {
        self.tried.iter().find(|tried| tried.variant == *variant)
    }

    /// Returns the fingerprint of a variant's PTX, if known.
    fn text(&self, variant: &Variant) -> Option<&str> {
        self.tried(variant)?.text.as_deref()
    }

    /// Returns the figures of a variant, if known.
    fn figures(&self, variant: &Variant) -> Option<Figures> {
        self.tried(variant)?.figures
    }

    /// Returns the figures of the defaults, if known.
    pub fn default(&self) -> Option<Figures> {
        self.figures(&Variant::DEFAULT)
    }

    /// Ranks variants, the best first: admissible variants before others, equal ones in their order.
    fn ranked<'a>(&self, objective: &Objective, judged: impl Iterator<Item = (&'a Variant, Figures)>) -> Vec<Variant> {
        let of = |(variant, figures)| (!self.is_admissible(objective, variant, &figures), figures, variant);
        let mut ranked: Vec<(bool, Figures, &Variant)> = judged.map(of).collect();
        ranked.sort_by(|one, other| one.0.cmp(&other.0).then_with(|| one.1.compare(&other.1, &objective.preference)));
        ranked.into_iter().map(|(_, _, variant)| variant.clone()).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::figures::{Allowance, preference, tests::figures};
    use super::super::ptxas_output::Sass;
    use super::super::question::{Answer, Question};
    use super::*;
    use crate::target::machine::{Architecture, SHARED_COST};

    pub(in super::super) fn objective(seed: u32) -> Objective {
        let architecture = Architecture::by_name("sm_90").expect("is known");
        Objective {
            architecture,
            allowance: Allowance::default(),
            seed,
            preference: preference(&[]),
            shared_cost: SHARED_COST,
        }
    }

    /// Creates a kernel in blocks of four warps, with nothing else known.
    pub(super) fn kernel_with(stock: Figures) -> Kernel {
        let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };
        Kernel::new("k", "0", block, stock, "stock".into(), Choices::CodeGeneration)
    }

    pub(super) fn kernel() -> Kernel {
        kernel_with(figures(100, 32, 500))
    }

    /// Runs a search to the end, with an answer to each question.
    pub(super) fn answered(kernel: &mut Kernel, runs: usize, mut answer: impl FnMut(Question) -> Answer) {
        loop {
            let questions = kernel.ask(&objective(0), runs);
            assert_eq!(kernel.ask(&objective(0), runs), questions, "what is not answered is asked again");
            if questions.is_empty() {
                return;
            }
            let answers = questions.into_iter().map(&mut answer).collect();
            kernel.tell(&objective(0), answers);
        }
    }

    /// Sets the accesses of local memory, and the bytes that they move, weighted by loops.
    pub(super) fn of_arrays(stack_traffic: u64, local: u32, figures: Figures) -> Figures {
        let sass = Sass { stack_traffic, local, ..figures.sass };
        Figures { sass, ..figures }
    }

    /// The same seed gives the same search, another seed another search.
    #[test]
    fn seeds() {
        let search = |seed| {
            let mut kernel = kernel();
            let mut all = Vec::new();
            for number in 0..30u32 {
                let variant = kernel.propose(&objective(seed));
                kernel.record(
                    &objective(seed),
                    variant.clone(),
                    number.to_string(),
                    Some(figures(number * 7 % 50, 32, 500)),
                );
                all.push(variant);
            }
            all
        };
        assert_eq!(search(1), search(1));
        assert_ne!(search(1), search(2));
    }

    /// A variant that is worse than stock in any figure is never the best. A refused variant is never the best. Without
    /// a better variant, stock is the best.
    #[test]
    fn stock_is_the_worst_that_comes_out() {
        let mut kernel = kernel();
        for (number, outcome) in [None, Some(figures(0, 16, 400)), Some(figures(0, 32, 501))].into_iter().enumerate() {
            let variant = kernel.propose(&objective(0));
            kernel.record(&objective(0), variant.clone(), number.to_string(), outcome);
            assert_eq!(kernel.best(&objective(0)).0, Variant::Stock);
        }
        let variant = kernel.propose(&objective(0));
        kernel.record(&objective(0), variant.clone(), "good".into(), Some(figures(8, 32, 480)));
        assert_eq!(kernel.best(&objective(0)), (variant, figures(8, 32, 480)));
    }

    /// The course of a search never gets worse, begins with stock and ends with the best variant.
    #[test]
    fn courses_end_with_the_best() {
        let mut kernel = kernel();
        let outcomes = [Some(figures(100, 32, 499)), Some(figures(50, 16, 400)), Some(figures(60, 32, 500)), None];
        for (number, outcome) in outcomes.into_iter().chain([Some(figures(90, 32, 1))]).enumerate() {
            let variant = kernel.propose(&objective(0));
            kernel.record(&objective(0), variant.clone(), number.to_string(), outcome);
        }
        let course = kernel.course(&objective(0));
        assert_eq!(course.iter().map(Figures::spill_bytes).collect::<Vec<_>>(), [100, 100, 60, 60, 60]);
        assert_eq!(course[0], kernel.stock, "one instruction of 500 is not worth while");
        assert_eq!(course.last(), Some(&kernel.best(&objective(0)).1));
    }

    /// ptxas's result for a PTX applies to every variant with the same PTX.
    #[test]
    fn same_ptx_same_figures() {
        let mut kernel = kernel();
        let variant = kernel.propose(&objective(0));
        assert_eq!(kernel.known("stock"), Some(Some(kernel.stock)));
        kernel.record(&objective(0), variant, "stock".into(), None);
        assert_eq!(kernel.tried[0].figures, Some(kernel.stock));
    }
}
