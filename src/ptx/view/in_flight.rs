//! Registers of asynchronous instructions. They are in use, and may be written, until an instruction waits for them. A
//! wait reads and writes the registers of all asynchronous instructions that may be in flight there.
//!
//! "Accessing the registers … before the wait … is undefined" (PTX ISA, `wgmma.mma_async` and `tcgen05.ld`).
//! Descriptors and predicates are read when the instruction is issued.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::draft::DraftInst;
use crate::function::{Block, Operand, OperandFlags, RegClass, VReg, Value};
use crate::index::EntityIndex;

/// Adds the registers that may be in flight to each wait. `blocks` are the instructions of each block, in order, and
/// `successors` the successors of each. O(instructions + blocks · registers in flight · depth of loops).
pub(super) fn keep_in_flight(
    insts: &mut [DraftInst],
    blocks: &[Range<usize>],
    successors: &[Vec<Block>],
    class_of: impl Fn(VReg) -> RegClass,
) -> Result<(), String> {
    if !insts.iter().any(|inst| inst.is_wait) {
        return Ok(());
    }
    let async_registers = AsyncRegisters::new(insts, class_of);
    let starts = async_registers.at_starts(insts, blocks, successors);
    for (block, mut in_flight) in blocks.iter().zip(starts) {
        for inst in &mut insts[block.clone()] {
            if inst.is_wait {
                let first = inst.operands.len();
                for (at, &reg) in async_registers.registers.iter().enumerate() {
                    if in_flight.has(at) {
                        inst.push(Operand { flags: OperandFlags::DEF | OperandFlags::IMPLICIT, ..Operand::read(reg) });
                    }
                }
                inst.keep_old_values(first)?;
            }
            async_registers.pass(inst, &mut in_flight);
        }
    }
    Ok(())
}

/// The registers that may be in flight, as bits. The position of a bit is the register's number among all registers of
/// asynchronous instructions.
#[derive(Clone)]
struct InFlight {
    /// Registers of groups, which the next wait for all groups completes.
    committed: Vec<u64>,
    /// Registers of instructions outside of groups: not yet in a group, or of a kind without groups. No processor has
    /// both kinds.
    open: Vec<u64>,
}

impl InFlight {
    fn none(registers: usize) -> Self {
        let words = registers.div_ceil(64);
        Self { committed: vec![0; words], open: vec![0; words] }
    }

    fn has(&self, at: usize) -> bool {
        (self.committed[at / 64] | self.open[at / 64]) >> (at % 64) & 1 != 0
    }

    /// Adds the registers of another set. Returns whether any is new.
    fn join(&mut self, other: &Self) -> bool {
        let mut is_new = false;
        let halves = [(&mut self.committed, &other.committed), (&mut self.open, &other.open)];
        for (to, from) in halves.into_iter().flat_map(|(to, from)| to.iter_mut().zip(from)) {
            is_new |= from & !*to != 0;
            *to |= from;
        }
        is_new
    }
}

/// The registers of asynchronous instructions.
struct AsyncRegisters {
    registers: Vec<VReg>,
    numbers: FxHashMap<VReg, usize>,
}

impl AsyncRegisters {
    fn new(insts: &[DraftInst], class_of: impl Fn(VReg) -> RegClass) -> Self {
        let asynchronous = insts.iter().filter(|inst| inst.is_asynchronous);
        let all = asynchronous.flat_map(|inst| &inst.operands).filter_map(|operand| operand.operand.reg());
        let mut registers: Vec<VReg> =
            all.filter(|&reg| !matches!(class_of(reg), RegClass::B1 | RegClass::B64)).collect();
        registers.sort_unstable();
        registers.dedup();
        let numbers = registers.iter().enumerate().map(|(at, &reg)| (reg, at)).collect();
        Self { registers, numbers }
    }

    /// Updates the set from before an instruction to after it.
    fn pass(&self, inst: &DraftInst, in_flight: &mut InFlight) {
        if inst.is_asynchronous {
            for reg in inst.operands.iter().filter_map(|operand| operand.operand.reg()) {
                if let Some(at) = self.numbers.get(&reg) {
                    in_flight.open[at / 64] |= 1 << (at % 64);
                }
            }
        }
        if inst.guard.is_some() {
            return;
        }
        if inst.name.starts_with("wgmma.commit_group") {
            for (committed, open) in in_flight.committed.iter_mut().zip(&mut in_flight.open) {
                *committed |= std::mem::take(open);
            }
        }
        let first = inst.operands.first().map(|operand| operand.operand.value);
        if inst.name.starts_with("wgmma.wait_group") && first == Some(Value::Immediate(0)) {
            in_flight.committed.fill(0);
        }
    }

    /// Returns the registers that may be in flight at the start of each block.
    fn at_starts(&self, insts: &[DraftInst], blocks: &[Range<usize>], successors: &[Vec<Block>]) -> Vec<InFlight> {
        let mut starts = vec![InFlight::none(self.registers.len()); blocks.len()];
        let mut waiting: Vec<usize> = (0..blocks.len()).rev().collect();
        let mut is_waiting = vec![true; blocks.len()];
        while let Some(block) = waiting.pop() {
            is_waiting[block] = false;
            let mut in_flight = starts[block].clone();
            insts[blocks[block].clone()].iter().for_each(|inst| self.pass(inst, &mut in_flight));
            for next in successors[block].iter().map(|next| next.index()) {
                if starts[next].join(&in_flight) && !std::mem::replace(&mut is_waiting[next], true) {
                    waiting.push(next);
                }
            }
        }
        starts
    }
}
