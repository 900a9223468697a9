//! The search for one kernel: which variant to try next, and which is the best so far.
//!
//! First the defaults and most orders. Then, from the best that was found, what is near it: loads in inline assembly
//! that move or not, one of LLVM's optimisations less or more, spills to shared memory, limits on registers that cost
//! no warp or win one, other names, copies left alone, values computed again; and small changes of good orders at
//! random, for as long as the budget lasts. What is tried depends on the figures and the seed alone.

use std::collections::{HashMap, VecDeque};
use std::iter;

use nvptx_ra::target::machine::Architecture;

use super::figures::{Allowance, Block, Figures, Preference, launch};
use super::optimisations::Optimisations;
use super::variant::{Names, Variant};

/// A kernel and what was tried on it.
pub(super) struct Kernel {
    pub(super) name: String,
    /// Of its code.
    pub(super) hash: String,
    pub(super) block: Block,
    /// Whether ptxas may be asked to spill to shared memory.
    pub(super) may_spill_to_shared: bool,
    pub(super) stock: Figures,
    /// In the order in which they were tried; none where ptxas did not take it.
    pub(super) tried: Vec<(Variant, Option<Figures>)>,
    /// How many variants ptxas did not take, and why the first was not.
    pub(super) lost: usize,
    pub(super) first_loss: Option<String>,
    /// What ptxas said of a kernel's PTX, by its fingerprint.
    known: HashMap<String, Option<Figures>>,
    proposed: Vec<Variant>,
    queue: VecDeque<Variant>,
    /// How many orders were changed at random.
    perturbed: u32,
}

/// What a search is for.
#[derive(Clone, Copy)]
pub(super) struct Aim {
    pub(super) architecture: &'static Architecture,
    /// What variants may be worse in than stock.
    pub(super) allowance: Allowance,
    /// What perturbed orders are drawn by.
    pub(super) seed: u32,
    /// What counts first.
    pub(super) preference: Preference,
}

impl Kernel {
    /// A kernel of which nothing but stock is known.
    pub(super) fn new(name: &str, hash: &str, block: Block, stock: Figures, text: String) -> Self {
        Self {
            name: name.to_owned(),
            hash: hash.to_owned(),
            block,
            may_spill_to_shared: false,
            stock,
            tried: Vec::new(),
            lost: 0,
            first_loss: None,
            known: HashMap::from([(text, Some(stock))]),
            proposed: Vec::new(),
            queue: first(&stock),
            perturbed: 0,
        }
    }

    /// What to try next: never the same twice.
    pub(super) fn propose(&mut self, aim: &Aim) -> Variant {
        loop {
            if self.queue.is_empty() {
                self.look_around(aim);
            }
            if let Some(variant) = self.queue.pop_front()
                && !self.proposed.contains(&variant)
            {
                self.proposed.push(variant);
                return variant;
            }
        }
    }

    /// What ptxas said of the same PTX.
    pub(super) fn known(&self, text: &str) -> Option<Option<Figures>> {
        self.known.get(text).copied()
    }

    /// Notes what came of a variant. `text` is the fingerprint of its PTX.
    pub(super) fn record(&mut self, variant: Variant, text: String, figures: Option<Figures>) {
        let figures = *self.known.entry(text).or_insert(figures);
        self.tried.push((variant, figures));
    }

    /// Notes a variant that is lost, and why; without a text where LLVM made none.
    pub(super) fn lose(&mut self, variant: Variant, text: Option<String>, problem: String) {
        self.lost += 1;
        self.first_loss.get_or_insert(problem);
        self.known.extend(text.map(|text| (text, None)));
        self.tried.push((variant, None));
    }

    /// What was tried and ptxas took, in the order in which it was tried.
    fn judged(&self) -> impl Iterator<Item = (&Variant, Figures)> {
        self.tried.iter().filter_map(|(variant, figures)| Some((variant, (*figures)?)))
    }

    /// The best of what is no worse than stock, the first of equals; stock where nothing is better.
    pub(super) fn best(&self, aim: &Aim) -> (Variant, Figures) {
        let better = self.judged().filter(|(_, figures)| {
            figures.is_no_worse(&self.stock, aim.allowance) && figures.is_better(&self.stock, &aim.preference)
        });
        let best = better.min_by(|one, other| one.1.compare(&other.1, &aim.preference));
        best.map_or((Variant::Stock, self.stock), |(variant, figures)| (*variant, figures))
    }

    /// What came of the defaults.
    pub(super) fn default(&self) -> Option<Figures> {
        self.tried.iter().find(|(variant, _)| *variant == Variant::DEFAULT).and_then(|(_, figures)| *figures)
    }

    /// The orders by what came of them, best first: those that are admissible before those that are not.
    fn good_orders(&self, aim: &Aim) -> Vec<Variant> {
        let mut ranked: Vec<(bool, Figures, &Variant)> = self
            .judged()
            .map(|(variant, figures)| (!figures.is_no_worse(&self.stock, aim.allowance), figures, variant))
            .collect();
        ranked.sort_by(|one, other| one.0.cmp(&other.0).then_with(|| one.1.compare(&other.1, &aim.preference)));
        ranked.into_iter().map(|(_, _, variant)| *variant).collect()
    }

    /// Fills the queue with what is near the best.
    fn look_around(&mut self, aim: &Aim) {
        let orders = self.good_orders(aim);
        let (best, figures) = self.best(aim);
        self.queue.extend(self.with_free_registers(aim));
        let mut around = Vec::new();
        if self.may_spill_to_shared && figures.spill_bytes() > 0 {
            around.push(best.with_smem_spilling());
        }
        around.extend(self.held_to_warps(aim, &figures));
        around.extend(self.limits(aim, &best, &figures));
        if let Some(other) = orders.iter().find(|variant| **variant != best) {
            around.extend(self.limits(aim, other, &figures));
        }
        around.push(best.with_registers(Names::Fewest, true));
        around.push(best.with_registers(Names::Some, false));
        around.push(best.with_registers(Names::Llvm, true));
        // Of all that is near these help the fewest kernels.
        around.extend(Variant::orders().skip(FIRST_ORDERS).map(|order| best.with_order(order, 0)));
        around.extend(Variant::remats().map(|remat| best.with_remat(remat)));
        around.retain(|variant| !self.proposed.contains(variant));
        // A small budget is to see some of everything. What changes nothing costs no run.
        around.truncate(1);
        let toggled = Optimisations::TOGGLES.map(|toggle| best.optimised(best.optimisations().toggled(toggle)));
        // Without an order no load moves.
        let loads = best.has_order().then(|| best.toggled_assembly_loads());
        let toggled = loads.into_iter().chain(toggled);
        around.extend(toggled.filter(|variant| !self.proposed.contains(variant)).take(3));
        let base = orders.get(self.perturbed as usize % 3).or(orders.first()).unwrap_or(&best);
        self.perturbed += 1;
        // A new seed each time, and one that no other `--seed` gives.
        let seed = aim.seed.wrapping_mul(0x9E37_79B1).wrapping_add(self.perturbed).max(1);
        around.push(base.with_order(base.order(), seed));
        self.queue.extend(around);
    }

    /// The most registers that cost no warp of stock's.
    fn free_registers(&self, aim: &Aim) -> u32 {
        aim.architecture.step_edge(&launch(&self.stock.real, self.block))
    }

    /// LLVM's own order with all registers that cost no warp, where ptxas spills with fewer: it leaves room for warps that
    /// something else keeps out.
    fn with_free_registers(&self, aim: &Aim) -> Option<Variant> {
        let edge = self.free_registers(aim);
        let is_free = self.stock.spill_bytes() > 0 && edge > self.stock.real.registers;
        is_free.then(|| Variant::DEFAULT.optimised(Optimisations::TOLD).with_limit(edge))
    }

    /// What spills least of all, and less than `best`, if it holds fewer warps than stock.
    fn least_spills_for_warps(&self, best: &Figures) -> Option<(&Variant, Figures)> {
        let spills_less = self.judged().filter(|(_, figures)| figures.weighted_spills() < best.weighted_spills());
        let least = spills_less.min_by_key(|(_, figures)| figures.weighted_spills());
        least.filter(|(_, figures)| figures.warps < self.stock.warps)
    }

    /// The best, and what spills half as much or less and would count if it might hold fewer warps, where it may not.
    pub(super) fn half_the_spills_for_warps(&self, aim: &Aim) -> Option<(Figures, Figures)> {
        let (_, best) = self.best(aim);
        let (_, least) = self.least_spills_for_warps(&best).filter(|_| !aim.allowance.fewer_warps)?;
        let would_count = least.is_no_worse(&self.stock, Allowance { fewer_warps: true, ..aim.allowance });
        (would_count && 2 * least.spill_bytes() <= best.spill_bytes()).then_some((best, least))
    }

    /// What would spill least of all but for its warps, held to the most registers that cost none.
    fn held_to_warps(&self, aim: &Aim, best: &Figures) -> Option<Variant> {
        let (variant, _) = self.least_spills_for_warps(best)?;
        Some(variant.with_limit(self.free_registers(aim)))
    }

    /// Limits on registers near `variant`: the most at no cost in warps, and the most that wins a step.
    fn limits(&self, aim: &Aim, variant: &Variant, figures: &Figures) -> Vec<Variant> {
        let launch = launch(&figures.real, self.block);
        let edge = aim.architecture.step_edge(&launch);
        // What takes all registers that it may has that limit already; what ptxas holds to a step by itself has not,
        // and spills less if it is told.
        let most = self.block.threads.and_then(|threads| aim.architecture.registers_for_blocks(threads, 1));
        let is_held = figures.spill_bytes() > 0 && most.is_some_and(|most| figures.real.registers < most);
        let to_edge = Some(edge).filter(|&edge| edge > figures.real.registers || is_held);
        // What spills spills more with fewer registers; below 24 ptxas refuses what calls.
        let is_near = |&step: &u32| figures.spill_bytes() == 0 && step >= 24;
        let step = aim.architecture.next_step(&launch).filter(is_near);
        let fewer_warps = aim.allowance.fewer_warps.then(|| edge.saturating_add(1)).filter(|&above| above <= 255);
        let above = fewer_warps.map(|above| aim.architecture.step_edge(&launch.with_registers(above)));
        [to_edge, step, above].into_iter().flatten().map(|limit| variant.with_limit(limit)).collect()
    }
}

/// How many orders are tried on every kernel; of the others, what is near the best.
const FIRST_ORDERS: usize = 6;

/// What is tried on every kernel. Where something spills, orders bring the most, and hoisting; elsewhere fewer
/// optimisations do.
fn first(stock: &Figures) -> VecDeque<Variant> {
    let spills = stock.spill_bytes() > 0;
    let base = if spills { Optimisations::TOLD } else { Optimisations::STOCK };
    let toggles = if spills { &[Optimisations::STOCK, Optimisations::HOIST][..] } else { &Optimisations::FOR_WARPS };
    let toggled = toggles.iter().map(|&toggle| Variant::DEFAULT.optimised(base.toggled(toggle)));
    let orders = Variant::orders().take(FIRST_ORDERS).map(|order| Variant::ordered(order, 0).optimised(base));
    // Of all orders `eager` gains most where loads may move.
    let with_loads = spills.then(|| Variant::ordered("eager", 0).optimised(base).toggled_assembly_loads());
    // The default is one of the orders, too; what was proposed is not proposed again.
    iter::once(Variant::DEFAULT).chain(toggled).chain(orders).chain(with_loads).collect()
}

#[cfg(test)]
mod tests {
    use nvptx_ra::config::Skip;

    use super::super::figures::{preference, tests::figures};
    use super::*;

    fn aim(seed: u32) -> Aim {
        let architecture = Architecture::by_name("sm_90").expect("is known");
        Aim { architecture, allowance: Allowance::default(), seed, preference: preference(&[]) }
    }

    /// A kernel in blocks of four warps of which nothing but this is known.
    fn kernel_with(stock: Figures) -> Kernel {
        Kernel::new("k", "0", Block { threads: Some(128), dynamic_shared: Some(0) }, stock, "stock".into())
    }

    fn kernel() -> Kernel {
        kernel_with(figures(100, 32, 500))
    }

    /// Variants differ from each other, the defaults come first, and all orders are among the first.
    #[test]
    fn never_the_same_twice() {
        let mut kernel = kernel();
        let mut seen: Vec<Variant> = Vec::new();
        for number in 0..60u32 {
            let variant = kernel.propose(&aim(0));
            assert!(!seen.contains(&variant), "{variant}");
            kernel.record(variant, number.to_string(), Some(figures(100 - number % 7, 32, 500)));
            seen.push(variant);
        }
        assert_eq!(seen[0], Variant::DEFAULT);
        let told = |order| Variant::ordered(order, 0).optimised(Optimisations::TOLD);
        assert!(Variant::orders().take(FIRST_ORDERS).all(|order| seen[..8].contains(&told(order))));
    }

    /// Each of LLVM's optimisations is left out or added once, one at a time; where one is best left out, others go
    /// with it.
    #[test]
    fn toggles() {
        let mut kernel = kernel();
        let mut tried: Vec<Optimisations> = Vec::new();
        let slsr = Optimisations::without(Skip::SLSR);
        for number in 0..90u32 {
            let variant = kernel.propose(&aim(0));
            let optimisations = variant.optimisations();
            let is_good = optimisations.of_ir() == slsr;
            let outcome = if is_good { figures(10, 32, 500) } else { figures(100, 32, 500) };
            kernel.record(variant, number.to_string(), Some(outcome));
            tried.push(optimisations);
        }
        let toggles = Optimisations::TOGGLES;
        assert!(tried[3..8].iter().all(|&optimisations| optimisations == Optimisations::TOLD));
        assert!(toggles.iter().take(6).all(|toggle| tried.contains(toggle)));
        assert!(toggles.iter().all(|&toggle| toggle == slsr || tried.contains(&toggle.toggled(slsr))));
    }

    /// Where nothing spills, what helps then comes ahead of the orders.
    #[test]
    fn toggles_first() {
        let mut kernel = kernel_with(figures(0, 32, 500));
        let variants: Vec<Variant> = (0..10).map(|_| kernel.propose(&aim(0))).collect();
        assert_eq!(variants[0], Variant::DEFAULT);
        let for_warps = Optimisations::FOR_WARPS.map(|optimisations| Variant::DEFAULT.optimised(optimisations));
        assert_eq!(variants[1..5], for_warps);
        assert!(Variant::orders().take(FIRST_ORDERS).all(|order| variants.contains(&Variant::ordered(order, 0))));
    }

    /// Limits on registers are tried where they may win warps, or where ptxas holds a kernel to fewer than a block may
    /// have and it spills, and not where they can only cost spills.
    #[test]
    fn limits() {
        for (spills, registers, threads, expected) in
            [(0, 64, 128, true), (100, 64, 128, true), (100, 64, 1024, false), (100, 255, 128, false)]
        {
            let mut stock = figures(spills, 32, 500);
            stock.real.registers = registers;
            let mut kernel = kernel_with(stock);
            kernel.block.threads = Some(threads);
            let variants: Vec<Variant> = (0..30).map(|_| kernel.propose(&aim(0))).collect();
            let limits = variants.iter().any(Variant::limits_registers);
            assert_eq!(limits, expected, "{spills} bytes, {registers} registers, {threads} threads");
        }
    }

    /// What spills nothing for the price of warps is tried with as many registers as cost none.
    #[test]
    fn held_to_the_warps_of_stock() {
        let mut kernel = kernel();
        for number in 0..9u32 {
            let variant = kernel.propose(&aim(0));
            let is_third = number == 2;
            let outcome = if is_third { figures(0, 16, 400) } else { figures(100, 32, 500 + number) };
            kernel.record(variant, number.to_string(), Some(outcome));
        }
        let costly = kernel.tried[2].0;
        assert_eq!(kernel.propose(&aim(0)), costly.with_limit(64));
    }

    /// What fewer warps would save is told where it is half of the spills and costs nothing else, and where they are not
    /// allowed anyway.
    #[test]
    fn spills_for_warps() {
        let saved = |outcome: Figures, fewer_warps| {
            let mut kernel = kernel();
            let aim = Aim { allowance: Allowance { fewer_warps, ..Allowance::default() }, ..aim(0) };
            for (number, outcome) in [figures(80, 32, 500), outcome].into_iter().enumerate() {
                let variant = kernel.propose(&aim);
                kernel.record(variant, number.to_string(), Some(outcome));
            }
            kernel.half_the_spills_for_warps(&aim)
        };
        assert_eq!(saved(figures(40, 16, 500), false), Some((figures(80, 32, 500), figures(40, 16, 500))));
        for (outcome, fewer_warps) in [
            (figures(41, 16, 500), false),
            (figures(40, 16, 501), false),
            (figures(40, 32, 500), false),
            (figures(40, 16, 500), true),
        ] {
            assert_eq!(saved(outcome, fewer_warps), None, "{outcome:?}");
        }
    }

    /// What spills with fewer registers than its warps leave it, for its shared memory keeps others out, is tried with all
    /// of them, once.
    #[test]
    fn free_registers() {
        for (registers, expected) in [(32, 1), (255, 0)] {
            let mut stock = figures(100, 8, 500);
            stock.real.registers = registers;
            let block = Block { threads: Some(128), dynamic_shared: Some(100_000) };
            let mut kernel = Kernel::new("k", "0", block, stock, "stock".into());
            let variants: Vec<Variant> = (0..60).map(|_| kernel.propose(&aim(0))).collect();
            let freed = Variant::DEFAULT.optimised(Optimisations::TOLD).with_limit(255);
            assert_eq!(variants.iter().filter(|&&variant| variant == freed).count(), expected, "{registers} registers");
        }
    }

    /// Spills to shared memory are tried where there are spills and the kernel allows it, and else nowhere.
    #[test]
    fn spills_to_shared() {
        for (spills, allowed, expected) in [(100, true, true), (0, true, false), (100, false, false)] {
            let mut kernel = kernel_with(figures(spills, 32, 500));
            kernel.may_spill_to_shared = allowed;
            let variants: Vec<Variant> = (0..16).map(|_| kernel.propose(&aim(0))).collect();
            assert_eq!(variants.iter().any(Variant::spills_to_shared), expected, "{spills} bytes, {allowed}");
        }
    }

    /// The same seed gives the same search, another one another.
    #[test]
    fn seeds() {
        let search = |seed| {
            let mut kernel = kernel();
            let mut all = Vec::new();
            for number in 0..30u32 {
                let variant = kernel.propose(&aim(seed));
                kernel.record(variant, number.to_string(), Some(figures(number * 7 % 50, 32, 500)));
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
            let variant = kernel.propose(&aim(0));
            kernel.record(variant, number.to_string(), outcome);
            assert_eq!(kernel.best(&aim(0)).0, Variant::Stock);
        }
        let variant = kernel.propose(&aim(0));
        kernel.record(variant, "good".into(), Some(figures(8, 32, 480)));
        assert_eq!(kernel.best(&aim(0)), (variant, figures(8, 32, 480)));
    }

    /// What ptxas said of the same PTX holds for every variant that makes it.
    #[test]
    fn same_ptx_same_figures() {
        let mut kernel = kernel();
        let variant = kernel.propose(&aim(0));
        assert_eq!(kernel.known("stock"), Some(Some(kernel.stock)));
        kernel.record(variant, "stock".into(), None);
        assert_eq!(kernel.tried[0].1, Some(kernel.stock));
    }
}
