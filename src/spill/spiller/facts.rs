//! What is known of a function before any value is chosen.

use super::callees::{CalleeTable, calls_by_the_abi};
use super::eligible::{Candidate, eligible};
use super::high_pressure::HighPressurePoints;
use super::partly_undefined::reaches_all_reads;
use super::sink::{self, Sinks};
use crate::analysis::pressure::Pressure;
use crate::analysis::{Cfg, Dominators, LiveRanges, Loops, Occurrences, UniformityInfo, block_frequencies};
use crate::function::{Block, Function, Inst, Role, VReg};
use crate::index::IndexVec;
use crate::target::Classification;

/// How many words ptxas keeps in registers across a call by the ABI, if the caller has so many registers. Measured with ptxas
/// 13.0 for sm_90: 13 of 32, 17 of 40, 20 of 48, 29 of 64, and 42 of 90 registers.
fn survivors(registers: u32) -> u32 {
    (registers / 2).saturating_sub(3)
}

/// A function that has left SSA form, its values that can be moved out of the way, and the words that are live at each
/// instruction. Words that a whole warp shares count for uniform registers, and constants for none.
pub struct Facts<'a> {
    pub(in crate::spill) function: &'a Function,
    pub(in crate::spill) classification: &'a Classification,
    pub(in crate::spill) occurrences: Occurrences,
    pub(in crate::spill) frequencies: IndexVec<Block, f64>,
    pub(in crate::spill) live: LiveRanges,
    pub(in crate::spill) cfg: Cfg,
    pub(in crate::spill) dominators: Dominators,
    pub(in crate::spill) loops: Loops,
    pub(in crate::spill) values: Vec<Candidate>,
    /// The blocks at whose ends values may be stored that are defined further up.
    sinks: Vec<Block>,
    pub(in crate::spill) pressure: Pressure,
    /// The registers whose words count.
    pub(in crate::spill) counts: IndexVec<VReg, bool>,
}

impl<'a> Facts<'a> {
    /// Looks at a function.
    pub fn new((function, classification): (&'a Function, &'a Classification)) -> Self {
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let frequencies = block_frequencies(function, &cfg, &dominators);
        let occurrences = Occurrences::new(function, &|_| true);
        let all: Vec<VReg> = function.regs().collect();
        let live = LiveRanges::new(function, &cfg, &dominators, &occurrences, &all);
        let is_kernel = function.kernel().is_some();
        let uniformity =
            UniformityInfo::new((function, classification), &cfg, &dominators, &occurrences, &live, is_kernel);
        let is_constant = |reg: VReg| {
            let definition = occurrences.only_definition(reg);
            definition.is_some_and(|definition| function.role(definition.inst) == Role::Constant)
        };
        let counts: IndexVec<VReg, bool> =
            function.regs().map(|reg| !uniformity.is_uniform(reg) && !is_constant(reg)).collect();
        let mut values = eligible(function, &occurrences, &dominators);
        // What is live into code that is never reached is read without a definition, and no store would be there.
        let is_reachable = |reg: VReg| live.live_ins(reg).iter().all(|live_in| cfg.is_reachable(live_in.block));
        let is_live_in = |reg: VReg| live.live_ins(reg).iter().any(|live_in| live_in.block == Block(0));
        // What is live into a kernel is undefined on the paths without a definition, and what its slot has is as good. The
        // callers of other functions may have defined it.
        let flow = (&live, &cfg);
        let is_defined = |value: &Candidate| {
            let is_live_in = is_live_in(value.reg);
            let may_be_undefined = is_live_in || value.is_undefined_somewhere;
            (is_kernel || !is_live_in) && (!may_be_undefined || reaches_all_reads(function, value, &occurrences, flow))
        };
        values.retain(|value| is_reachable(value.reg) && is_defined(value));
        values.iter_mut().for_each(|value| value.is_held &= counts[value.reg]);
        let pressure = Pressure::of(function, &live, |reg| counts[reg]);
        let loops = Loops::new(&cfg, &dominators);
        let sinks = sink::sinks(&cfg, &dominators, &loops);
        Self {
            function,
            classification,
            occurrences,
            frequencies,
            live,
            cfg,
            dominators,
            loops,
            values,
            sinks,
            pressure,
            counts,
        }
    }

    /// Counts what must fit across calls by the ABI, of which fewer words survive in registers than there are registers, where
    /// at most `words` may be live and the function has so many registers: the words that do not survive count there as
    /// words that are live. Of functions of the module, ptxas knows which registers they take.
    pub fn count_calls(&mut self, registers: u32, words: u32, table: Option<&CalleeTable>) {
        let beside = words.saturating_sub(survivors(registers));
        let calls: Vec<Inst> = calls_by_the_abi((self.function, self.classification), table).collect();
        for call in calls {
            self.pressure.put(&(call.0..call.0 + 1), beside);
        }
    }

    /// The most words that are live at one instruction.
    pub fn peak(&self) -> u32 {
        self.pressure.peak()
    }

    /// The instruction whose own operands are the most words, the first of several, and these words: what it reads, or
    /// what it writes, whichever is more. No choice of values leaves fewer words live there. `None` without instructions.
    pub fn widest(&self) -> Option<(Inst, u32)> {
        let words = |inst: Inst| {
            let [mut read, mut written]: [Vec<VReg>; 2] = Default::default();
            for operand in self.function.operands(inst) {
                read.extend(operand.read_reg().filter(|&reg| self.counts[reg]));
                written.extend(operand.def().filter(|&reg| self.counts[reg]));
            }
            let sum = |mut regs: Vec<VReg>| {
                regs.sort_unstable();
                regs.dedup();
                regs.into_iter().map(|reg| self.function.class(reg).words()).sum::<u32>()
            };
            sum(read).max(sum(written))
        };
        let of_all = self.function.insts().map(|inst| (inst, words(inst)));
        of_all.reduce(|most, next| if next.1 > most.1 { next } else { most })
    }

    /// What sinks depend on.
    pub(super) fn sinks(&self) -> Sinks<'_> {
        let Self { function, cfg, dominators, live, occurrences, frequencies, sinks, .. } = self;
        Sinks { function, cfg, dominators, live, occurrences, frequencies, places: sinks }
    }

    /// The instructions that have more words live than there is room for.
    pub(in crate::spill) fn high_pressure_points(&self, words: u32) -> HighPressurePoints {
        let mut frequencies = vec![0.0; self.function.num_insts()];
        for block in self.function.blocks() {
            self.function.block_insts(block).for_each(|inst| frequencies[inst.0 as usize] = self.frequencies[block]);
        }
        let live = self.pressure.all();
        HighPressurePoints::new(frequencies.into_iter().enumerate().map(|(at, runs)| (live[at], runs)), words)
    }
}
