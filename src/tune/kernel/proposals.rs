//! The choice of the next variant to try.
//!
//! The defaults and most orders come first. Then follow neighbours of the best variant: loads in inline assembly that
//! may be reordered or not, one LLVM optimisation less or more, spills to shared memory, register limits that cost no
//! warp or gain one, other register names, copies that are not coalesced, rematerialised values. Random perturbations
//! of good orders follow until the effort is spent. The sequence depends only on the figures and the seed.

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

/// The number of orders that are tried on every kernel. The other orders are tried as neighbours of the best variant.
const FIRST_ORDERS: usize = 6;

/// A way to spill values to shared memory.
struct Way {
    /// Registers that are left to ptxas.
    slack: u32,
    /// Whether values are stored and reloaded inside loops, by the name of the option.
    in_loops: &'static str,
    /// The most values.
    values: Option<u32>,
    /// The most words, in quarters of the words that ptxas spills. Each spilled word is stored and loaded at least
    /// once, so more than twice as many words never pay.
    quarters: Option<u32>,
    /// How values are stored and loaded.
    accesses: Accesses,
}

/// How values are stored and loaded.
#[derive(Clone, Copy)]
enum Accesses {
    /// Each value by itself.
    Single,
    /// One load for all reads that it can serve.
    Hoisted,
    /// Two words at once.
    Wide,
}

/// The tried ways, in this order. The best way depends on the kernel. Often three or five values are enough, and the
/// cost of more values cancels their gain.
const WAYS: [Way; KEPT_WAYS] = [
    Way { slack: 24, in_loops: "auto", values: None, quarters: None, accesses: Accesses::Single },
    Way { slack: 24, in_loops: "on", values: None, quarters: Some(5), accesses: Accesses::Single },
    Way { slack: 80, in_loops: "around", values: Some(5), quarters: None, accesses: Accesses::Single },
    Way { slack: 80, in_loops: "around", values: Some(3), quarters: None, accesses: Accesses::Single },
    Way { slack: 80, in_loops: "around", values: Some(16), quarters: None, accesses: Accesses::Single },
    Way { slack: 24, in_loops: "auto", values: None, quarters: Some(7), accesses: Accesses::Hoisted },
    Way { slack: 48, in_loops: "on", values: None, quarters: Some(6), accesses: Accesses::Wide },
];

/// Returns the first variants, which are tried on every kernel. [Others](behind_choices_ahead) follow.
pub(super) fn first(stock: &Figures, choices: Choices) -> VecDeque<Variant> {
    match choices {
        // Recipes come first.
        Choices::Nothing => VecDeque::new(),
        Choices::CodeGeneration => behind_choices_ahead(stock),
        // Inlining and unrolling have the largest effects, and the other choices depend on them.
        Choices::All => {
            let ahead = Ahead::CHOICES.map(|ahead| Variant::DEFAULT.optimised(Optimisations::ahead_of(ahead)));
            iter::once(Variant::DEFAULT).chain(ahead).collect()
        }
    }
}

/// Returns the variants for every kernel of LLVM IR, which are combined with the best choice before LLVM's
/// optimisations. If the kernel spills, orders and hoisting help most. If the kernel does not spill, fewer
/// optimisations help most.
pub(super) fn behind_choices_ahead(stock: &Figures) -> VecDeque<Variant> {
    let spills = stock.spill_bytes() > 0;
    let base = if spills { Optimisations::TOLD } else { Optimisations::STOCK };
    let toggles = if spills { &[Optimisations::STOCK, Optimisations::HOIST][..] } else { &Optimisations::FOR_WARPS };
    let toggled = toggles.iter().map(|&toggle| Variant::DEFAULT.optimised(base.toggled(toggle)));
    let orders = Variant::orders().take(FIRST_ORDERS).map(|order| Variant::ordered(order, 0).optimised(base));
    // Of all orders, `eager` gains most if loads may be reordered.
    let with_loads = spills.then(|| Variant::ordered("eager", 0).optimised(base).toggled_assembly_loads());
    // If packed bits change nothing, the PTX equals that of the previous variant, and costs no run.
    let with_bits = spills.then(|| Variant::DEFAULT.optimised(base).with_bits("on"));
    // The default is one of the orders, too. It is proposed only once.
    iter::once(Variant::DEFAULT).chain(toggled).chain(with_bits).chain(orders).chain(with_loads).collect()
}

/// Returns the variants for every kernel of PTX: packed predicates, orders, and the most helpful orders with
/// rematerialised values.
pub(super) fn first_of_text() -> VecDeque<Variant> {
    let unordered = [Variant::DEFAULT, Variant::DEFAULT.with_bits("on")].into_iter();
    let orders = Variant::orders().take(FIRST_ORDERS).map(|order| Variant::ordered(order, 0));
    let again = ["eager", "latency"].map(|order| Variant::ordered(order, 0).with_remat("peaks"));
    unordered.chain(orders).chain(again).collect()
}

/// Interleaves two sequences and appends the rest of the longer.
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

    /// Fills the queue with the next variants. If several compilers have code, variants of all of this code come first.
    /// After the choices before LLVM's optimisations, the variants for every kernel follow. Neighbours of the best
    /// variant are last.
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
            // This variant spills little compared with what it saves. Half of the tried variants aim to remove its
            // spills.
            let others = std::mem::replace(&mut around, self.near(objective, &effects, variant, &figures, &orders));
            around = in_turn(around, others);
            base = if self.perturbed.is_multiple_of(2) { variant } else { base };
        }
        let base = base.clone();
        self.perturbed += 1;
        // Each perturbed order has a new seed, which does not occur with another `--seed`.
        let seed = objective.seed.wrapping_mul(0x9E37_79B1).wrapping_add(self.perturbed).max(1);
        around.push(base.with_order(base.order(), seed));
        self.queue.extend(around);
    }

    /// Returns neighbours of a variant, without changes that have not helped before. If no others are left, all
    /// neighbours.
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

    /// Returns the wanted neighbours of a variant. `orders` are the judged variants, the best first.
    fn around(
        &self,
        objective: &Objective,
        base: &Variant,
        figures: &Figures,
        orders: &[Variant],
        is_wanted: impl Fn(&Variant) -> bool,
    ) -> Vec<Variant> {
        // LLVM's optimisations apply only to this build's own code.
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
        // Whether a limit causes spills depends more on the order than on the spills so far.
        around.retain(|variant| !self.proposed.contains(variant));
        let registers = [(Names::Fewest, true), (Names::Some, false), (Names::Llvm, true)];
        let registers = registers.map(|(names, coalesces)| base.with_registers(names, coalesces));
        // Names, copies, orders and rematerialisation help the fewest kernels of LLVM IR. In PTX, ptxas seldom reacts
        // to names and copies.
        let orders_and_values = Variant::orders()
            .skip(FIRST_ORDERS)
            .map(|order| base.with_order(order, 0))
            .chain(Variant::remats().map(|remat| base.with_remat(remat)));
        if has_optimisations {
            around.extend(registers.into_iter().chain(orders_and_values).filter(&is_wanted));
        } else {
            around.extend(orders_and_values.chain(registers).filter(&is_wanted));
        }
        // A small effort should cover all kinds of changes. Variants with unchanged PTX cost no run.
        around.truncate(if has_optimisations { 1 } else { 3 });
        // The savings of packed bits add to those of an order.
        if base.bits() != Variant::DEFAULT.bits() {
            let ordered = orders.iter().filter(|variant| variant.has_order()).take(2);
            let with_bits = ordered.map(|order| order.with_bits(base.bits()));
            around.extend(with_bits.filter(&is_wanted));
        }
        let toggled = Optimisations::TOGGLES.map(|toggle| base.optimised(base.optimisations().toggled(toggle)));
        // Without another order, no load moves.
        let loads = base.has_order().then(|| base.toggled_assembly_loads());
        let toggled = loads.into_iter().chain(toggled).filter(|_| has_optimisations);
        around.extend(toggled.filter(&is_wanted).take(3));
        // If these choices leave the PTX unchanged, they cost no run. If they change the PTX, they help the fewest
        // kernels.
        let bits = ["on", "off"].map(|bits| base.with_bits(bits));
        let other_name = self.may_have_other_name.then(|| base.toggled_name());
        around.extend(other_name.into_iter().filter(&is_wanted));
        let without = [base.with_remat("off"), base.toggled_shared_addresses(), base.toggled_simd_video()];
        around.extend(bits.into_iter().chain(without).filter(&is_wanted));
        around.extend(self.with_choice_ahead(base, &is_wanted).filter(|_| has_optimisations));
        around
    }

    /// Adds packed predicates to a variant with an order, if packed predicates alone have saved at least a tenth of the
    /// spills and are admissible. The savings of both add up.
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

    /// Returns spill options for the kernel's limits: the most registers with one resident block, and each value that
    /// is profitable by itself, stored and reloaded outside of loops. `None` if the launch is unknown.
    pub(super) fn kept(&self, objective: &Objective) -> Option<SpillOptions> {
        let (threads, dynamic_shared) = (self.most_threads()?, self.block.dynamic_shared?);
        let registers = objective.architecture.registers_for_blocks(threads, 1).unwrap_or_default();
        let stock = &self.stock;
        let free = || stock.blocks.free_shared(objective.architecture, &launch(&stock.ptxas_report, self.block));
        let limit = self.block.threads.is_none().then(free).filter(|&free| free < SHARED_PER_BLOCK);
        let threads = (!self.block.says_threads).then_some(threads);
        Some(SpillOptions { threads, limit, ..SpillOptions::for_registers(registers, dynamic_shared) })
    }

    /// Returns the most threads of a block: as stated, or of the largest block with which stock can be launched.
    pub(super) fn most_threads(&self) -> Option<u32> {
        let largest = self.stock.blocks.largest() * WARP_SIZE;
        self.block.threads.or(Some(largest).filter(|&threads| threads > 0))
    }

    /// Returns the default and the best variant with values spilled to shared memory, if the best spills and the block
    /// size is known.
    pub(super) fn with_kept_values(&self, objective: &Objective, best: &Variant, figures: &Figures) -> Vec<Variant> {
        // Spilling to shared memory saves other values than an order does, so it is also tried with LLVM's own order.
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

    /// Returns the spill options of the way with this number, for a variant with these spills. `None` if nothing is
    /// spilled, or if the block size is unknown.
    pub(super) fn kept_by(&self, objective: &Objective, way: usize, figures: &Figures) -> Option<SpillOptions> {
        let (kept, threads) = (self.kept(objective)?, self.most_threads()?);
        // If ptxas takes fewer registers to gain warps, the kernel spills more than fits into shared memory.
        if figures.spill_bytes() == 0 || figures.ptxas_report.registers + ROUNDING < kept.registers {
            return None;
        }
        let Way { slack, in_loops, values, quarters, accesses } = WAYS[way];
        let spilled = figures.spill_bytes().div_ceil(8);
        let words = quarters.map(|quarters| (spilled * quarters).div_ceil(4));
        // A limit of at least the shared memory that a block may have is no limit.
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

    /// All variants differ from each other, the defaults come first, and all orders are among the first variants.
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

    /// If packed bits save spills, orders are tried with packed bits, too.
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

    /// Each LLVM optimisation is left out or added once, one at a time. If leaving out an optimisation is best, new
    /// changes are combined with it. Changes without an effect so far are not combined with it.
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

    /// If nothing spills, the choices that help kernels without spills come before the orders.
    #[test]
    fn toggles_first() {
        let mut kernel = kernel_with(figures(0, 32, 500));
        let variants: Vec<Variant> = (0..10).map(|_| kernel.propose(&objective(0))).collect();
        assert_eq!(variants[0], Variant::DEFAULT);
        let for_warps = Optimisations::FOR_WARPS.map(|optimisations| Variant::DEFAULT.optimised(optimisations));
        assert_eq!(variants[1..5], for_warps);
        assert!(Variant::orders().take(FIRST_ORDERS).all(|order| variants.contains(&Variant::ordered(order, 0))));
    }

    /// PTX is tried without LLVM's optimisations, with all orders, and with rematerialised values.
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

    /// If the block size is unknown, values are spilled for the largest block for which stock has registers, with slots
    /// that cost no warp at any block size.
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

    /// Spills to shared memory are tried only if there are spills and the kernel allows it.
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
