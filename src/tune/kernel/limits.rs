//! Register limits: limits that cost no warp, limits that gain an occupancy step, and limits for kernels in which ptxas
//! gives registers up. ptxas gives registers up if it uses far fewer registers than it could have, and spills instead.

use super::Kernel;
use crate::target::machine::{Architecture, MAX_REGISTERS, RegisterRequests};
use crate::tune::axis::Axis;
use crate::tune::figures::{Block, Figures, launch};
use crate::tune::objective::Objective;
use crate::tune::optimisations::{Choices, Optimisations};
use crate::tune::ptxas_output::PtxasReport;
use crate::tune::variant::Variant;

/// If ptxas uses at most this many fewer registers than are available, it counts as using all of them.
pub(super) const ROUNDING: u32 = 8;

/// If ptxas uses at least this many fewer registers than it could have, it counts as having given registers up.
pub const GIVEN_UP: u32 = 64;

/// The search expects that ptxas gives registers up for an order only if stock spills at least this many bytes. ptxas
/// does so for eight of 342 kernels that spill. The smallest spill of the eight kernels is 1,652 bytes.
const MANY_BYTES: u32 = 1024;

/// The most spilled bytes under a register limit for which another order can compensate, as a multiple of the bytes
/// that stock spills. If stock spills less than `FEW_BYTES`, it is a multiple of `FEW_BYTES`.
const HOPELESS: u32 = 8;
const FEW_BYTES: u32 = 64;

/// Returns how many more registers a thread could have at the same occupancy.
pub fn given_up(ptxas_report: &PtxasReport, block: Block, architecture: &Architecture) -> u32 {
    architecture.step_edge(&launch(ptxas_report, block)).saturating_sub(ptxas_report.registers)
}

impl Kernel {
    /// Whether variants of the kernel may have a register limit. A kernel with `setmaxnreg` may have a limit only if
    /// every run still gets all requested registers. A build that replays a profile for LLVM IR cannot prove this, so
    /// such a profile sets no limit for the kernel.
    pub(super) fn may_be_limited_to(&self, objective: &Objective, limit: u32) -> bool {
        let may_get = |requests: &RegisterRequests| {
            self.choices == Choices::Nothing && requests.may_be_limited_to(limit, objective.architecture)
        };
        self.register_requests.as_ref().is_none_or(may_get)
    }

    /// Returns the most registers with which the kernel keeps stock's warps.
    fn free_registers(&self, objective: &Objective) -> u32 {
        objective.architecture.step_edge(&launch(&self.stock.ptxas_report, self.block))
    }

    /// Returns how many more registers stock could have without a loss of warps. 0 if stock spills nothing.
    fn lacking_registers(&self, objective: &Objective) -> u32 {
        if self.stock.spill_bytes() == 0 {
            0
        } else {
            given_up(&self.stock.ptxas_report, self.block, objective.architecture)
        }
    }

    /// Adds a register limit to a variant if ptxas gives registers up. If ptxas gives registers up in stock, the limit
    /// is the most registers that cost no warp. Without this limit, ptxas may use 32 of 255 registers to make room for
    /// warps that another resource excludes, and spill nearly everything with most orders. If ptxas gave registers up
    /// only for variants that spill to shared memory, or only for variants with another order, such variants get
    /// stock's registers.
    pub(super) fn freed(&self, objective: &Objective, variant: Variant) -> Variant {
        if self.is_relocatable || !matches!(variant, Variant::Passes(_)) || variant.limits_registers() {
            return variant;
        }
        let limit = match (variant.kept(), variant.spills_to_shared()) {
            (Some(_), _) => self.limit_of_kept,
            (None, true) => None,
            (None, false) if self.lacking_registers(objective) >= GIVEN_UP => Some(self.free_registers(objective)),
            (None, false) => self.limit_of_ordered.filter(|_| variant.has_order()),
        };
        let limit = limit.filter(|&limit| self.may_be_limited_to(objective, limit));
        limit.map_or(variant.clone(), |limit| variant.with_limit(limit))
    }

    /// Proposes a variant with a register limit if ptxas has given registers up for it. Without the limit, the variant
    /// spills nearly everything. With stock's registers, the variant's order or its spills to shared memory may save
    /// what stock spills.
    pub(super) fn limit_if_given_up(&mut self, variant: &Variant, figures: &Figures) {
        let gives_up =
            figures.spill_bytes() > 0 && figures.ptxas_report.registers + GIVEN_UP <= self.stock.ptxas_report.registers;
        if !gives_up || variant.limits_registers() || !matches!(variant, Variant::Passes(_)) {
            return;
        }
        let limit = self.stock.ptxas_report.registers.next_multiple_of(ROUNDING).min(MAX_REGISTERS);
        let limited = variant.with_limit(limit);
        if variant.kept().is_some() {
            self.limit_of_kept = Some(limit);
            self.inspections.queue.push_front(limited);
        } else if variant.has_order() && !variant.spills_to_shared() && self.limit_of_ordered.is_none() {
            // This variant shows whether orders gain by the limit. All later orders get the limit.
            self.limit_of_ordered = Some(limit);
            self.queue.push_front(limited);
        }
    }

    /// Returns LLVM's own order with all registers that cost no warp, if ptxas uses fewer and spills. ptxas uses fewer
    /// to make room for warps that another resource excludes.
    pub(super) fn with_free_registers(&self, objective: &Objective, compiler: u8) -> Option<Variant> {
        let is_free = self.lacking_registers(objective) > 0;
        let is_ours = self.has_optimisations() && compiler == 0;
        let told = if is_ours { Optimisations::TOLD } else { Optimisations::STOCK };
        let variant = Variant::DEFAULT.on_code_of(compiler).optimised(told);
        is_free.then(|| variant.with_limit(self.free_registers(objective)))
    }

    /// Returns how many variants may be drawn at once, so that the first order is drawn alone. Its result shows whether
    /// ptxas gives registers up for orders. Other orders then need not be tried twice. `None` if any number may be
    /// drawn.
    pub(super) fn until_first_order(&self) -> Option<usize> {
        let may_give_up = self.stock.spill_bytes() >= MANY_BYTES && self.stock.ptxas_report.registers > GIVEN_UP;
        if !may_give_up || self.proposed.iter().any(Variant::has_order) {
            return None;
        }
        self.queue.iter().position(Variant::has_order).map(|ahead| ahead.max(1))
    }

    /// Returns the variant that would spill least if warps did not count, with the largest register limit that costs no
    /// warp.
    pub(super) fn held_to_warps(&self, objective: &Objective, best: &Figures) -> Option<Variant> {
        let (variant, _) =
            self.least_spills_for_warps(best).filter(|(variant, _)| !variant.moves_along(Axis::Blocks))?;
        Some(variant.with_limit(self.free_registers(objective)))
    }

    /// Returns the variant with the fewest registers among admissible variants without spills, with the limit that
    /// gains warps, if it takes fewer registers than `best`. The limit costs that variant the least.
    pub(super) fn leanest_with_more_warps(&self, objective: &Objective, best: &Figures) -> Option<Variant> {
        let does = |(variant, figures): &(&Variant, Figures)| {
            figures.spill_bytes() == 0 && !variant.limits_registers() && self.is_admissible(objective, variant, figures)
        };
        let (leanest, figures) =
            self.judged().filter(does).min_by_key(|(_, figures)| figures.ptxas_report.registers)?;
        let step = self
            .winning_step(objective, &figures)
            .filter(|_| figures.ptxas_report.registers < best.ptxas_report.registers)?;
        Some(leanest.with_limit(step))
    }

    /// Returns the most registers that gain an occupancy step, if the figures suggest that the step costs no spills.
    pub(super) fn winning_step(&self, objective: &Objective, figures: &Figures) -> Option<u32> {
        // A variant that spills would spill more with fewer registers. ptxas refuses kernels with calls below 24
        // registers.
        let is_near = |&step: &u32| figures.spill_bytes() == 0 && step >= 24;
        let step = objective.architecture.next_step(&launch(&figures.ptxas_report, self.block));
        step.filter(is_near).filter(|&step| !self.is_hopeless(step))
    }

    /// Whether ptxas spilled far more than in stock under a limit of at least `limit` registers. Such ptxas runs take
    /// the longest.
    fn is_hopeless(&self, limit: u32) -> bool {
        let most = HOPELESS * self.stock.spill_bytes().max(FEW_BYTES);
        let mut judged = self.judged();
        judged.any(|(variant, figures)| {
            variant.limit().is_some_and(|other| other >= limit) && figures.spill_bytes() > most
        })
    }

    /// Returns the most registers that a thread may have if one block is resident. `None` unless ptxas uses fewer and
    /// spills.
    fn withheld(&self, objective: &Objective, figures: &Figures) -> Option<u32> {
        let all = self.block.threads.and_then(|threads| objective.architecture.registers_for_blocks(threads, 1));
        all.filter(|&all| figures.spill_bytes() > 0 && figures.ptxas_report.registers < all)
    }

    /// Returns a variant with the most registers that a thread may have if one block is resident. The variant must
    /// spill with fewer registers, and fewer warps must be allowed. A search by single occupancy steps would use up
    /// most of the effort. If fewer warps are not allowed, but ptxas gives most registers up and spills much, one such
    /// variant shows the user what fewer warps would save.
    pub(super) fn with_all_registers(
        &self,
        objective: &Objective,
        variant: &Variant,
        figures: &Figures,
    ) -> Option<Variant> {
        let all = self.withheld(objective, figures)?;
        let gives_up = figures.spill_bytes() >= MANY_BYTES && figures.ptxas_report.registers + GIVEN_UP <= all;
        let is_told = || self.proposed.iter().any(|other| other.limit() == Some(all));
        (objective.allowance.fewer_warps || (gives_up && !is_told())).then(|| variant.with_limit(all))
    }

    /// Returns `variant` with nearby register limits: the largest that costs no warp, the largest that gains an
    /// occupancy step, and, if fewer warps are allowed, one occupancy step more.
    pub(super) fn limits(&self, objective: &Objective, variant: &Variant, figures: &Figures) -> Vec<Variant> {
        let launch = launch(&figures.ptxas_report, self.block);
        let edge = objective.architecture.step_edge(&launch);
        // A variant that uses all available registers needs no limit. If ptxas stays within an occupancy step by itself
        // and spills, an explicit limit reduces the spills.
        let is_held = self.withheld(objective, figures).is_some();
        let to_edge = Some(edge).filter(|&edge| edge > figures.ptxas_report.registers || is_held);
        let step = self.winning_step(objective, figures);
        let fewer_warps = objective.allowance.fewer_warps.then(|| edge.saturating_add(1)).filter(|&above| above <= 255);
        let above = fewer_warps.map(|above| objective.architecture.step_edge(&launch.with_registers(above)));
        [to_edge, step, above].into_iter().flatten().map(|limit| variant.with_limit(limit)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{kernel, kernel_with, objective};
    use super::*;
    use crate::function::LaunchBounds;
    use crate::target::machine::Repartition;
    use crate::tune::agreement::Agreement;
    use crate::tune::figures::{Allowance, tests::figures};
    use crate::tune::question::{Answer, NoAnswer, Question};
    use crate::tune::spill_options::SpillOptions;

    /// Register limits are tried if they may gain warps, or if the kernel spills and ptxas gives it fewer registers
    /// than a block may have. Register limits are not tried if they can only cause spills.
    #[test]
    fn limits() {
        for (spills, registers, threads, expected) in
            [(0, 64, 128, true), (100, 64, 128, true), (100, 64, 1024, false), (100, 255, 128, false)]
        {
            let mut stock = figures(spills, 32, 500);
            stock.ptxas_report.registers = registers;
            let mut kernel = kernel_with(stock);
            kernel.block.threads = Some(threads);
            let variants: Vec<Variant> = (0..30).map(|_| kernel.propose(&objective(0))).collect();
            let limits = variants.iter().any(Variant::limits_registers);
            assert_eq!(limits, expected, "{spills} bytes, {registers} registers, {threads} threads");
        }
    }

    /// A kernel with `setmaxnreg` is never tried with a limit that may let a warpgroup wait for ever. It is still tried
    /// without limits.
    #[test]
    fn limits_beside_setmaxnreg() {
        let bounds = LaunchBounds { max_threads: Some(256), min_blocks: Some(1), ..LaunchBounds::default() };
        let requests = vec![Repartition::Decrease(40), Repartition::Increase(232)];
        for (spills, requests) in
            [0, 5000].into_iter().flat_map(|spills| [(spills, vec![]), (spills, requests.clone())])
        {
            let mut stock = figures(spills, 8, 500);
            stock.ptxas_report.registers = if spills > 0 { 128 } else { 232 };
            let block = Block { threads: Some(256), says_threads: true, dynamic_shared: Some(0) };
            let mut kernel = Kernel::new("k", "0", block, stock, "stock".into(), Choices::Nothing);
            let asks = !requests.is_empty();
            kernel.register_requests = asks.then_some(RegisterRequests { requests, bounds });
            let objective =
                Objective { allowance: Allowance { fewer_warps: true, ..Allowance::default() }, ..objective(0) };
            let mut limits = Vec::new();
            for number in 0..80u32 {
                let variant = kernel.propose(&objective);
                limits.extend(variant.limit());
                let given_up = Figures { ptxas_report: PtxasReport { registers: 32, ..stock.ptxas_report }, ..stock };
                kernel.record(
                    &objective,
                    variant,
                    number.to_string(),
                    Some(if number % 2 == 0 { given_up } else { stock }),
                );
            }
            assert_eq!(limits.iter().any(|&limit| limit < 232), !asks, "{spills} bytes: {limits:?}");
        }
    }

    /// If fewer warps are allowed, a kernel that spills is tried with all registers that a block may have. If fewer
    /// warps are not allowed, a kernel that spills much is tried once with all registers.
    #[test]
    fn all_registers() {
        let [much, little] = [figures(MANY_BYTES, 64, 500), figures(MANY_BYTES - 1, 64, 500)];
        for (fewer_warps, spilling, expected) in [
            (true, much, true),
            (true, little, true),
            (false, much, true),
            (false, little, false),
            (true, figures(0, 64, 500), false),
        ] {
            let objective = Objective { allowance: Allowance { fewer_warps, ..Allowance::default() }, ..objective(0) };
            let mut kernel = kernel_with(spilling);
            kernel.queue.clear();
            kernel.fill_queue(&objective);
            assert_eq!(kernel.queue.contains(&Variant::DEFAULT.with_limit(255)), expected, "{:?}", kernel.queue);
            kernel.proposed.push(Variant::DEFAULT.with_limit(255));
            let other = kernel.with_all_registers(&objective, &Variant::ordered("eager", 0), &spilling);
            assert_eq!(other.is_some(), expected && fewer_warps, "once");
        }
    }

    /// A limit for more warps that made ptxas spill far more than stock is not tried again with other orders or fewer
    /// registers.
    #[test]
    fn hopeless_limits() {
        let stock = figures(0, 32, 500);
        for (spills, expected) in [(513, true), (512, false)] {
            let mut kernel = kernel_with(stock);
            let step = objective(0)
                .architecture
                .next_step(&launch(&stock.ptxas_report, kernel.block))
                .expect("there are more warps");
            let is_tried = |kernel: &Kernel| {
                let limits = kernel.limits(&objective(0), &Variant::DEFAULT, &stock);
                limits.contains(&Variant::DEFAULT.with_limit(step))
            };
            assert!(is_tried(&kernel));
            let limited = Variant::ordered("eager", 0).with_limit(step);
            kernel.record(&objective(0), limited, "limited".into(), Some(figures(spills, 40, 500)));
            assert_eq!(!is_tried(&kernel), expected, "{spills} bytes");
            assert!(!kernel.is_hopeless(step + 1));
        }
    }

    /// The variant with the fewest registers is tried with the limit that gains warps, before the other neighbours of
    /// the best.
    #[test]
    fn the_leanest_is_limited() {
        let outcome = |registers: u32| {
            let outcome = figures(0, 32, 500);
            Figures { ptxas_report: PtxasReport { registers, ..outcome.ptxas_report }, ..outcome }
        };
        for (registers, expected) in [(57, true), (64, false)] {
            let mut kernel = kernel_with(outcome(64));
            let variants: Vec<Variant> = (0..3).map(|_| kernel.propose(&objective(0))).collect();
            for (number, variant) in variants.iter().enumerate() {
                let outcome = outcome(if number == 1 { registers } else { 64 });
                kernel.record(&objective(0), variant.clone(), number.to_string(), Some(outcome));
            }
            kernel.queue.clear();
            kernel.fill_queue(&objective(0));
            let step = objective(0).architecture.next_step(&launch(&outcome(57).ptxas_report, kernel.block));
            let limited = variants[1].with_limit(step.expect("there are more warps"));
            assert_eq!(kernel.queue.contains(&limited), expected, "{:?}", kernel.queue);
        }
    }

    /// A variant that avoids spills at the cost of warps is tried with the most registers that cost no warp.
    #[test]
    fn held_to_the_warps_of_stock() {
        let mut kernel = kernel();
        for number in 0..10u32 {
            let variant = kernel.propose(&objective(0));
            let is_third = number == 2;
            let outcome = if is_third { figures(0, 16, 400) } else { figures(100, 32, 500 + number) };
            kernel.record(&objective(0), variant.clone(), number.to_string(), Some(outcome));
        }
        let costly = kernel.tried[2].variant.clone();
        assert_eq!(kernel.propose(&objective(0)), costly.with_limit(64));
    }

    /// If a kernel's shared memory excludes other warps, and the kernel spills with fewer registers than its warps
    /// allow, it is tried once with all of these registers.
    #[test]
    fn free_registers() {
        for (registers, expected) in [(32, 1), (255, 0)] {
            let mut stock = figures(100, 8, 500);
            stock.ptxas_report.registers = registers;
            let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(100_000) };
            let mut kernel = Kernel::new("k", "0", block, stock, "stock".into(), Choices::CodeGeneration);
            let variants: Vec<Variant> = (0..60).map(|_| kernel.propose(&objective(0))).collect();
            let freed = Variant::DEFAULT.optimised(Optimisations::TOLD).with_limit(255);
            assert_eq!(variants.iter().filter(|variant| **variant == freed).count(), expected, "{registers} registers");
        }
    }

    /// If ptxas gives registers up in stock, all variants get the registers that cost no warp, except variants that
    /// spill to shared memory. Otherwise, no variant gets them.
    #[test]
    fn registers_that_were_given_up() {
        for (registers, spills, expected) in
            [(32, 9_000, true), (192, 9_000, false), (32, 0, false), (255, 9_000, false)]
        {
            let mut stock = figures(spills, 8, 500);
            stock.ptxas_report.registers = registers;
            let block = Block { threads: Some(128), says_threads: true, dynamic_shared: Some(100_000) };
            let kernel = Kernel::new("k", "0", block, stock, "stock".into(), Choices::Nothing);
            let mut kernel = kernel.without_recipes();
            let variants: Vec<Variant> = (0..7).map(|_| kernel.propose(&objective(0))).collect();
            let limited = variants.iter().filter(|variant| variant.to_string().contains("maxnreg=255")).count();
            assert_eq!(limited, if expected { variants.len() } else { 0 }, "{registers} registers, {spills} bytes");
        }
    }

    /// If ptxas gives registers up for a variant, the same variant follows with stock's registers, and others get these
    /// registers at once. This holds separately for variants with and without values spilled to shared memory.
    #[test]
    fn registers_that_were_given_up_for_a_variant() {
        let kept =
            |slack| Variant::DEFAULT.with_kept_values(SpillOptions { slack, ..SpillOptions::for_registers(255, 0) });
        let ordered = |order| Variant::ordered(order, 0);
        for [given_up, other, unlike] in
            [[kept(0), kept(24), ordered("late")], [ordered("eager"), ordered("late"), kept(0)]]
        {
            for (registers, spills, expected) in [(32, 200, true), (32, 0, false), (200, 200, false)] {
                let mut stock = figures(100, 8, 500);
                stock.ptxas_report.registers = 254;
                let mut kernel = kernel_with(stock);
                let mut outcome = figures(spills, 8, 500);
                outcome.ptxas_report.registers = registers;
                kernel.record(&objective(0), given_up.clone(), "given up".into(), Some(outcome));
                let case = format!("{given_up}: {registers} registers, {spills} bytes");
                assert_eq!(kernel.propose(&objective(0)) == given_up.with_limit(255), expected, "{case}");
                let with_limit = if expected { other.with_limit(255) } else { other.clone() };
                assert_eq!(kernel.freed(&objective(0), other.clone()), with_limit, "{case}");
                assert_eq!(kernel.freed(&objective(0), unlike.clone()), unlike, "{case}");
                for free in [Variant::DEFAULT, Variant::DEFAULT.with_smem_spilling()] {
                    assert_eq!(kernel.freed(&objective(0), free.clone()), free, "{case}");
                }
            }
        }
    }

    /// If stock spills much, the first order is drawn alone, and the others get stock's registers if ptxas gives them
    /// up for it.
    #[test]
    fn the_first_order_comes_alone() {
        for (spills, is_alone) in [(MANY_BYTES, true), (MANY_BYTES - 1, false)] {
            let mut stock = figures(spills, 8, 500);
            stock.ptxas_report.registers = 254;
            let mut kernel = kernel_with(stock);
            let mut rounds: Vec<Vec<Variant>> = Vec::new();
            while kernel.runs() < 9 {
                let questions = kernel.ask(&objective(0), 16);
                let answer = |question: &Question| match question {
                    Question::Text(variant) => Answer::Text(Ok(variant.to_string())),
                    Question::Figures(variant) => {
                        let mut outcome = figures(spills, 8, 500);
                        let gives_up = variant.has_order() && !variant.limits_registers();
                        outcome.ptxas_report.registers = if gives_up { 32 } else { 254 };
                        Answer::Figures(Ok(outcome))
                    }
                    Question::Spilled(_) => Answer::Spilled(Err(NoAnswer::Refused("no".into()))),
                    Question::Compared(_) => Answer::Compared(Some(Agreement::Same.into())),
                };
                let answers = questions.iter().map(answer).collect();
                let drawn = questions.iter().filter_map(|question| match question {
                    Question::Figures(variant) => Some(variant.clone()),
                    _ => None,
                });
                rounds.push(drawn.collect());
                kernel.tell(&objective(0), answers);
            }
            let ordered: Vec<&Variant> = rounds.iter().flatten().filter(|variant| variant.has_order()).collect();
            let round = rounds.iter().find(|round| round.contains(ordered[0])).expect("it was asked");
            assert_eq!(round.len() == 1, is_alone, "{rounds:?}");
            let given_up = ordered.iter().filter(|variant| !variant.limits_registers()).count();
            assert_eq!(given_up == 1, is_alone, "{ordered:?}");
            assert!(!is_alone || *ordered[1] == ordered[0].with_limit(255), "{ordered:?}");
        }
    }
}
