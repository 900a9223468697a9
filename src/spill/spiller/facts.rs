//! Analyses of a function before any value is chosen.

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

/// Returns how many words ptxas keeps in registers across a call by the ABI, if the caller has `registers` registers.
/// Measured with ptxas 13.0 for sm_90: 13 of 32, 17 of 40, 20 of 48, 29 of 64, and 42 of 90 registers.
fn survivors(registers: u32) -> u32 {
    (registers / 2).saturating_sub(3)
}

/// A function that has left SSA form, its values that can be spilled, and the words that are live at each instruction.
/// Uniform values count as uniform registers, and constants take no register.
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
    /// Blocks at whose ends values that are defined earlier may be stored.
    sinks: Vec<Block>,
    pub(in crate::spill) pressure: Pressure,
    /// Whether the words of a register count.
    pub(in crate::spill) counts: IndexVec<VReg, bool>,
}

impl<'a> Facts<'a> {
    /// Analyses a function.
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
        // A value that is live into unreachable code is read there without a definition, so no store would precede the
        // read.
        let is_reachable = |reg: VReg| live.live_ins(reg).iter().all(|live_in| cfg.is_reachable(live_in.block));
        let is_live_in = |reg: VReg| live.live_ins(reg).iter().any(|live_in| live_in.block == Block(0));
        // A value that is live into a kernel is undefined on the paths without a definition, and any contents of its
        // slot are correct. In other functions, the caller may have defined the value.
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

    /// Raises the pressure at calls by the ABI, because fewer words survive in registers across such a call than fit
    /// elsewhere. `words` is the limit of live words, and `registers` the number of the function's registers. The words
    /// that do not survive count as additional live words at the call. ptxas knows the registers of functions in the
    /// module, so calls of these functions do not count.
    pub fn count_calls(&mut self, registers: u32, words: u32, table: Option<&CalleeTable>) {
        let beside = words.saturating_sub(survivors(registers));
        let calls: Vec<Inst> = calls_by_the_abi((self.function, self.classification), table).collect();
        for call in calls {
            self.pressure.put(&(call.0..call.0 + 1), beside);
        }
    }

    /// Returns the most words that are live at one instruction.
    pub fn peak(&self) -> u32 {
        self.pressure.peak()
    }

    /// Returns the instruction with the widest operands, and their words: the words that it reads or the words that it
    /// writes, whichever is more. Of equally wide instructions, the first is returned. No selection leaves fewer words
    /// live there. `None` if there are no instructions.
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

    /// Returns the analyses for sinks.
    pub(super) fn sinks(&self) -> Sinks<'_> {
        let Self { function, cfg, dominators, live, occurrences, frequencies, sinks, .. } = self;
        Sinks { function, cfg, dominators, live, occurrences, frequencies, places: sinks }
    }

    /// Returns the instructions at which more words are live than the limit.
    pub(in crate::spill) fn high_pressure_points(&self, words: u32) -> HighPressurePoints {
        let mut frequencies = vec![0.0; self.function.num_insts()];
        for block in self.function.blocks() {
            self.function.block_insts(block).for_each(|inst| frequencies[inst.0 as usize] = self.frequencies[block]);
        }
        let live = self.pressure.all();
        HighPressurePoints::new(frequencies.into_iter().enumerate().map(|(at, runs)| (live[at], runs)), words)
    }
}
