//! An oracle for uniformity: threads that differ only in the results of divergent opcodes.
//!
//! Each thread runs alone. Values of two threads are compared when both execute the same block in the same iteration of
//! each surrounding loop. A uniform value must be equal in both threads there. At all other points, a warp never holds
//! both values at the same time. The paths of the threads do not matter, so the oracle needs no reconvergence. In a
//! cycle with several entries, iterations are counted by block: either no branch has separated threads there, or a
//! uniform value never changes.
//!
//! Branches choose by a hash of their operands alone: a count of branches would be an additional value that differs
//! between threads.

use std::cell::RefCell;
use std::collections::BTreeMap;

use arbitrary::Unstructured;

use super::interpret::Machine;
use super::value::{Bits, mix, mix_wide};
use super::{Options, lowered_function, reached, ssa_function};
use crate::analysis::{AnalysisContext, LiveRanges, Loop, Loops, Point, UniformityInfo, ValueNumber};
use crate::function::{Block, Function, Inst, RegClass, Role, VReg};
use crate::index::IndexVec;
use crate::target::{Classification, Uniformity};

thread_local! {
    /// One context and one result for all runs of a thread, so that a missing reset in `compute` shows.
    static CONTEXT: RefCell<(AnalysisContext, UniformityInfo)> = RefCell::default();
}

/// The most blocks that a thread executes.
const BLOCKS: usize = 60;

/// Checks the uniformity of a generated function, in SSA form or out of it.
///
/// # Panics
/// If threads hold different bits in a uniform register.
pub fn check_uniformity(u: &mut Unstructured<'_>) -> Result<(), arbitrary::Error> {
    // Blocks are short, because only control flow matters.
    let options = Options { undefined_paths: u.arbitrary()?, max_insts: 4, ..Options::default() };
    let mut function = if u.arbitrary()? { ssa_function(u, &options)? } else { lowered_function(u, &options)? };
    scatter(u, &mut function)?;
    match check_threads(&function) {
        Ok(compared) => reached("compared", compared > 0),
        Err(reason) => panic!("{reason}\n{function}"),
    }
    Ok(())
}

/// Makes some predicates differ between threads: a generated function rarely branches on a loaded or shuffled value.
fn scatter(u: &mut Unstructured<'_>, function: &mut Function) -> Result<(), arbitrary::Error> {
    let Some(shuffle) = function.opcodes().find("SHFL_SYNC_IDX_rrr") else { return Ok(()) };
    for inst in function.insts() {
        let mut defs = function.operands(inst).iter().filter_map(|operand| operand.def());
        let is_predicate = defs.any(|reg| function.class(reg) == RegClass::B1);
        let computes = matches!(function.role(inst), Role::Constant | Role::Other);
        if is_predicate && computes && u.ratio(1, 3)? {
            function.inst_opcode[inst] = shuffle;
        }
    }
    Ok(())
}

/// Runs threads of a function, and checks that uniform values are the same in all of them. Returns the number of
/// compared pairs of values.
pub fn check_threads(function: &Function) -> Result<usize, String> {
    CONTEXT.with_borrow_mut(|(context, info)| {
        let regs: Vec<VReg> = function.regs().collect();
        let AnalysisContext { cfg, dominators, loops, occurrences, live_ranges } = context;
        cfg.compute(function);
        dominators.compute(function, cfg);
        loops.compute(cfg, dominators);
        occurrences.compute(function, &|_, operand| operand.reg());
        live_ranges.compute(function, cfg, dominators, occurrences, &regs);
        let classification = Classification::by_name(function.opcodes());
        info.compute((function, &classification), cfg, dominators, occurrences, live_ranges, false);
        reached("divergent branches", function.blocks().any(|block| info.is_divergent_branch(block)));
        let live_in = function.blocks().map(|block| uniform_at_start(function, live_ranges, info, block)).collect();
        let observer = Observer { function, classification: &classification, loops, live_ranges, info, live_in };
        let mut compared = 0;
        for seed in 0..3 {
            let threads: Vec<Observed> = (0..3).map(|thread| observer.run(seed, thread)).collect();
            for (thread, other) in [(0, 1), (0, 2), (1, 2)] {
                compared += compare(&threads[thread], &threads[other])?;
            }
        }
        Ok(compared)
    })
}

/// A block, and the iterations of the surrounding loops, outermost first.
type Place = (Block, Vec<u32>);

/// The uniform values that a thread held or defined in a block, for each visit of a place.
type Observed = BTreeMap<Place, Vec<Vec<(VReg, ValueNumber, Bits)>>>;

fn compare(thread: &Observed, other: &Observed) -> Result<usize, String> {
    let mut compared = 0;
    for (place, visits) in thread {
        let others = other.get(place).map_or(&[][..], Vec::as_slice);
        for (visit, other) in visits.iter().zip(others) {
            for (&(reg, value, bits), &(_, other_value, other_bits)) in visit.iter().zip(other) {
                assert_eq!(value, other_value, "a block has the same values every time");
                if !bits.agrees_with(other_bits) {
                    return Err(format!("{reg} ({value}) is {bits:x?} and {other_bits:x?} at {place:?}"));
                }
                compared += 1;
            }
        }
    }
    Ok(compared)
}

struct Observer<'a> {
    function: &'a Function,
    classification: &'a Classification,
    loops: &'a Loops,
    live_ranges: &'a LiveRanges,
    info: &'a UniformityInfo,
    /// The uniform values at the start of each block, after its PHIs.
    live_in: IndexVec<Block, Vec<(VReg, ValueNumber)>>,
}

fn uniform_at_start(
    function: &Function,
    live_ranges: &LiveRanges,
    info: &UniformityInfo,
    block: Block,
) -> Vec<(VReg, ValueNumber)> {
    let is_empty = function.block_insts(block).len() == 0;
    let value_at_start = |reg: VReg| match is_empty {
        true => live_ranges.live_in_value(reg, block),
        false => live_ranges.value_at(reg, Point::block_start(function, block)),
    };
    let held = function.regs().filter_map(|reg| Some((reg, value_at_start(reg)?)));
    held.filter(|&(_, value)| info.is_uniform_value(value)).collect()
}

impl Observer<'_> {
    fn run(&self, seed: u64, thread: u64) -> Observed {
        let mut machine = Machine::new(self.function, seed);
        for inst in self.function.insts().filter(|&inst| self.is_private(inst)) {
            machine.operations[inst] = mix(machine.operations[inst], thread);
        }
        let mut observed = Observed::new();
        let mut turns: Vec<(Loop, u32)> = Vec::new();
        let mut block = Block(0);
        for _ in 0..BLOCKS {
            self.count_turn(&mut turns, block);
            let place = (block, turns.iter().map(|&(_, turn)| turn).collect());
            let held = self.live_in[block].iter().map(|&(reg, value)| (reg, value, machine.regs[reg]));
            let mut visit: Vec<(VReg, ValueNumber, Bits)> = held.collect();
            for inst in self.function.block_insts(block) {
                machine.execute(inst);
                visit.extend(self.written(&machine, inst));
            }
            observed.entry(place).or_default().push(visit);
            let succs = self.function.succs(block);
            let mut hash = mix(seed, block.0.into());
            if succs.len() > 1 {
                for read in machine.branch_reads(block) {
                    let Some(number) = read.number() else { return observed };
                    hash = mix_wide(hash, number);
                }
            }
            let Some(&next) = succs.get((hash % succs.len().max(1) as u64) as usize) else { return observed };
            machine.phis(block, next);
            block = next;
        }
        observed
    }

    /// Whether threads may get different results from an instruction: its opcode is divergent, or it has effects.
    fn is_private(&self, inst: Inst) -> bool {
        let info = self.classification.of(self.function, inst);
        self.function.role(inst) == Role::Other
            && (info.uniformity_of(self.function, inst, false) == Uniformity::Divergent
                || !self.function.effects(inst).is_pure())
    }

    /// Leaves the loops that do not contain `block`, and enters or iterates the loop whose header it is.
    fn count_turn(&self, turns: &mut Vec<(Loop, u32)>, block: Block) {
        turns.retain(|&(of, _)| self.loops.contains(of, block));
        if let Some(innermost) = self.loops.innermost(block)
            && self.loops.header(innermost) == block
        {
            match turns.last_mut() {
                Some((of, turn)) if *of == innermost => *turn += 1,
                _ => turns.push((innermost, 1)),
            }
        }
    }

    fn written(&self, machine: &Machine<'_>, inst: Inst) -> Vec<(VReg, ValueNumber, Bits)> {
        let written = self.function.operands(inst).iter().filter_map(|operand| operand.def());
        let values = written.filter_map(|reg| {
            let value = self.live_ranges.value_at(reg, Point::late(inst))?;
            self.info.is_uniform_value(value).then(|| (reg, value, machine.regs[reg]))
        });
        if matches!(self.function.role(inst), Role::Phi | Role::Debug) { Vec::new() } else { values.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::check_uniformity;
    use crate::fuzzing::explore;

    #[test]
    fn threads_agree_on_uniform_values() {
        explore(check_uniformity, 3_000, &[("compared", 80), ("divergent branches", 10)]);
    }
}
