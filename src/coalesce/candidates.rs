//! Candidates: the copies that the coalescer considers, each with the data that determines its priority.

use super::program::Program;
use crate::function::{Block, Inst, Role, VReg};
use crate::index::IndexVec;

/// A copy that may be merged. Its registers are the roots at the time at which candidates are collected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    /// The copy.
    pub(super) inst: Inst,
    /// The block of the copy.
    pub(super) block: Block,
    /// The register that is written.
    pub(super) dst: VReg,
    /// The register that is read.
    pub(super) src: VReg,
    /// Frequency of the block.
    pub(super) frequency: f64,
    /// Number of instructions and uses of the two registers, plus their spill weight. Among equally frequent copies,
    /// the heavier copy comes first.
    pub(super) weight: f64,
    /// Whether the terminal rule defers the copy: see [`crate::config::Config::terminal_rule`].
    pub(super) waits: bool,
}

/// Whether a function has any copy to consider. If not, the coalescer returns early.
pub(super) fn any(program: &Program<'_>) -> bool {
    program.copies().next().is_some()
}

/// Returns all remaining copies, in layout order, within the limits of the options.
pub(super) fn collect(program: &Program<'_>, frequencies: &IndexVec<Block, f64>) -> Vec<Candidate> {
    let function = program.function;
    let options = program.options;
    let limit = if options.copy_limit == 0 { usize::MAX } else { options.copy_limit as usize };
    let split_edges: Option<IndexVec<Block, bool>> =
        (!options.join_splitedges).then(|| function.blocks().map(|block| is_split_edge(program, block)).collect());
    let is_left_out = |block| split_edges.as_ref().is_some_and(|split_edges| split_edges[block]);
    let copies = program.copies().filter(|&(block, ..)| !is_left_out(block)).take(limit);
    let candidate = |(block, inst, dst, src)| {
        let frequency = frequencies[block];
        let weight = weight(program, dst, frequency) + weight(program, src, frequency);
        Candidate { inst, block, dst, src, frequency, weight, waits: false }
    };
    let mut candidates: Vec<Candidate> = copies.map(candidate).collect();
    if options.terminal_rule {
        apply_terminal_rule(program, &mut candidates);
    }
    candidates
}

/// Returns the registers of candidates, sorted, each once.
pub(super) fn registers(candidates: &[Candidate]) -> Vec<VReg> {
    let mut registers: Vec<VReg> = candidates.iter().flat_map(|candidate| [candidate.dst, candidate.src]).collect();
    registers.sort_unstable();
    registers.dedup();
    registers
}

/// Returns the weight of a register: the number of its instructions, plus the number of its uses, plus the cost of
/// spilling it. A spill costs a store for each definition and a load for each use, at the frequency of the copy.
fn weight(program: &Program<'_>, reg: VReg, frequency: f64) -> f64 {
    let count = program.count(reg);
    let instructions = f64::from(count.defs + count.uses);
    instructions + f64::from(count.uses) + frequency * instructions
}

/// Whether a block looks like a block on a split edge: it has one successor, and copies are its only pure instructions.
fn is_split_edge(program: &Program<'_>, block: Block) -> bool {
    let function = program.function;
    function.succs(block).len() == 1
        && function
            .block_insts(block)
            .all(|inst| matches!(function.role(inst), Role::Copy | Role::Debug) || !function.effects(inst).is_pure())
}

/// Applies the terminal rule. If one register of a copy is in no other copy, an early merge of the copy gains nothing.
/// If the copy's other register is also in another copy of the block, the copy waits. The other copy has more at stake
/// and is then merged first.
fn apply_terminal_rule(program: &Program<'_>, candidates: &mut [Candidate]) {
    let mut degree: IndexVec<VReg, u32> = IndexVec::filled(0, program.num_regs());
    for candidate in candidates.iter() {
        degree[candidate.dst] += 1;
        degree[candidate.src] += 1;
    }
    // Number of copies of each register in the current block. Only the entries of the block's registers are written,
    // and they are reset after the block.
    let mut in_block: IndexVec<VReg, u32> = IndexVec::filled(0, program.num_regs());
    for copies in candidates.chunk_by_mut(|a, b| a.block == b.block) {
        for candidate in copies.iter() {
            in_block[candidate.dst] += 1;
            in_block[candidate.src] += 1;
        }
        for candidate in copies.iter_mut() {
            let terminal = |reg: VReg, other: VReg| degree[reg] == 1 && in_block[other] > 1;
            candidate.waits = terminal(candidate.dst, candidate.src) || terminal(candidate.src, candidate.dst);
        }
        for candidate in copies.iter() {
            in_block[candidate.dst] = 0;
            in_block[candidate.src] = 0;
        }
    }
}
