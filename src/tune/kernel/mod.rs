//! A kernel under search: what was tried on it, and which variant is the best so far.

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
    /// What it costs; `None` where ptxas did not take it.
    pub figures: Option<Figures>,
}

impl TriedVariant {
    /// The fingerprint of its PTX, if there is any.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

/// A kernel and what was tried on it.
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Of its code.
    pub hash: String,
    /// How it is launched, as far as that is known.
    pub block: Block,
    /// Whether ptxas may be asked to spill to shared memory.
    pub may_spill_to_shared: bool,
    /// Whether ptxas may compile it under another name.
    pub may_have_other_name: bool,
    /// Whether ptxas ignores `setmaxnreg` in it for want of `.minnctapersm`.
    pub wants_blocks: bool,
    /// Whether somebody can tell what ptxas spills in it.
    pub may_be_inspected: bool,
    /// Whether it is linked later, so that nothing may change that other files see.
    pub is_relocatable: bool,
    /// Whether ptxas would unroll loops of it in another form: then the best is tried in that form in the end.
    pub has_loops_to_turn: bool,
    /// Whether nothing but the ends of its loops is tried: it lacks nothing.
    pub is_for_loops_alone: bool,
    /// What the kernel asks of its registers while it runs, by `setmaxnreg`; `None` where it asks for nothing.
    pub register_requests: Option<RegisterRequests>,
    /// The template that it is an instance of, by the template's name.
    pub template: Option<String>,
    /// What of LLVM's optimisations is among the choices.
    choices: Choices,
    /// Whether the queue holds what is chosen ahead of LLVM's optimisations, and the rest waits for what comes of it.
    has_first_choices: bool,
    /// What it costs without the passes.
    pub stock: Figures,
    /// The fingerprint of its PTX without the passes.
    stock_text: String,
    /// What was tried, in this order.
    pub tried: Vec<TriedVariant>,
    /// How many variants ptxas did not take.
    pub lost: usize,
    /// Why it did not take the first of them.
    pub first_loss: Option<String>,
    /// What ptxas said of a kernel's PTX, by its fingerprint.
    known: HashMap<String, Option<Figures>>,
    proposed: Vec<Variant>,
    applied_recipes: recipes::AppliedRecipes,
    /// Whether recipes are tried ahead of all else: those for PTX of one compiler.
    by_recipes: bool,
    /// What may be spent on it; `None` where runs are counted.
    work: Option<Work>,
    /// Whether each recipe is tried, and nothing else.
    pub tries_all: bool,
    queue: VecDeque<Variant>,
    /// Whether it is known whose code is the best as it is.
    has_ranked: bool,
    /// How many orders were changed at random.
    perturbed: u32,
    rounds: Rounds,
    inspections: SpillInspections,
    lessons: Lessons,
    /// The limit on registers of variants with kept values, if ptxas gives registers up for these.
    limit_of_kept: Option<u32>,
    /// The same of variants with an order and without kept values.
    limit_of_ordered: Option<u32>,
    /// What comparisons with stock say of the variants.
    pub findings: Findings,
}

impl Kernel {
    /// A kernel of which nothing but stock is known. `text` is the fingerprint of the PTX of stock.
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

    /// The same with what is tried where several compilers have code of it.
    #[cfg(test)]
    pub(super) fn without_recipes(mut self) -> Self {
        self.by_recipes = false;
        self.queue = proposals::first_of_text();
        self
    }

    /// Adds the code that other compilers have of the kernel, by their numbers. It is tried as it is ahead of all else.
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

    /// Adds what some kernels may have: another name, and `.minnctapersm` where `setmaxnreg` wants it. The defaults are tried with them
    /// at once.
    pub fn add_rare_choices(&mut self) {
        let with_blocks = self.wants_blocks.then(|| Variant::DEFAULT.with_blocks_said());
        let with_name = self.may_have_other_name.then(|| Variant::DEFAULT.toggled_name());
        for variant in with_name.into_iter().chain(with_blocks) {
            self.queue.insert(self.queue.len().min(1), variant);
        }
    }

    /// What to try next: never the same twice.
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

    /// What ptxas said of the same PTX.
    fn known(&self, text: &str) -> Option<Option<Figures>> {
        self.known.get(text).copied()
    }

    /// Notes what came of a variant. `text` is the fingerprint of its PTX.
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

    /// Whether every launch of stock has room for a variant of another compiler: if only the launch says how much shared
    /// memory it adds, the variant itself has no more than stock.
    fn has_room(&self, variant: &Variant, figures: &Figures) -> bool {
        let is_known = variant.compiler() == 0 || self.block.dynamic_shared.is_some();
        is_known || figures.ptxas_report.shared_bytes <= self.stock.ptxas_report.shared_bytes
    }

    /// What a variant costs, slots in shared memory included.
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
        // What costs as much as stock in everything may be stock's text, in which nothing is turned.
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

    /// What a variant with turned loops costs with loops as they come, as far as that is known; else what unchanged code does.
    pub fn as_it_comes(&self, variant: &Variant) -> Option<Figures> {
        let as_it_comes = variant.with_loops_as_they_come()?;
        let unchanged = Variant::Stock.on_code_of(variant.compiler());
        Some(self.figures(&as_it_comes).or_else(|| self.figures(&unchanged)).unwrap_or(self.stock))
    }

    /// Whether a variant with these figures may count.
    pub fn is_admissible(&self, objective: &Objective, variant: &Variant, figures: &Figures) -> bool {
        // Nobody has asked for fewer warps, however many it holds.
        let may_say_blocks = objective.allowance.fewer_warps || !variant.moves_along(Axis::Blocks);
        let is_reshaped = variant.optimisations().ahead() != Ahead::STOCK;
        figures.is_no_worse(&self.stock, objective.allowance)
            && may_say_blocks
            && (!is_reshaped || figures.leaves_arrays(&self.stock))
            && !self.is_hopeless_choice(objective, variant)
    }

    /// What may win of all but some variants: it may count, no comparison speaks against it, it is better than stock, and it is
    /// no worse than the code of the better compiler. O(what was tried).
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

    /// All variants that may win, as far as is known now, the best first.
    pub fn winners(&self, objective: &Objective) -> Vec<Variant> {
        let may_win = self.may_win(objective, |_| false);
        self.ranked(objective, self.judged().filter(|(variant, figures)| may_win(variant, figures)))
    }

    /// Notes a variant that is lost, and why; without a text where LLVM made none.
    fn lose(&mut self, variant: Variant, text: Option<String>, problem: String) {
        self.lost += 1;
        self.first_loss.get_or_insert(problem);
        self.known.extend(text.clone().map(|text| (text, None)));
        self.tried.push(TriedVariant { variant, text, figures: None });
    }

    /// What was tried and ptxas took, and no comparison speaks against, in the order in which it was tried.
    fn judged(&self) -> impl Iterator<Item = (&Variant, Figures)> {
        let judged = self.tried.iter().filter_map(|tried| Some((&tried.variant, tried.figures?)));
        judged.filter(|(variant, _)| {
            !self.findings.has_refused(variant) && !self.findings.has_disqualified(variant, false)
        })
    }

    /// What was judged, of variants with the same PTX the first.
    fn judged_once(&self) -> impl Iterator<Item = (&Variant, Figures)> {
        let mut texts = HashSet::new();
        self.judged().filter(move |(variant, _)| texts.insert(self.text(variant)))
    }

    /// The best of what is no worse than stock, and than the code of a better compiler; of equals the first of our own code;
    /// stock where nothing is better.
    pub fn best(&self, objective: &Objective) -> (Variant, Figures) {
        self.best_but_for(objective, |_| false)
    }

    /// The best without some of the variants.
    pub fn best_but_for(&self, objective: &Objective, is_left_out: impl Fn(&Variant) -> bool) -> (Variant, Figures) {
        let tried = self.tried.iter().filter_map(|tried| Some((&tried.variant, tried.figures?)));
        let may_win = self.may_win(objective, is_left_out);
        let better = tried.filter(|(variant, figures)| may_win(variant, figures));
        // Of equals, our own code: it needs no other file.
        let best = better.min_by(|one, other| {
            let by_compiler = || one.0.compiler().cmp(&other.0.compiler());
            one.1.compare(&other.1, &objective.preference).then_with(by_compiler)
        });
        best.map_or((Variant::Stock, self.stock), |(variant, figures)| (variant.clone(), figures))
    }

    /// The best after each variant, in the order in which they were tried.
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

    /// The fingerprint of a variant's PTX.
    fn text(&self, variant: &Variant) -> Option<&str> {
        self.tried(variant)?.text.as_deref()
    }

    /// What came of a variant.
    fn figures(&self, variant: &Variant) -> Option<Figures> {
        self.tried(variant)?.figures
    }

    /// What came of the defaults.
    pub fn default(&self) -> Option<Figures> {
        self.figures(&Variant::DEFAULT)
    }

    /// Variants by what came of them, best first: those that are admissible before those that are not, equal ones in their
    /// order.
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

    /// A kernel in blocks of four warps of which nothing but this is known.
    pub(super) fn kernel_with(stock: Figures) -> Kernel {
        let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };
        Kernel::new("k", "0", block, stock, "stock".into(), Choices::CodeGeneration)
    }

    pub(super) fn kernel() -> Kernel {
        kernel_with(figures(100, 32, 500))
    }

    /// Searches to the end, with an answer to each question.
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

    /// The same with so many accesses of local memory, which move so many bytes by loops.
    pub(super) fn of_arrays(stack_traffic: u64, local: u32, figures: Figures) -> Figures {
        let sass = Sass { stack_traffic, local, ..figures.sass };
        Figures { sass, ..figures }
    }

    /// The same seed gives the same search, another one another.
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

    /// What is worse than stock in anything is never the best, nor what ptxas refuses; without anything better, stock
    /// is.
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

    /// The course of a search never gets worse, begins with stock and ends with the best.
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

    /// What ptxas said of the same PTX holds for every variant that makes it.
    #[test]
    fn same_ptx_same_figures() {
        let mut kernel = kernel();
        let variant = kernel.propose(&objective(0));
        assert_eq!(kernel.known("stock"), Some(Some(kernel.stock)));
        kernel.record(&objective(0), variant, "stock".into(), None);
        assert_eq!(kernel.tried[0].figures, Some(kernel.stock));
    }
}
