//! The figures of a kernel, from ptxas and the disassembler, and their comparison.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::block_sizes::BlockSizes;
use super::ptxas_output::{PtxasReport, Sass};
use super::timing::Timing;
use crate::target::machine::{Architecture, Launch};

/// A compared figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Spilled bytes, times ten for each enclosing loop.
    Spills,
    /// Resident warps of an SM.
    Warps,
    /// Accesses of local memory.
    Local,
    /// Machine instructions.
    Instructions,
}

/// All measures, the first the most important one.
pub type Preference = [Measure; 4];

/// Returns the measures in the order of `first`. The other measures follow, the most expensive first.
pub fn preference(first: &[Measure]) -> Preference {
    let mut all = [Measure::Spills, Measure::Warps, Measure::Local, Measure::Instructions];
    all.sort_by_key(|measure| first.iter().position(|named| named == measure).unwrap_or(first.len()));
    all
}

/// Figures in which a variant may be worse than stock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Fewer resident warps.
    pub fewer_warps: bool,
    /// Spills, if fewer bytes move to and from local memory in total. An array that moves to registers may need more
    /// registers than there are.
    pub spills_for_arrays: bool,
    /// Additional machine instructions, in percent of stock's.
    pub more_instructions: u32,
    /// A variant that is neither proved nor observed to compute the same as stock.
    pub uncompared: bool,
}

impl Allowance {
    /// Any number of additional instructions.
    pub const ANY_INSTRUCTIONS: u32 = u32::MAX;
    /// The allowance for a kernel that its caller times: a variant with cheaper spills may have a few more
    /// instructions.
    pub const TIMED: Self =
        Self { fewer_warps: false, spills_for_arrays: false, more_instructions: 3, uncompared: false };
}

/// The known properties of a kernel's blocks and launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Threads, if the kernel or the user states them.
    pub threads: Option<u32>,
    /// Whether the kernel itself states its threads.
    pub says_threads: bool,
    /// Bytes of shared memory that the launch adds to the kernel's declared bytes. `None` if the launch decides and the
    /// user does not state them.
    pub dynamic_shared: Option<u32>,
}

impl Block {
    /// Combines what is known of a kernel's launches: its own threads, the threads and the dynamic shared bytes that
    /// the user states, and whether the launch decides the size of shared memory.
    pub fn new(own: Option<u32>, threads: Option<u32>, said: Option<u32>, sizes_shared_at_launch: bool) -> Self {
        Self {
            threads: own.or(threads),
            says_threads: own.is_some(),
            dynamic_shared: said.or((!sizes_shared_at_launch).then_some(0)),
        }
    }
}

/// If a variant differs from LLVM's code only in the number of instructions, it needs at least this many percent fewer
/// instructions. On an H200, an order that saves 2 of 383 instructions took a third more time, because it separated
/// loads that run in parallel.
const WORTHWHILE: u64 = 2;

/// The figures of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// ptxas's report.
    pub ptxas_report: PtxasReport,
    /// The disassembler's counts.
    pub sass: Sass,
    /// Resident warps of an SM.
    pub warps: u32,
    /// The block sizes that can be launched, if the number of threads is unknown.
    pub blocks: BlockSizes,
    /// Bytes stored to and loaded from spill slots in shared memory during a run.
    pub shared_spills: u64,
    /// The cost of these bytes, in bytes of local memory.
    pub shared_spill_cost: u64,
    /// Whether all traffic of local memory costs like spills, arrays included.
    pub counts_arrays: bool,
    /// Whether only machine instructions are compared. Code that is linked later may be called by any kernel, or call
    /// any function, so its occupancy is unknown.
    pub counts_instructions_alone: bool,
    /// Lower bounds of the compared counts: accesses of local memory, and instructions. Less unrolling, more calls or
    /// an omitted optimisation make the code shorter, but a run does not execute less.
    pub least_counts: [u32; 2],
    /// Machine instructions without turned loops, if ptxas has unrolled the turned loops. The copies of a loop's body
    /// hide latency, so they do not count as a cost.
    pub rolled: Option<u32>,
    /// The result of the user's benchmark, if it ran.
    pub timing: Option<Timing>,
}

impl Figures {
    /// Computes the figures of a kernel that is launched in blocks of this kind.
    pub fn new(ptxas_report: PtxasReport, sass: Sass, architecture: &Architecture, block: Block) -> Self {
        let launch = launch(&ptxas_report, block);
        let warps = architecture.occupancy(&launch).warps;
        let blocks =
            if block.threads.is_some() { BlockSizes::default() } else { BlockSizes::new(architecture, &launch) };
        Self {
            ptxas_report,
            sass,
            warps,
            blocks,
            shared_spills: 0,
            shared_spill_cost: 0,
            counts_arrays: false,
            counts_instructions_alone: false,
            least_counts: [0; 2],
            rolled: None,
            timing: None,
        }
    }

    /// Counts arrays in local memory like spills, if the allowance permits it.
    pub fn with_arrays(self, allowance: Allowance) -> Self {
        Self { counts_arrays: allowance.spills_for_arrays, ..self }
    }

    /// Sets whether only machine instructions are compared.
    pub fn with_instructions_alone(self, counts_instructions_alone: bool) -> Self {
        Self { counts_instructions_alone, ..self }
    }

    /// Adds the costs of spill slots in shared memory: `cost` for each byte of shared traffic beyond stock's. If stock
    /// spills nothing, the saved traffic of arrays in local memory is subtracted from the costs.
    pub fn with_slots_in_shared(self, stock: &Self, cost: f64) -> Self {
        let shared_spills = self.sass.shared_traffic.saturating_sub(stock.sass.shared_traffic);
        // If arrays count as spills, their saved traffic is a gain already.
        let of_arrays = if stock.weighted_spills() == 0 { stock.sass.stack_traffic } else { 0 };
        let paid = of_arrays.saturating_sub(self.sass.stack_traffic);
        let shared_spill_cost = ((shared_spills as f64 * cost) as u64).saturating_sub(paid);
        Self { shared_spills, shared_spill_cost, ..self }
    }

    /// Returns the bytes that the code of a thread stores to spill slots and loads from them.
    pub fn spill_bytes(&self) -> u32 {
        self.ptxas_report.spill_store_bytes + self.ptxas_report.spill_load_bytes
    }

    /// Whether the figures are no worse than `stock`'s, except where the user allows it. The largest block must never
    /// shrink, because a launch that works with stock would fail. More registers can make the largest block smaller.
    /// ptxas must not have more complaints.
    pub fn is_no_worse(&self, stock: &Self, allowance: Allowance) -> bool {
        (allowance.spills_for_arrays || self.spill_bytes() <= stock.spill_bytes())
            && self.spill_cost() <= stock.spill_cost()
            && (allowance.fewer_warps || (self.warps >= stock.warps && self.blocks.hold_no_fewer(&stock.blocks)))
            && self.blocks.largest() >= stock.blocks.largest()
            && self.ptxas_report.advice <= stock.ptxas_report.advice
            && 100 * u64::from(self.instructions())
                <= (100 + u64::from(allowance.more_instructions)) * u64::from(stock.instructions())
    }

    /// Returns the machine instructions, with one copy of each turned loop that ptxas unrolls.
    pub fn instructions(&self) -> u32 {
        self.rolled.unwrap_or(self.sass.instructions)
    }

    /// Adjusts the figures of a variant with turned loops. `as_it_comes` is the same variant without turned loops. The
    /// two differ only in the ends of loops, so additional accesses, sums and products are copies of the loops' own.
    /// Without additional accesses, sums or products, additional instructions have an unknown origin and count as a
    /// cost.
    pub fn with_turned_loops(self, as_it_comes: &Self) -> Self {
        let is_unrolled =
            self.sass.work > as_it_comes.sass.work && self.sass.instructions > as_it_comes.sass.instructions;
        // If ptxas has unrolled less than before, fewer instructions are no gain.
        let [local, instructions] = self.least_counts;
        let least_counts = [local, instructions.max(as_it_comes.sass.instructions)];
        Self { rolled: is_unrolled.then_some(as_it_comes.sass.instructions), least_counts, ..self }
    }

    /// Returns the cost of spills in a run: bytes, weighted by the enclosing loops. 0 if nothing is spilled.
    pub fn weighted_spills(&self) -> u64 {
        // Stack slots also hold values that are not spilled. If anything is spilled, all traffic of stack slots counts
        // equally.
        let costs_nothing = self.spill_bytes() == 0 && !self.counts_arrays;
        if costs_nothing { 0 } else { self.sass.stack_traffic.max(u64::from(self.spill_bytes())) }
    }

    /// Returns the cost of spills in a run, to local and shared memory.
    pub fn spill_cost(&self) -> u64 {
        self.weighted_spills() + self.shared_spill_cost
    }

    /// Returns the compared figures in the order of preference. Less is better. Among equal spill costs, accesses of
    /// local memory decide, in steps of a factor of four. An array that moves to registers therefore outweighs an
    /// occupancy step.
    pub fn rank(&self, preference: &Preference) -> [[u64; 2]; 4] {
        let [local, instructions] = self.counts();
        // Among equal figures, unrolled loops win.
        let of_instructions = [u64::from(instructions), u64::from(self.rolled.is_none())];
        if self.counts_instructions_alone {
            return [of_instructions, [0; 2], [0; 2], [0; 2]];
        }
        preference.map(|measure| match measure {
            Measure::Spills => [self.spill_cost(), local.checked_ilog(4).map_or(0, |power| 1 + u64::from(power))],
            Measure::Warps => [u64::from(u32::MAX - self.warps), 0],
            Measure::Local => [u64::from(local), 0],
            Measure::Instructions => of_instructions,
        })
    }

    /// Returns the compared accesses of local memory and instructions.
    pub(super) fn counts(&self) -> [u32; 2] {
        let [local, instructions] = self.least_counts;
        [self.sass.local.max(local), self.instructions().max(instructions)]
    }

    /// Counts at least stock's accesses of local memory and instructions, so that fewer are no gain.
    pub fn with_counts_of(self, stock: &Self) -> Self {
        Self { least_counts: [stock.sass.local, stock.sass.instructions], ..self }
    }

    /// Counts at least stock's instructions, so that fewer are no gain.
    pub fn with_instructions_of(self, stock: &Self) -> Self {
        Self { least_counts: [0, stock.sass.instructions], ..self }
    }

    /// Whether the kernel has no more accesses of local memory than stock, or a benchmark decides. If loops and calls
    /// differ, additional accesses may belong to an array that was in registers.
    pub fn leaves_arrays(&self, stock: &Self) -> bool {
        self.timing.is_some() || self.sass.local <= stock.sass.local
    }

    /// Whether the figures are better than stock's: by the benchmark, if it ran.
    pub fn is_better(&self, stock: &Self, preference: &Preference) -> bool {
        match (&self.timing, &stock.timing) {
            (Some(timing), Some(stock)) => timing.is_faster_than(stock),
            (None, None) => self.rank(preference) < stock.rank(preference) && self.is_worthwhile(stock),
            // A variant without a benchmark result is not admissible.
            _ => false,
        }
    }

    /// Whether the difference from stock is more than a few instructions. Unrolled turned loops are always worthwhile.
    fn is_worthwhile(&self, stock: &Self) -> bool {
        let others = |of: &Self| (of.spill_cost(), of.warps, of.counts()[0]);
        let instructions = |of: &Self| u64::from(of.counts()[1]);
        !self.counts_instructions_alone && others(self) != others(stock)
            || self.rolled.is_some()
            || 100 * instructions(self) <= (100 - WORTHWHILE) * instructions(stock)
    }

    /// Orders the better figures first: by the benchmark, if it ran. Figures without a benchmark result come last, so
    /// the order is total.
    pub fn compare(&self, other: &Self, preference: &Preference) -> Ordering {
        let by_timing = match (&self.timing, &other.timing) {
            (Some(one), Some(other)) => one.median.total_cmp(&other.median),
            (one, other) => other.is_some().cmp(&one.is_some()),
        };
        by_timing.then_with(|| self.rank(preference).cmp(&other.rank(preference)))
    }

    /// Returns the figures as JSON.
    pub fn json(&self) -> Value {
        json!({
            "registers": self.ptxas_report.registers,
            "spill_store_bytes": self.ptxas_report.spill_store_bytes,
            "spill_load_bytes": self.ptxas_report.spill_load_bytes,
            "weighted_spill_bytes": self.weighted_spills(),
            "weighted_shared_spill_bytes": self.shared_spills,
            "stack_bytes": self.ptxas_report.stack_bytes,
            "shared_bytes": self.ptxas_report.shared_bytes,
            "warps": self.warps,
            "sass_instructions": self.sass.instructions,
            "sass_local": self.sass.local,
            "run_median": self.timing.map(|timing| timing.median),
            "run_spread": self.timing.map(|timing| timing.spread),
        })
    }
}

/// Returns what is known of a kernel's launch.
pub fn launch(ptxas_report: &PtxasReport, block: Block) -> Launch {
    let (static_shared, dynamic_shared) = (ptxas_report.shared_bytes, block.dynamic_shared.unwrap_or(0));
    Launch { threads: block.threads, static_shared, dynamic_shared, ..Launch::new(ptxas_report.registers) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Creates figures with the given compared values. The others do not matter.
    pub(in super::super) fn figures(spills: u32, warps: u32, instructions: u32) -> Figures {
        let ptxas_report = PtxasReport { registers: 64, spill_store_bytes: spills, ..PtxasReport::default() };
        let sass = Sass { instructions, local: spills / 4, ..Sass::default() };
        Figures {
            ptxas_report,
            sass,
            warps,
            blocks: BlockSizes::default(),
            shared_spills: 0,
            shared_spill_cost: 0,
            counts_arrays: false,
            counts_instructions_alone: false,
            least_counts: [0; 2],
            rolled: None,
            timing: None,
        }
    }

    /// A variant is no worse only if spills, warps and instructions are no worse. More instructions and fewer warps can
    /// each be allowed.
    #[test]
    fn no_worse_in_each() {
        let is_no_worse = |fewer_warps, more_instructions, figures: Figures| {
            let allowance = Allowance { fewer_warps, more_instructions, ..Allowance::default() };
            figures.is_no_worse(&super::tests::figures(100, 32, 500), allowance)
        };
        let any = Allowance::ANY_INSTRUCTIONS;
        assert!(is_no_worse(false, 0, figures(100, 32, 500)));
        assert!(is_no_worse(false, 0, figures(0, 48, 400)));
        assert!(!is_no_worse(true, any, figures(101, 48, 400)));
        assert!(!is_no_worse(false, any, figures(0, 31, 400)));
        assert!(is_no_worse(true, 0, figures(0, 31, 400)));
        assert!(!is_no_worse(true, 0, figures(0, 48, 501)));
        assert!(is_no_worse(false, any, figures(0, 48, u32::MAX)));
        assert!(is_no_worse(false, 3, figures(0, 48, 515)) && !is_no_worse(false, 3, figures(0, 48, 516)));
    }

    /// If the block size of a kernel is unknown, a variant may not require smaller blocks. With 64 registers, blocks of
    /// every size can be launched.
    #[test]
    fn no_launch_fails() {
        let hopper = Architecture::by_name("sm_90").expect("is known");
        let of = |registers, threads| {
            let ptxas_report = PtxasReport { registers, ..PtxasReport::default() };
            let block = Block { threads, says_threads: false, dynamic_shared: Some(0) };
            Figures::new(ptxas_report, Sass::default(), hopper, block)
        };
        let is_no_worse = |threads, registers, stock| {
            of(registers, threads).is_no_worse(
                &of(stock, threads),
                Allowance { fewer_warps: true, more_instructions: Allowance::ANY_INSTRUCTIONS, ..Allowance::default() },
            )
        };
        assert!(is_no_worse(None, 64, 33) && is_no_worse(None, 72, 70));
        assert!(!is_no_worse(None, 80, 72), "a block of 896 threads fits with 72 registers alone");
        assert!(is_no_worse(Some(256), 80, 72));
    }

    /// ptxas's complaints count as a cost.
    #[test]
    fn complaints() {
        let with = |advice| {
            let figures = figures(0, 32, 500);
            Figures { ptxas_report: PtxasReport { advice, ..figures.ptxas_report }, ..figures }
        };
        let more_instructions = Allowance::ANY_INSTRUCTIONS;
        let allowance = Allowance { fewer_warps: true, more_instructions, ..Allowance::default() };
        assert!(with(1).is_no_worse(&with(1), allowance) && with(0).is_no_worse(&with(1), allowance));
        assert!(!with(1).is_no_worse(&with(0), allowance));
    }

    /// An array that moves to registers may cause spills if that is allowed, but no more bytes than the array itself
    /// moved.
    #[test]
    fn spills_for_arrays() {
        let with = |spills, stack_traffic, allowance| {
            let figures = figures(spills, 32, 500);
            Figures { sass: Sass { stack_traffic, ..figures.sass }, ..figures }.with_arrays(allowance)
        };
        for (spills_for_arrays, traffic, expected) in
            [(false, 16, false), (true, 16, true), (true, 400, false), (true, 401, false)]
        {
            let allowance = Allowance { spills_for_arrays, ..Allowance::default() };
            let (stock, variant) = (with(0, 400, allowance), with(16, traffic, allowance));
            let counts = variant.is_no_worse(&stock, allowance) && variant.is_better(&stock, &preference(&[]));
            assert_eq!(counts, expected, "{spills_for_arrays}, {traffic} bytes");
        }
    }

    /// Spills count before warps and warps before instructions, unless the user sets another order.
    #[test]
    fn ranks() {
        let rank = |figures: Figures| figures.rank(&preference(&[]));
        assert!(rank(figures(0, 16, 900)) < rank(figures(4, 64, 100)));
        assert!(rank(figures(0, 32, 900)) < rank(figures(0, 16, 100)));
        assert!(rank(figures(0, 32, 100)) < rank(figures(0, 32, 101)));
        let rank = |figures: Figures| figures.rank(&preference(&[Measure::Instructions, Measure::Warps]));
        assert!(rank(figures(4, 16, 100)) < rank(figures(0, 64, 101)));
        assert!(rank(figures(4, 64, 100)) < rank(figures(0, 32, 100)));
    }

    /// A byte that is spilled in a loop costs more than several bytes outside. Without spills, stack traffic costs
    /// nothing.
    #[test]
    fn spills_in_loops_cost_more() {
        let with = |spills, stack_traffic| {
            let figures = figures(spills, 32, 100);
            Figures { sass: Sass { stack_traffic, ..figures.sass }, ..figures }
        };
        let rank = |figures: Figures| figures.rank(&preference(&[]));
        assert!(rank(with(8, 8)) < rank(with(4, 40)));
        assert_eq!(rank(with(0, 400)), rank(with(0, 0)));
        assert_eq!(with(8, 0).weighted_spills(), 8);
    }

    /// A few instructions less do not justify other code.
    #[test]
    fn few_instructions_are_not_worthwhile() {
        let is_better = |of: Figures| of.is_better(&figures(0, 32, 500), &preference(&[]));
        assert!(!is_better(figures(0, 32, 491)) && is_better(figures(0, 32, 490)));
        assert!(is_better(figures(0, 48, 500)));
        assert!(figures(96, 32, 500).is_better(&figures(100, 32, 500), &preference(&[])));
    }

    /// If loops are unrolled less, fewer instructions and accesses in the code are no gain. Fewer spills and more warps
    /// are.
    #[test]
    fn rolled_loops() {
        let stock = figures(40, 32, 500);
        let preference = preference(&[]);
        let is_better = |figures: Figures| figures.with_counts_of(&stock).is_better(&stock, &preference);
        let fewer = Figures { sass: Sass { local: 2, ..figures(40, 32, 100).sass }, ..figures(40, 32, 100) };
        assert!(fewer.is_better(&stock, &preference) && !is_better(fewer));
        assert!(is_better(figures(40, 40, 500)) && is_better(figures(20, 32, 500)));
        assert!(fewer.leaves_arrays(&stock) && !stock.leaves_arrays(&fewer));
    }

    /// Copies of loops are no cost. Among otherwise equal figures, the variant with the copies wins. Other costs of the
    /// copies count as usual.
    #[test]
    fn unrolled_loops() {
        let (stock, preference) = (figures(40, 32, 500), preference(&[]));
        let with = |work, figures: Figures| Figures { sass: Sass { work, ..figures.sass }, ..figures };
        let as_it_comes = with(20, figures(40, 32, 500));
        let counts = |figures: Figures| {
            let figures = figures.with_turned_loops(&as_it_comes);
            figures.is_no_worse(&stock, Allowance::default()) && figures.is_better(&stock, &preference)
        };
        assert!(counts(with(50, figures(40, 32, 900))));
        assert!(!counts(with(20, figures(40, 32, 501))), "nothing is copied");
        assert!(!counts(with(50, figures(44, 32, 900))) && !counts(with(50, figures(40, 24, 900))));
        assert!(!counts(as_it_comes), "nothing is unrolled");
        assert!(!counts(with(5, figures(40, 32, 300))), "less is unrolled");
        let unrolled = with(50, figures(40, 32, 900)).with_turned_loops(&as_it_comes);
        assert!(unrolled.compare(&as_it_comes, &preference).is_lt());
        assert!(unrolled.compare(&figures(40, 32, 499), &preference).is_gt());
    }

    /// Without an optimisation, fewer instructions in the code are no gain. Fewer accesses of local memory are.
    #[test]
    fn optimisations_left_out() {
        let stock = figures(40, 32, 500);
        let preference = preference(&[]);
        let is_better = |figures: Figures| figures.with_instructions_of(&stock).is_better(&stock, &preference);
        let fewer = figures(40, 32, 100);
        assert!(fewer.is_better(&stock, &preference) && !is_better(fewer));
        assert!(is_better(Figures { sass: Sass { local: 2, ..fewer.sass }, ..fewer }));
        assert!(is_better(figures(40, 40, 500)) && is_better(figures(20, 32, 500)));
    }

    /// Spilling to shared memory is no gain unless it costs less than what it replaces.
    #[test]
    fn slots_in_shared_memory_cost_something() {
        let preference = preference(&[]);
        let stock = figures(100, 32, 500);
        let kept = |shared_traffic| {
            let kept = figures(0, 32, 500);
            Figures { sass: Sass { shared_traffic, ..kept.sass }, ..kept }.with_slots_in_shared(&stock, 0.5)
        };
        let counts =
            |kept: Figures| kept.is_no_worse(&stock, Allowance::default()) && kept.is_better(&stock, &preference);
        assert!(counts(kept(198)));
        assert!(!counts(kept(202)) && !counts(kept(300)));
        assert!(kept(300).spill_cost() > stock.spill_cost());
    }

    /// Arrays that leave local memory pay for slots if stock spills nothing, and outweigh an occupancy step.
    #[test]
    fn arrays_in_local_memory() {
        let preference = preference(&[]);
        let with = |local, stack_traffic, shared_traffic, warps| {
            let of = figures(0, warps, 500);
            Figures { sass: Sass { local, stack_traffic, shared_traffic, ..of.sass }, ..of }
        };
        let stock = with(1600, 6400, 0, 32);
        let kept = |shared_traffic| with(4, 16, shared_traffic, 32).with_slots_in_shared(&stock, 0.5);
        assert!(kept(12_000).is_no_worse(&stock, Allowance::default()) && kept(12_000).is_better(&stock, &preference));
        assert!(!kept(13_000).is_no_worse(&stock, Allowance::default()));
        let more_warps = with(800, 3200, 0, 64);
        assert!(kept(12_000).compare(&more_warps, &preference).is_lt() && more_warps.is_better(&stock, &preference));
        assert!(more_warps.compare(&with(700, 2800, 0, 32), &preference).is_lt());
        let warps_first = super::preference(&[Measure::Warps]);
        assert!(more_warps.compare(&kept(12_000), &warps_first).is_lt());
    }

    /// The benchmark alone decides, and only a difference beyond the spread counts as faster.
    #[test]
    fn benchmarks_decide() {
        let timed = |figures: Figures, median, spread| Figures { timing: Some(Timing { median, spread }), ..figures };
        let stock = timed(figures(100, 32, 500), 10.0, 0.5);
        let preference = preference(&[]);
        assert!(timed(figures(100, 32, 500), 9.0, 0.1).is_better(&stock, &preference));
        assert!(!timed(figures(0, 64, 100), 9.8, 0.1).is_better(&stock, &preference));
        assert!(!figures(0, 64, 100).is_better(&stock, &preference));
        let (slow, quick) = (timed(figures(0, 64, 100), 9.0, 0.1), timed(figures(100, 32, 500), 8.0, 0.1));
        assert_eq!(quick.compare(&slow, &preference), Ordering::Less);
        assert_eq!(figures(0, 64, 100).compare(&figures(4, 64, 100), &preference), Ordering::Less);
        assert_eq!(slow.compare(&figures(0, 64, 90), &preference), Ordering::Less);
        assert_eq!(figures(0, 64, 90).compare(&slow, &preference), Ordering::Greater);
    }

    /// Registers beyond an occupancy step cost warps, but not if the launch's shared memory already rules these warps
    /// out.
    #[test]
    fn warps_are_those_of_the_machine() {
        let hopper = Architecture::by_name("sm_90").expect("is known");
        let of = |registers, dynamic_shared| {
            let ptxas_report = PtxasReport { registers, ..PtxasReport::default() };
            Figures::new(
                ptxas_report,
                Sass::default(),
                hopper,
                Block { threads: Some(256), says_threads: true, dynamic_shared: Some(dynamic_shared) },
            )
            .warps
        };
        assert_eq!((of(32, 0), of(64, 0), of(65, 0), of(128, 0)), (64, 32, 24, 16));
        assert_eq!((of(32, 98304), of(65, 98304), of(128, 98304), of(129, 98304)), (16, 16, 16, 8));
    }
}
