//! Which variant to try next.
//!
//! First the defaults and most orders. Then, from the best that was found, what is near it: loads in inline assembly
//! that move or not, one of LLVM's optimisations less or more, spills to shared memory, limits on registers that cost
//! no warp or win one, other names, copies left alone, values computed again; and small changes of good orders at
//! random, for as long as the budget lasts. What is tried depends on the figures and the seed alone.

use std::collections::VecDeque;
use std::iter;

use super::Kernel;
use crate::target::machine::SHARED_PER_BLOCK;
use crate::tune::aim::Aim;
use crate::tune::figures::{Figures, launch};
use crate::tune::optimisations::{Ahead, Choices, Optimisations};
use crate::tune::variant::{Kept, Names, Variant};

/// How many orders are tried on every kernel; of the others, what is near the best.
const FIRST_ORDERS: usize = 6;

/// ptxas takes all registers that there are where it takes at most so many fewer.
const ROUNDING: u32 = 8;

/// Registers that a kernel lacks at least if ptxas has given them up.
const GIVEN_UP: u32 = 64;

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
const WAYS: [Way; 7] = [
    Way { slack: 24, in_loops: "off", values: None, quarters: None, accesses: Accesses::Single },
    Way { slack: 24, in_loops: "on", values: None, quarters: Some(5), accesses: Accesses::Single },
    Way { slack: 80, in_loops: "around", values: Some(5), quarters: None, accesses: Accesses::Single },
    Way { slack: 80, in_loops: "around", values: Some(3), quarters: None, accesses: Accesses::Single },
    Way { slack: 80, in_loops: "around", values: Some(16), quarters: None, accesses: Accesses::Single },
    Way { slack: 24, in_loops: "off", values: None, quarters: Some(7), accesses: Accesses::Hoisted },
    Way { slack: 48, in_loops: "on", values: None, quarters: Some(6), accesses: Accesses::Wide },
];

/// What is tried on every kernel, but for what is [tried then](behind_choices_ahead).
pub(super) fn first(stock: &Figures, choices: Choices) -> VecDeque<Variant> {
    match choices {
        Choices::Nothing => first_of_text(),
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
    // The default is one of the orders, too; what was proposed is not proposed again.
    iter::once(Variant::DEFAULT).chain(toggled).chain(orders).chain(with_loads).collect()
}

/// What is tried on every kernel of PTX: orders, and of those that gain most the same with values computed again.
pub(super) fn first_of_text() -> VecDeque<Variant> {
    let orders = Variant::orders().take(FIRST_ORDERS).map(|order| Variant::ordered(order, 0));
    let again = ["eager", "latency"].map(|order| Variant::ordered(order, 0).with_remat("peaks"));
    orders.chain(again).collect()
}

impl Kernel {
    fn has_optimisations(&self) -> bool {
        self.choices != Choices::Nothing
    }

    /// Fills the queue: where there is other compilers' code with what is tried on all of it, behind the choices ahead of
    /// LLVM's optimisations with what is tried on every kernel, then with what is near the best.
    pub(super) fn look_around(&mut self, aim: &Aim) {
        if !std::mem::replace(&mut self.has_ranked, true) {
            self.queue.extend(self.of_compilers(aim));
            return;
        }
        if std::mem::take(&mut self.has_first_choices) {
            return self.continue_with_best_choice(aim);
        }
        let orders = self.ranked(aim, self.judged());
        let (best, figures) = self.best(aim);
        // LLVM's optimisations are those of our own code.
        let has_optimisations = self.has_optimisations() && best.compiler() == 0;
        self.queue.extend(self.with_free_registers(aim, best.compiler()));
        self.queue.extend(self.with_kept_values(aim, &best, &figures));
        let mut around = Vec::new();
        if self.may_spill_to_shared && figures.spill_bytes() > 0 {
            around.push(best.with_smem_spilling());
        }
        around.extend(self.held_to_warps(aim, &figures));
        around.extend(self.limits(aim, &best, &figures));
        if let Some(other) = orders.iter().find(|variant| **variant != best) {
            around.extend(self.limits(aim, other, &figures));
        }
        let registers = [(Names::Fewest, true), (Names::Some, false), (Names::Llvm, true)];
        let registers = registers.map(|(names, coalesces)| best.with_registers(names, coalesces));
        // Of all that is near these help the fewest kernels of LLVM IR. In PTX, ptxas seldom notices names and copies.
        let orders_and_values = Variant::orders()
            .skip(FIRST_ORDERS)
            .map(|order| best.with_order(order, 0))
            .chain(Variant::remats().map(|remat| best.with_remat(remat)));
        if has_optimisations {
            around.extend(registers.into_iter().chain(orders_and_values));
        } else {
            around.extend(orders_and_values.chain(registers));
        }
        around.retain(|variant| !self.proposed.contains(variant));
        // A small budget is to see some of everything. What changes nothing costs no run.
        around.truncate(if has_optimisations { 1 } else { 3 });
        around.extend(self.with_choice_ahead(&best).filter(|_| has_optimisations));
        let toggled = Optimisations::TOGGLES.map(|toggle| best.optimised(best.optimisations().toggled(toggle)));
        // Without an order no load moves.
        let loads = best.has_order().then(|| best.toggled_assembly_loads());
        let toggled = loads.into_iter().chain(toggled).filter(|_| has_optimisations);
        around.extend(toggled.filter(|variant| !self.proposed.contains(variant)).take(3));
        let base = orders.get(self.perturbed as usize % 3).or(orders.first()).unwrap_or(&best);
        self.perturbed += 1;
        // A new seed each time, and one that no other `--seed` gives.
        let seed = aim.seed.wrapping_mul(0x9E37_79B1).wrapping_add(self.perturbed).max(1);
        around.push(base.with_order(base.order(), seed));
        self.queue.extend(around);
    }

    /// How values may be kept in shared memory, as far as the kernel decides: for all registers that a block may have, each
    /// value that pays by itself and outside of loops. `None` where it is not known how the kernel is launched.
    pub(super) fn kept(&self, aim: &Aim) -> Option<Kept> {
        let (threads, dynamic_shared) = (self.block.threads?, self.block.dynamic_shared?);
        let registers = aim.architecture.registers_for_blocks(threads, 1).unwrap_or_default();
        let threads = (!self.block.says_threads).then_some(threads);
        Some(Kept { threads, ..Kept::for_registers(registers, dynamic_shared) })
    }

    /// The default and the best with values kept in shared memory, if the best spills and the size of its blocks is known.
    fn with_kept_values(&self, aim: &Aim, best: &Variant, figures: &Figures) -> Vec<Variant> {
        let (Some(kept), Some(threads)) = (self.kept(aim), self.block.threads) else { return Vec::new() };
        // What ptxas holds to fewer registers for the sake of warps spills more than shared memory has room for.
        if figures.spill_bytes() == 0 || figures.real.registers + ROUNDING < kept.registers {
            return Vec::new();
        }
        let spilled = figures.spill_bytes().div_ceil(8);
        let of = |way: &Way| {
            let words = way.quarters.map(|quarters| (spilled * quarters).div_ceil(4));
            // More than a kernel may have at all is no limit.
            let limit = words.map(|words| 4 * words * threads).filter(|&limit| limit < SHARED_PER_BLOCK);
            let Way { slack, in_loops, values, accesses, .. } = *way;
            let hoists = matches!(accesses, Accesses::Hoisted);
            let access_bytes = if matches!(accesses, Accesses::Wide) { 8 } else { 4 };
            Kept { slack, in_loops, hoists, access_bytes, values, limit, ..kept.clone() }
        };
        // What is kept spares other values than an order does, so it is tried in LLVM's own order, too.
        let default = Variant::DEFAULT.on_code_of(best.compiler());
        let first = default.with_kept_values(of(&WAYS[0]));
        let bases = [best.clone(), default];
        let ways = WAYS.iter().flat_map(|way| bases.each_ref().map(|base| base.with_kept_values(of(way))));
        let ways = iter::once(first).chain(ways);
        let is_new = |variant: &Variant| !self.proposed.contains(variant);
        ways.filter(is_new).take(if self.perturbed == 0 { 3 } else { 1 }).collect()
    }

    /// The most registers that cost no warp of stock's.
    fn free_registers(&self, aim: &Aim) -> u32 {
        aim.architecture.step_edge(&launch(&self.stock.real, self.block))
    }

    /// How many of these stock does not have, if it spills.
    fn lacking_registers(&self, aim: &Aim) -> u32 {
        if self.stock.spill_bytes() == 0 {
            0
        } else {
            self.free_registers(aim).saturating_sub(self.stock.real.registers)
        }
    }

    /// A variant with all registers that cost no warp, if ptxas gives registers up in stock: it takes 32 of 255 for warps that
    /// something else keeps out, and spills nearly everything. Most orders of such a kernel fare no better without a limit.
    pub(super) fn freed(&self, aim: &Aim, variant: Variant) -> Variant {
        let may_be_limited =
            matches!(variant, Variant::Passes(_)) && !variant.limits_registers() && !variant.spills_to_shared();
        let gives_up = self.lacking_registers(aim) >= GIVEN_UP;
        if gives_up && may_be_limited { variant.with_limit(self.free_registers(aim)) } else { variant }
    }

    /// LLVM's own order with all registers that cost no warp, where ptxas spills with fewer: it leaves room for warps that
    /// something else keeps out.
    fn with_free_registers(&self, aim: &Aim, compiler: u8) -> Option<Variant> {
        let is_free = self.lacking_registers(aim) > 0;
        let is_ours = self.has_optimisations() && compiler == 0;
        let told = if is_ours { Optimisations::TOLD } else { Optimisations::STOCK };
        let variant = Variant::DEFAULT.on_code_of(compiler).optimised(told);
        is_free.then(|| variant.with_limit(self.free_registers(aim)))
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

#[cfg(test)]
mod tests {
    use crate::config::Skip;

    use super::super::tests::{aim, kernel, kernel_with};
    use super::*;
    use crate::tune::figures::{Block, tests::figures};

    /// Variants differ from each other, the defaults come first, and all orders are among the first.
    #[test]
    fn never_the_same_twice() {
        let mut kernel = kernel();
        let mut seen: Vec<Variant> = Vec::new();
        for number in 0..60u32 {
            let variant = kernel.propose(&aim(0));
            assert!(!seen.contains(&variant), "{variant}");
            kernel.record(&aim(0), variant.clone(), number.to_string(), Some(figures(100 - number % 7, 32, 500)));
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
            kernel.record(&aim(0), variant.clone(), number.to_string(), Some(outcome));
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

    /// PTX is tried without LLVM's optimisations, in all orders, and with values computed again.
    #[test]
    fn variants_of_text() {
        let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(0) };
        let mut kernel = Kernel::new("k", "0", block, figures(100, 32, 500), "stock".into(), Choices::Nothing);
        let mut seen: Vec<Variant> = Vec::new();
        for number in 0..60u32 {
            let variant = kernel.propose(&aim(0));
            assert!(!seen.contains(&variant), "{variant}");
            assert_eq!(variant.optimisations(), Optimisations::STOCK);
            assert!(!variant.to_string().contains("assembly-loads"), "{variant}");
            kernel.record(&aim(0), variant.clone(), number.to_string(), Some(figures(100 - number % 7, 32, 500)));
            seen.push(variant);
        }
        assert!(Variant::orders().all(|order| seen.iter().any(|variant| variant.order() == order)));
        assert!(Variant::remats().all(|remat| seen.iter().any(|variant| *variant == variant.with_remat(remat))));
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
            kernel.record(&aim(0), variant.clone(), number.to_string(), Some(outcome));
        }
        let costly = kernel.tried[2].variant.clone();
        assert_eq!(kernel.propose(&aim(0)), costly.with_limit(64));
    }

    /// What spills with fewer registers than its warps leave it, for its shared memory keeps others out, is tried with all
    /// of them, once.
    #[test]
    fn free_registers() {
        for (registers, expected) in [(32, 1), (255, 0)] {
            let mut stock = figures(100, 8, 500);
            stock.real.registers = registers;
            let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(100_000) };
            let mut kernel = Kernel::new("k", "0", block, stock, "stock".into(), Choices::CodeGeneration);
            let variants: Vec<Variant> = (0..60).map(|_| kernel.propose(&aim(0))).collect();
            let freed = Variant::DEFAULT.optimised(Optimisations::TOLD).with_limit(255);
            assert_eq!(variants.iter().filter(|variant| **variant == freed).count(), expected, "{registers} registers");
        }
    }

    /// Where ptxas gives registers up, all variants have those that cost no warp, but those that keep values elsewhere; and
    /// nowhere else.
    #[test]
    fn registers_that_were_given_up() {
        for (registers, spills, expected) in
            [(32, 9_000, true), (192, 9_000, false), (32, 0, false), (255, 9_000, false)]
        {
            let mut stock = figures(spills, 8, 500);
            stock.real.registers = registers;
            let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(100_000) };
            let mut kernel = Kernel::new("k", "0", block, stock, "stock".into(), Choices::Nothing);
            let variants: Vec<Variant> = (0..7).map(|_| kernel.propose(&aim(0))).collect();
            let limited = variants.iter().filter(|variant| variant.to_string().contains("maxnreg=255")).count();
            assert_eq!(limited, if expected { variants.len() } else { 0 }, "{registers} registers, {spills} bytes");
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
}
