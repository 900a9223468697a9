//! Which variant to try next.
//!
//! First the defaults and most orders. Then, from the best that was found, what is near it: loads in inline assembly
//! that move or not, one of LLVM's optimisations less or more, spills to shared memory, limits on registers that cost
//! no warp or win one, other names, copies left alone, values computed again; and small changes of good orders at
//! random, for as long as the effort lasts. What is tried depends on the figures and the seed alone.

use std::collections::VecDeque;
use std::iter;

use super::Kernel;
use super::effects::Effects;
use super::limits::ROUNDING;
use crate::target::machine::{SHARED_PER_BLOCK, WARP_SIZE};
use crate::tune::figures::{Figures, launch};
use crate::tune::objective::Objective;
use crate::tune::optimisations::{Ahead, Choices, Optimisations};
use crate::tune::recipe::KEPT_WAYS;
use crate::tune::spill_options::SpillOptions;
use crate::tune::variant::{Names, Variant};

/// How many orders are tried on every kernel; of the others, what is near the best.
const FIRST_ORDERS: usize = 6;

/// A way of keeping values in shared memory.
struct Way {
    /// Registers that are left to ptxas.
    slack: u32,
    /// Whether values move in loops, by the name of the option.
    in_loops: &'static str,
    /// The most values.
    values: Option<u32>,
    /// The most words, in quarters of the words that ptxas spills. A word that goes is stored and loaded once at least, so
    /// that more than twice as many never pay.
    quarters: Option<u32>,
    /// How values are stored and loaded.
    accesses: Accesses,
}

/// How values are stored and loaded.
#[derive(Clone, Copy)]
enum Accesses {
    /// Each for itself.
    Single,
    /// One load for all reads that it can serve.
    Hoisted,
    /// Two words at once.
    Wide,
}

/// The ways that are tried, in this order. What helps differs from kernel to kernel: often three or five values are enough,
/// and more of them cost what these gain.
const WAYS: [Way; KEPT_WAYS] = [
    Way { slack: 24, in_loops: "auto", values: None, quarters: None, accesses: Accesses::Single },
    Way { slack: 24, in_loops: "on", values: None, quarters: Some(5), accesses: Accesses::Single },
    Way { slack: 80, in_loops: "around", values: Some(5), quarters: None, accesses: Accesses::Single },
    Way { slack: 80, in_loops: "around", values: Some(3), quarters: None, accesses: Accesses::Single },
    Way { slack: 80, in_loops: "around", values: Some(16), quarters: None, accesses: Accesses::Single },
    Way { slack: 24, in_loops: "auto", values: None, quarters: Some(7), accesses: Accesses::Hoisted },
    Way { slack: 48, in_loops: "on", values: None, quarters: Some(6), accesses: Accesses::Wide },
];

/// What is tried on every kernel, but for what is [tried then](behind_choices_ahead).
pub(super) fn first(stock: &Figures, choices: Choices) -> VecDeque<Variant> {
    match choices {
        // Recipes come first.
        Choices::Nothing => VecDeque::new(),
        Choices::CodeGeneration => behind_choices_ahead(stock),
        // What is inlined and unrolled changes most of all, and the rest depends on it.
        Choices::All => {
            let ahead = Ahead::CHOICES.map(|ahead| Variant::DEFAULT.optimised(Optimisations::ahead_of(ahead)));
            iter::once(Variant::DEFAULT).chain(ahead).collect()
        }
    }
}

/// What is tried on every kernel of LLVM IR, with the best of what is chosen ahead of LLVM's optimisations. Where something
/// spills, orders bring the most, and hoisting; elsewhere fewer optimisations do.
pub(super) fn behind_choices_ahead(stock: &Figures) -> VecDeque<Variant> {
    let spills = stock.spill_bytes() > 0;
    let base = if spills { Optimisations::TOLD } else { Optimisations::STOCK };
    let toggles = if spills { &[Optimisations::STOCK, Optimisations::HOIST][..] } else { &Optimisations::FOR_WARPS };
    let toggled = toggles.iter().map(|&toggle| Variant::DEFAULT.optimised(base.toggled(toggle)));
    let orders = Variant::orders().take(FIRST_ORDERS).map(|order| Variant::ordered(order, 0).optimised(base));
    // Of all orders `eager` gains most where loads may move.
    let with_loads = spills.then(|| Variant::ordered("eager", 0).optimised(base).toggled_assembly_loads());
    // Where they change nothing, the text is that of what comes first, and that costs no run.
    let with_bits = spills.then(|| Variant::DEFAULT.optimised(base).with_bits("on"));
    // The default is one of the orders, too; what was proposed is not proposed again.
    iter::once(Variant::DEFAULT).chain(toggled).chain(with_bits).chain(orders).chain(with_loads).collect()
}

/// What is tried on every kernel of PTX: predicates as bits, orders, and of those that gain most the same with values computed
/// again.
pub(super) fn first_of_text() -> VecDeque<Variant> {
    let unordered = [Variant::DEFAULT, Variant::DEFAULT.with_bits("on")].into_iter();
    let orders = Variant::orders().take(FIRST_ORDERS).map(|order| Variant::ordered(order, 0));
    let again = ["eager", "latency"].map(|order| Variant::ordered(order, 0).with_remat("peaks"));
    unordered.chain(orders).chain(again).collect()
}

/// One of each in turn, for as long as there are both.
pub(super) fn in_turn<T>(ones: impl IntoIterator<Item = T>, others: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut others = others.into_iter();
    let mut all: Vec<T> = ones.into_iter().flat_map(|one| iter::once(one).chain(others.next())).collect();
    all.extend(others);
    all
}

impl Kernel {
    pub(super) fn has_optimisations(&self) -> bool {
        self.choices != Choices::Nothing
    }

    /// Fills the queue: where there is other compilers' code with what is tried on all of it, behind the choices ahead of
    /// LLVM's optimisations with what is tried on every kernel, then with what is near the best.
    pub(super) fn fill_queue(&mut self, objective: &Objective) {
        if !std::mem::replace(&mut self.has_ranked, true) {
            self.queue.extend(self.of_compilers(objective));
            return;
        }
        if std::mem::take(&mut self.has_first_choices) {
            return self.continue_with_best_choice(objective);
        }
        let mut orders = self.ranked(objective, self.judged());
        orders.retain(|variant| !self.is_hopeless_choice(objective, variant));
        let (best, figures) = self.best(objective);
        self.queue.extend(self.with_free_registers(objective, best.compiler()));
        self.queue.extend(self.with_all_registers(objective, &best, &figures));
        self.queue.extend(self.with_kept_values(objective, &best, &figures));
        let effects = Effects::of(self.judged());
        let mut around = self.near(objective, &effects, &best, &figures, &orders);
        let mut base = orders.get(self.perturbed as usize % 3).or(orders.first()).unwrap_or(&best);
        if let Some((variant, figures)) = self.least_accesses_for_spills(objective, &figures) {
            // What it spills is little beside what it saves: half of what is tried is to spare that.
            let others = std::mem::replace(&mut around, self.near(objective, &effects, variant, &figures, &orders));
            around = in_turn(around, others);
            base = if self.perturbed.is_multiple_of(2) { variant } else { base };
        }
        let base = base.clone();
        self.perturbed += 1;
        // A new seed each time, and one that no other `--seed` gives.
        let seed = objective.seed.wrapping_mul(0x9E37_79B1).wrapping_add(self.perturbed).max(1);
        around.push(base.with_order(base.order(), seed));
        self.queue.extend(around);
    }

    /// What is near a variant, and was not in vain elsewhere; if all of it was, all.
    fn near(
        &self,
        objective: &Objective,
        effects: &Effects,
        base: &Variant,
        figures: &Figures,
        orders: &[Variant],
    ) -> Vec<Variant> {
        let is_new =
            |variant: &Variant| !self.proposed.contains(variant) && !self.is_hopeless_choice(objective, variant);
        let is_promising = |variant: &Variant| is_new(variant) && !effects.is_in_vain(objective, base, variant);
        let near = self.around(objective, base, figures, orders, is_promising);
        if near.is_empty() { self.around(objective, base, figures, orders, is_new) } else { near }
    }

    /// What is near a variant, as far as it is wanted. `orders` are the variants that were judged, best first.
    fn around(
        &self,
        objective: &Objective,
        base: &Variant,
        figures: &Figures,
        orders: &[Variant],
        is_wanted: impl Fn(&Variant) -> bool,
    ) -> Vec<Variant> {
        // LLVM's optimisations are those of our own code.
        let has_optimisations = self.has_optimisations() && base.compiler() == 0;
        let mut around = Vec::new();
        if self.may_spill_to_shared && figures.spill_bytes() > 0 {
            around.push(base.with_smem_spilling());
        }
        around.extend(self.held_to_warps(objective, figures));
        around.extend(self.leanest_with_more_warps(objective, figures));
        around.extend(self.limits(objective, base, figures));
        if let Some(other) = orders.iter().find(|variant| *variant != base) {
            around.extend(self.limits(objective, other, figures));
        }
        // Whether a limit costs spills depends on the order more than on what it cost before.
        around.retain(|variant| !self.proposed.contains(variant));
        let registers = [(Names::Fewest, true), (Names::Some, false), (Names::Llvm, true)];
        let registers = registers.map(|(names, coalesces)| base.with_registers(names, coalesces));
        // Of all that is near these help the fewest kernels of LLVM IR. In PTX, ptxas seldom notices names and copies.
        let orders_and_values = Variant::orders()
            .skip(FIRST_ORDERS)
            .map(|order| base.with_order(order, 0))
            .chain(Variant::remats().map(|remat| base.with_remat(remat)));
        if has_optimisations {
            around.extend(registers.into_iter().chain(orders_and_values).filter(&is_wanted));
        } else {
            around.extend(orders_and_values.chain(registers).filter(&is_wanted));
        }
        // A small effort is to see some of everything. What changes nothing costs no run.
        around.truncate(if has_optimisations { 1 } else { 3 });
        // What bits spare adds to what an order does.
        if base.bits() != Variant::DEFAULT.bits() {
            let ordered = orders.iter().filter(|variant| variant.has_order()).take(2);
            let with_bits = ordered.map(|order| order.with_bits(base.bits()));
            around.extend(with_bits.filter(&is_wanted));
        }
        let toggled = Optimisations::TOGGLES.map(|toggle| base.optimised(base.optimisations().toggled(toggle)));
        // Without an order no load moves.
        let loads = base.has_order().then(|| base.toggled_assembly_loads());
        let toggled = loads.into_iter().chain(toggled).filter(|_| has_optimisations);
        around.extend(toggled.filter(&is_wanted).take(3));
        // Where these change nothing, the text is the same, and that costs no run. Where they change something, they help the fewest.
        let bits = ["on", "off"].map(|bits| base.with_bits(bits));
        let other_name = self.may_have_other_name.then(|| base.toggled_name());
        around.extend(other_name.into_iter().filter(&is_wanted));
        let without = [base.with_remat("off"), base.toggled_shared_addresses(), base.toggled_simd_video()];
        around.extend(bits.into_iter().chain(without).filter(&is_wanted));
        around.extend(self.with_choice_ahead(base, &is_wanted).filter(|_| has_optimisations));
        around
    }

    /// An order with predicates as bits where bits alone have spared a tenth of the spills or more, and may count: what they spare
    /// adds to what an order does.
    pub(super) fn with_sparing_bits(&self, objective: &Objective, variant: Variant) -> Variant {
        let default = Variant::DEFAULT.bits();
        if !variant.has_order() || variant.kept().is_some() || variant.bits() != default {
            return variant;
        }
        let spares = |(with, figures): (&Variant, Figures)| {
            let is_alone = with.bits() == "on" && !with.has_order() && with.kept().is_none();
            let may_count = is_alone && self.is_admissible(objective, with, &figures);
            let without = self.figures(&with.with_bits(default)).filter(|_| may_count);
            without.is_some_and(|without| 10 * figures.spill_cost() < 9 * without.spill_cost())
        };
        if self.judged().any(spares) { variant.with_bits("on") } else { variant }
    }

    /// How values may be kept in shared memory, as far as the kernel decides: for all registers that a block may have, each
    /// value that pays by itself and outside of loops. `None` where it is not known how the kernel is launched.
    pub(super) fn kept(&self, objective: &Objective) -> Option<SpillOptions> {
        let (threads, dynamic_shared) = (self.most_threads()?, self.block.dynamic_shared?);
        let registers = objective.architecture.registers_for_blocks(threads, 1).unwrap_or_default();
        let stock = &self.stock;
        let free = || stock.blocks.free_shared(objective.architecture, &launch(&stock.ptxas_report, self.block));
        let limit = self.block.threads.is_none().then(free).filter(|&free| free < SHARED_PER_BLOCK);
        let threads = (!self.block.says_threads).then_some(threads);
        Some(SpillOptions { threads, limit, ..SpillOptions::for_registers(registers, dynamic_shared) })
    }

    /// The most threads of a block: those that somebody says, or those of the largest block that stock can be launched with.
    pub(super) fn most_threads(&self) -> Option<u32> {
        let largest = self.stock.blocks.largest() * WARP_SIZE;
        self.block.threads.or(Some(largest).filter(|&threads| threads > 0))
    }

    /// The default and the best with values kept in shared memory, if the best spills and the size of its blocks is known.
    pub(super) fn with_kept_values(&self, objective: &Objective, best: &Variant, figures: &Figures) -> Vec<Variant> {
        // What is kept spares other values than an order does, so it is tried in LLVM's own order, too.
        let default = Variant::DEFAULT.on_code_of(best.compiler());
        let ways = (0..WAYS.len()).filter_map(|way| self.kept_by(objective, way, figures));
        let of = |base: &Variant, kept: &SpillOptions| base.with_kept_values(kept.clone());
        let ways: Vec<SpillOptions> = ways.collect();
        let first = ways.first().map(|kept| of(&default, kept));
        let others = ways.iter().flat_map(|kept| [of(best, kept), of(&default, kept)]);
        let is_new = |variant: &Variant| !self.proposed.contains(variant);
        let ways = first.into_iter().chain(others).filter(is_new);
        ways.take(if self.perturbed == 0 { 3 } else { 1 }).collect()
    }

    /// How values are kept by one of the ways, in a variant that spills so much; `None` where nothing is spilled, or the size of
    /// its blocks is not known.
    pub(super) fn kept_by(&self, objective: &Objective, way: usize, figures: &Figures) -> Option<SpillOptions> {
        let (kept, threads) = (self.kept(objective)?, self.most_threads()?);
        // What ptxas holds to fewer registers for the sake of warps spills more than shared memory has room for.
        if figures.spill_bytes() == 0 || figures.ptxas_report.registers + ROUNDING < kept.registers {
            return None;
        }
        let Way { slack, in_loops, values, quarters, accesses } = WAYS[way];
        let spilled = figures.spill_bytes().div_ceil(8);
        let words = quarters.map(|quarters| (spilled * quarters).div_ceil(4));
        // More than a kernel may have at all is no limit.
        let limit = words.map(|words| 4 * words * threads).filter(|&limit| limit < SHARED_PER_BLOCK);
        let limit = limit.into_iter().chain(kept.limit).min();
        let hoists = matches!(accesses, Accesses::Hoisted);
        let access_bytes = if matches!(accesses, Accesses::Wide) { 8 } else { 4 };
        Some(SpillOptions { slack, in_loops, hoists, access_bytes, values, limit, ..kept })
    }
}

#[cfg(test)]
mod tests {
    use crate::config::SkipPasses;

    use super::super::tests::{kernel, kernel_with, objective};
    use super::*;
    use crate::tune::figures::{Block, tests::figures};
    use crate::tune::ptxas_output::{PtxasReport, Sass};

    /// Variants differ from each other, the defaults come first, and all orders are among the first.
    #[test]
    fn never_the_same_twice() {
        let mut kernel = kernel();
        let mut seen: Vec<Variant> = Vec::new();
        for number in 0..60u32 {
            let variant = kernel.propose(&objective(0));
            assert!(!seen.contains(&variant), "{variant}");
            kernel.record(&objective(0), variant.clone(), number.to_string(), Some(figures(100 - number % 7, 32, 500)));
            seen.push(variant);
        }
        assert_eq!(seen[0], Variant::DEFAULT);
        let told = |order| Variant::ordered(order, 0).optimised(Optimisations::TOLD);
        assert_eq!(seen[3], Variant::DEFAULT.optimised(Optimisations::TOLD).with_bits("on"));
        assert!(Variant::orders().take(FIRST_ORDERS).all(|order| seen[..9].contains(&told(order))));
    }

    /// Where bits spare spills, orders have them, too.
    #[test]
    fn orders_with_bits() {
        let mut kernel = kernel();
        let mut seen: Vec<Variant> = Vec::new();
        for number in 0..16u32 {
            let variant = kernel.propose(&objective(0));
            let outcome = if variant.bits() == "on" { figures(10, 32, 500) } else { figures(100 - number, 32, 500) };
            kernel.record(&objective(0), variant.clone(), number.to_string(), Some(outcome));
            seen.push(variant);
        }
        let orders = seen[4..].iter().filter(|variant| variant.has_order());
        assert!(orders.clone().count() > 5 && orders.clone().all(|variant| variant.bits() == "on"), "{seen:?}");
    }

    /// Each of LLVM's optimisations is left out or added once, one at a time. Where one is best left out, those go with it that
    /// are new, and those that changed nothing before do not.
    #[test]
    fn toggles() {
        let mut kernel = kernel();
        let mut tried: Vec<Optimisations> = Vec::new();
        let slsr = Optimisations::without(SkipPasses::SLSR);
        for number in 0..90u32 {
            let variant = kernel.propose(&objective(0));
            let optimisations = variant.optimisations();
            let is_good = optimisations.toggled(Optimisations::TOLD).of_ir() == slsr;
            let outcome = if is_good { figures(10, 32, 500) } else { figures(100, 32, 500) };
            kernel.record(&objective(0), variant.clone(), number.to_string(), Some(outcome));
            tried.push(optimisations);
        }
        let toggles = Optimisations::TOGGLES;
        assert!(tried[4..9].iter().all(|&optimisations| optimisations == Optimisations::TOLD));
        let bases = [Optimisations::STOCK, Optimisations::TOLD, slsr, slsr.toggled(Optimisations::TOLD)];
        let is_tried = |&toggle: &Optimisations| bases.iter().any(|&base| tried.contains(&toggle.toggled(base)));
        assert!(toggles.iter().all(is_tried), "{tried:?}");
        let found = tried.iter().position(|&optimisations| bases[2..].contains(&optimisations)).expect("it is tried");
        let again = |&toggle: &Optimisations| {
            let before = bases[..2].iter().any(|&base| tried[..found].contains(&toggle.toggled(base)));
            before && bases[2..].iter().any(|&base| tried[found..].contains(&toggle.toggled(base)))
        };
        assert!(!toggles[..4].iter().any(again), "{tried:?}");
    }

    /// Where nothing spills, what helps then comes ahead of the orders.
    #[test]
    fn toggles_first() {
        let mut kernel = kernel_with(figures(0, 32, 500));
        let variants: Vec<Variant> = (0..10).map(|_| kernel.propose(&objective(0))).collect();
        assert_eq!(variants[0], Variant::DEFAULT);
        let for_warps = Optimisations::FOR_WARPS.map(|optimisations| Variant::DEFAULT.optimised(optimisations));
        assert_eq!(variants[1..5], for_warps);
        assert!(Variant::orders().take(FIRST_ORDERS).all(|order| variants.contains(&Variant::ordered(order, 0))));
    }

    /// PTX is tried without LLVM's optimisations, in all orders, and with values computed again.
    #[test]
    fn variants_of_text() {
        let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };
        let kernel = Kernel::new("k", "0", block, figures(100, 32, 500), "stock".into(), Choices::Nothing);
        let mut kernel = kernel.without_recipes();
        let mut seen: Vec<Variant> = Vec::new();
        for number in 0..60u32 {
            let variant = kernel.propose(&objective(0));
            assert!(!seen.contains(&variant), "{variant}");
            assert_eq!(variant.optimisations(), Optimisations::STOCK);
            assert!(!variant.to_string().contains("assembly-loads"), "{variant}");
            kernel.record(&objective(0), variant.clone(), number.to_string(), Some(figures(100 - number % 7, 32, 500)));
            seen.push(variant);
        }
        assert!(Variant::orders().all(|order| seen.iter().any(|variant| variant.order() == order)));
        assert!(Variant::remats().all(|remat| seen.iter().any(|variant| *variant == variant.with_remat(remat))));
    }

    /// Where nobody says how large blocks are, values are kept for the largest for which stock has registers, in what costs no
    /// warp with any size of blocks.
    #[test]
    fn kept_for_the_largest_block() {
        let unknown = Block { threads: None, says_threads: false, dynamic_shared: Some(0) };
        let with = |block: Block| {
            let ptxas_report = PtxasReport { registers: 255, spill_store_bytes: 400, ..PtxasReport::default() };
            let stock = Figures::new(ptxas_report, Sass::default(), objective(0).architecture, block);
            let kernel = Kernel::new("k", "0", block, stock, "stock".into(), Choices::Nothing);
            kernel.kept(&objective(0)).map(|kept| (kept.registers, kept.threads, kept.limit))
        };
        assert_eq!(with(unknown), Some((255, Some(256), Some(28_160))));
        assert_eq!(with(Block { dynamic_shared: None, ..unknown }), None);
        assert_eq!(with(Block { threads: Some(128), ..unknown }), Some((255, Some(128), None)));
        assert_eq!(with(Block { threads: Some(128), says_threads: true, ..unknown }), Some((255, None, None)));
    }

    /// Spills to shared memory are tried where there are spills and the kernel allows it, and else nowhere.
    #[test]
    fn spills_to_shared() {
        for (spills, allowed, expected) in [(100, true, true), (0, true, false), (100, false, false)] {
            let mut kernel = kernel_with(figures(spills, 32, 500));
            kernel.may_spill_to_shared = allowed;
            let variants: Vec<Variant> = (0..16).map(|_| kernel.propose(&objective(0))).collect();
            assert_eq!(variants.iter().any(Variant::spills_to_shared), expected, "{spills} bytes, {allowed}");
        }
    }
}
