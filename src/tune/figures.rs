//! What a kernel costs, as ptxas and the disassembler tell it, and which of two costs is the better.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::block_sizes::BlockSizes;
use super::ptxas_output::{PtxasReport, Sass};
use super::timing::Timing;
use crate::target::machine::{Architecture, Launch};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bytes spilled, each ten times for each loop around it.
    Spills,
    /// Warps that an SM holds at once.
    Warps,
    /// Accesses of local memory.
    Local,
    /// Machine instructions.
    Instructions,
}

/// All measures, the first the most important one.
pub type Preference = [Measure; 4];

/// The measures in the order of `first`; those that it does not name come behind, the most expensive first.
pub fn preference(first: &[Measure]) -> Preference {
    let mut all = [Measure::Spills, Measure::Warps, Measure::Local, Measure::Instructions];
    all.sort_by_key(|measure| first.iter().position(|named| named == measure).unwrap_or(first.len()));
    all
}

/// What may be worse than stock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// Fewer resident warps.
    pub fewer_warps: bool,
    /// Spills, where fewer bytes move to and from local memory in all: an array that moves to registers may take more of them
    /// than there are.
    pub spills_for_arrays: bool,
    /// So many more machine instructions, in hundredths of stock's.
    pub more_instructions: u32,
    /// A variant that is neither proved to compute what stock does nor has run as stock does.
    pub uncompared: bool,
}

impl Allowance {
    /// However many more instructions.
    pub const ANY_INSTRUCTIONS: u32 = u32::MAX;
    /// For a kernel that its caller times: what costs less for spills may have a few more instructions.
    pub const TIMED: Self =
        Self { fewer_warps: false, spills_for_arrays: false, more_instructions: 3, uncompared: false };
}

/// A block of a kernel, as far as it is known how it is launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Threads, where the kernel or somebody says how many.
    pub threads: Option<u32>,
    /// Whether the kernel says so itself.
    pub says_threads: bool,
    /// Bytes of shared memory that the launch adds to those that the kernel declares; `None` where the kernel leaves it
    /// to the launch and nobody says.
    pub dynamic_shared: Option<u32>,
}

impl Block {
    /// What is known of a kernel's launches: the threads that it says itself, what somebody says of it, and whether it leaves
    /// the size of shared memory to the launch.
    pub fn new(own: Option<u32>, threads: Option<u32>, said: Option<u32>, sizes_shared_at_launch: bool) -> Self {
        Self {
            threads: own.or(threads),
            says_threads: own.is_some(),
            dynamic_shared: said.or((!sizes_shared_at_launch).then_some(0)),
        }
    }
}

/// A variant that differs from LLVM's code in the number of instructions alone must have so many less, in hundredths. On
/// an H200, an order that saves 2 of 383 instructions took a third more time: it separates loads that run side by side.
const WORTHWHILE: u64 = 2;

/// What a kernel costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// What ptxas reports.
    pub ptxas_report: PtxasReport,
    /// What the disassembler counts.
    pub sass: Sass,
    /// Warps that an SM holds at once.
    pub warps: u32,
    /// What blocks can be launched, where nobody says how many threads a block has.
    pub blocks: BlockSizes,
    /// Bytes that move to and from spill slots in shared memory in a run.
    pub shared_spills: u64,
    /// What these cost, in bytes of local memory.
    pub shared_spill_cost: u64,
    /// Whether all that moves to and from local memory costs like spills, arrays included.
    pub counts_arrays: bool,
    /// Whether machine instructions alone are compared: what is linked later may be called by any kernel, or call any function, and
    /// nobody knows how many warps an SM holds then.
    pub counts_instructions_alone: bool,
    /// Accesses of local memory and instructions that count at least: where loops are unrolled less, functions called
    /// more often, or optimisations left out, fewer of them stand in the code, and no fewer run.
    pub least_counts: [u32; 2],
    /// Machine instructions with loops as they come, where ptxas has unrolled turned loops: its copies are for those who wait, and
    /// their number is no cost.
    pub rolled: Option<u32>,
    /// What the user's benchmark says, where it was asked.
    pub timing: Option<Timing>,
}

impl Figures {
    /// Those of a kernel that is launched in such blocks.
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

    /// The same where arrays in local memory count like spills, if that is allowed.
    pub fn with_arrays(self, allowance: Allowance) -> Self {
        Self { counts_arrays: allowance.spills_for_arrays, ..self }
    }

    /// The same where machine instructions alone are compared, if that is so.
    pub fn with_instructions_alone(self, counts_instructions_alone: bool) -> Self {
        Self { counts_instructions_alone, ..self }
    }

    /// The same of a variant with spill slots in shared memory, of which a byte costs `cost`: what the variant moves beyond
    /// stock is for these. Where stock spills nothing, what no longer moves to arrays in local memory pays for them.
    pub fn with_slots_in_shared(self, stock: &Self, cost: f64) -> Self {
        let shared_spills = self.sass.shared_traffic.saturating_sub(stock.sass.shared_traffic);
        // Where arrays cost like spills, fewer of them are gain enough.
        let of_arrays = if stock.weighted_spills() == 0 { stock.sass.stack_traffic } else { 0 };
        let paid = of_arrays.saturating_sub(self.sass.stack_traffic);
        let shared_spill_cost = ((shared_spills as f64 * cost) as u64).saturating_sub(paid);
        Self { shared_spills, shared_spill_cost, ..self }
    }

    /// Bytes that a thread stores to spill slots and loads from them, in the code.
    pub fn spill_bytes(&self) -> u32 {
        self.ptxas_report.spill_store_bytes + self.ptxas_report.spill_load_bytes
    }

    /// Whether it costs no more than `stock` in anything that a user would notice, but for what the user allows. No launch
    /// fails for it that did not before: more registers make the largest block smaller. ptxas does not complain of more.
    pub fn is_no_worse(&self, stock: &Self, allowance: Allowance) -> bool {
        (allowance.spills_for_arrays || self.spill_bytes() <= stock.spill_bytes())
            && self.spill_cost() <= stock.spill_cost()
            && (allowance.fewer_warps || (self.warps >= stock.warps && self.blocks.hold_no_fewer(&stock.blocks)))
            && self.blocks.largest() >= stock.blocks.largest()
            && self.ptxas_report.advice <= stock.ptxas_report.advice
            && 100 * u64::from(self.instructions())
                <= (100 + u64::from(allowance.more_instructions)) * u64::from(stock.instructions())
    }

    /// Machine instructions with one copy of each loop that ptxas unrolls because it was turned.
    pub fn instructions(&self) -> u32 {
        self.rolled.unwrap_or(self.sass.instructions)
    }

    /// The same of a variant with turned loops; `as_it_comes` is the variant without. Nothing but the ends of loops differs, so that
    /// more of the accesses, sums and products that loops are there for are copies of them. Without more of these it is not clear what
    /// more instructions are, and they count.
    pub fn with_turned_loops(self, as_it_comes: &Self) -> Self {
        let is_unrolled =
            self.sass.work > as_it_comes.sass.work && self.sass.instructions > as_it_comes.sass.instructions;
        // Where ptxas has unrolled less, fewer instructions are no gain.
        let [local, instructions] = self.least_counts;
        let least_counts = [local, instructions.max(as_it_comes.sass.instructions)];
        Self { rolled: is_unrolled.then_some(as_it_comes.sass.instructions), least_counts, ..self }
    }

    /// What spills cost in a run: bytes by the loops around them. 0 where nothing is spilled.
    pub fn weighted_spills(&self) -> u64 {
        // What moves to places of the stack is not all spilled, but where something is, it is paid for alike.
        let costs_nothing = self.spill_bytes() == 0 && !self.counts_arrays;
        if costs_nothing { 0 } else { self.sass.stack_traffic.max(u64::from(self.spill_bytes())) }
    }

    /// What spills cost in a run, wherever they go.
    pub fn spill_cost(&self) -> u64 {
        self.weighted_spills() + self.shared_spill_cost
    }

    /// What is compared, the first difference first; the less the better. With what is spilled stands how many accesses of local
    /// memory there are, but for a factor of four: an array that moves to registers is more than a step of warps.
    pub fn rank(&self, preference: &Preference) -> [[u64; 2]; 4] {
        let [local, instructions] = self.counts();
        // Of equals the one whose loops are unrolled.
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

    /// Accesses of local memory and instructions, as they count.
    pub(super) fn counts(&self) -> [u32; 2] {
        let [local, instructions] = self.least_counts;
        [self.sass.local.max(local), self.instructions().max(instructions)]
    }

    /// The same of a variant of which fewer accesses and instructions are no gain.
    pub fn with_counts_of(self, stock: &Self) -> Self {
        Self { least_counts: [stock.sass.local, stock.sass.instructions], ..self }
    }

    /// The same of a variant of which fewer instructions are no gain.
    pub fn with_instructions_of(self, stock: &Self) -> Self {
        Self { least_counts: [0, stock.sass.instructions], ..self }
    }

    /// Whether it has no more accesses of local memory: where loops and calls differ, more of them may be an array that was
    /// in registers.
    pub fn leaves_arrays(&self, stock: &Self) -> bool {
        self.timing.is_some() || self.sass.local <= stock.sass.local
    }

    /// Whether it is better than LLVM's own code: by the benchmark, where there is one.
    pub fn is_better(&self, stock: &Self, preference: &Preference) -> bool {
        match (&self.timing, &stock.timing) {
            (Some(timing), Some(stock)) => timing.is_faster_than(stock),
            (None, None) => self.rank(preference) < stock.rank(preference) && self.is_worthwhile(stock),
            // What the benchmark did not take is not admissible.
            _ => false,
        }
    }

    /// Whether more than a few instructions differ, or loops are unrolled.
    fn is_worthwhile(&self, stock: &Self) -> bool {
        let others = |of: &Self| (of.spill_cost(), of.warps, of.counts()[0]);
        let instructions = |of: &Self| u64::from(of.counts()[1]);
        !self.counts_instructions_alone && others(self) != others(stock)
            || self.rolled.is_some()
            || 100 * instructions(self) <= (100 - WORTHWHILE) * instructions(stock)
    }

    /// The better one first: by the benchmark, where it was asked; what it was not asked of comes behind, so that this is
    /// an order of all figures.
    pub fn compare(&self, other: &Self, preference: &Preference) -> Ordering {
        let by_timing = match (&self.timing, &other.timing) {
            (Some(one), Some(other)) => one.median.total_cmp(&other.median),
            (one, other) => other.is_some().cmp(&one.is_some()),
        };
        by_timing.then_with(|| self.rank(preference).cmp(&other.rank(preference)))
    }

    /// It as JSON.
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

/// How a kernel is launched, as far as that is known.
pub fn launch(ptxas_report: &PtxasReport, block: Block) -> Launch {
    let (static_shared, dynamic_shared) = (ptxas_report.shared_bytes, block.dynamic_shared.unwrap_or(0));
    Launch { threads: block.threads, static_shared, dynamic_shared, ..Launch::new(ptxas_report.registers) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Figures of which only those matter that are compared.
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

    /// A variant is no worse only where it is in each of spills, warps and instructions; of the last two each may be
    /// allowed.
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

    /// Of a kernel whose blocks may have any size, a variant may not need smaller ones; 64 registers are too few to matter.
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

    /// What ptxas complains of counts as a cost.
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

    /// An array that moves to registers may leave spills behind where that is allowed, but no more than the array itself moved.
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

    /// Spills count before warps, warps before instructions, unless the user wants it otherwise.
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

    /// A byte that is spilled in a loop costs more than some outside; without spills, the stack's traffic costs
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

    /// A few instructions less are no reason for other code.
    #[test]
    fn few_instructions_are_not_worthwhile() {
        let is_better = |of: Figures| of.is_better(&figures(0, 32, 500), &preference(&[]));
        assert!(!is_better(figures(0, 32, 491)) && is_better(figures(0, 32, 490)));
        assert!(is_better(figures(0, 48, 500)));
        assert!(figures(96, 32, 500).is_better(&figures(100, 32, 500), &preference(&[])));
    }

    /// Where loops are unrolled less, fewer instructions and accesses in the code are no gain, but warps and spills are.
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

    /// Copies of loops are no cost and decide between equals; what they take beside instructions counts as ever.
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

    /// Where an optimisation is left out, fewer instructions in the code are no gain; fewer accesses of local memory are.
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

    /// What moves to shared memory is no gain unless it costs less than what it replaces.
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

    /// Arrays that leave local memory pay for slots, where nothing is spilled without them, and come ahead of a step of warps.
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

    /// A benchmark decides alone, and only for what is faster beyond the spread.
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

    /// More registers than a step of the occupancy cost warps, but none where the launch's shared memory leaves no room
    /// for these anyway.
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
