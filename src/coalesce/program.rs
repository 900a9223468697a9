//! The function with the merges and deletions so far.
//!
//! Edits are not applied between rounds. Instead, registers are looked up through a union-find structure, and each
//! instruction has a fate. Instruction numbers and program points stay those of the view.

use std::cell::RefCell;

use super::report::Report;
use crate::config::Config;
use crate::disjoint_sets::DisjointSets;
use crate::function::{Block, Function, Inst, Operand, Role, VReg, Value};
use crate::index::{EntityIndex, IndexVec};
use crate::target::Classification;

/// Fate of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The instruction stays.
    Keep,
    /// The instruction is removed, because its register already holds the result: it is a merged copy, or writes a
    /// constant that the register already holds.
    Delete,
    /// The instruction is removed, because its result is never read.
    Dead,
    /// The copy becomes a clone of this constant's definition.
    Constant(Inst),
    /// The debug value's register no longer holds its variable. The variable now has this value, or is unknown.
    Variable(Value),
}

/// Number of writes and reads of a root, except in debug values. A merge adds the counts of both roots, and the removal
/// of an instruction subtracts its operands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) defs: u32,
    pub(crate) uses: u32,
    /// An instruction that writes the root. If `defs` is 1, it is the only one, unless it is deleted.
    pub(crate) def: u32,
    lost: DeadValue,
}

/// Value of the definitions of a root that were removed because they were never read. Debug values may still describe
/// this value.
#[derive(Clone, Copy, Debug, Default)]
enum DeadValue {
    #[default]
    Nothing,
    /// The constant defined by this instruction of the view.
    Constant(Inst),
    /// Another value, or several values.
    Unknown,
}

impl DeadValue {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (lost, Self::Nothing) | (Self::Nothing, lost) => lost,
            _ => Self::Unknown,
        }
    }
}

/// A function with the decisions so far.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    pub(crate) function: &'a Function,
    pub(crate) classification: &'a Classification,
    pub(crate) options: &'a Config,
    pub(crate) report: Report,
    /// Copies of the view, in layout order, including those that are no longer copies.
    copies: Vec<(Block, Inst)>,
    counts: IndexVec<VReg, Count>,
    fates: IndexVec<Inst, Fate>,
    merged: RefCell<DisjointSets<VReg>>,
    pub(crate) merges: usize,
}

impl<'a> Program<'a> {
    /// Creates the program of an unchanged function. One pass over the operands.
    pub(crate) fn new(function: &'a Function, classification: &'a Classification, options: &'a Config) -> Self {
        let mut counts = IndexVec::filled(Count::default(), function.num_regs());
        let mut copies = Vec::new();
        for (block, inst) in function.blocks().flat_map(|block| function.block_insts(block).map(move |i| (block, i))) {
            match function.role(inst) {
                Role::Debug => continue,
                Role::Copy => copies.push((block, inst)),
                _ => {}
            }
            for operand in function.operands(inst) {
                let Some(reg) = operand.reg() else { continue };
                let count: &mut Count = &mut counts[reg];
                if operand.is_def() {
                    count.defs += 1;
                    count.def = inst.0;
                } else {
                    count.uses += 1;
                }
            }
        }
        Self {
            function,
            classification,
            options,
            report: Report::default(),
            copies,
            counts,
            fates: IndexVec::filled(Fate::Keep, function.num_insts()),
            merged: RefCell::new(DisjointSets::new(function.num_regs())),
            merges: 0,
        }
    }

    /// Returns the number of registers of the view.
    pub(crate) fn num_regs(&self) -> usize {
        self.function.num_regs()
    }

    /// Returns the register into which a register has been merged; itself if it has not been merged.
    pub(crate) fn find(&self, reg: VReg) -> VReg {
        self.merged.borrow_mut().find(reg)
    }

    /// Returns the current register of an operand. `None` if the operand is no register, if the instruction is removed,
    /// or if the operand is the source of a copy that became a constant.
    pub(crate) fn register(&self, inst: Inst, operand: &Operand) -> Option<VReg> {
        let reg = operand.reg()?;
        match self.fates[inst] {
            Fate::Delete | Fate::Dead | Fate::Variable(_) => None,
            Fate::Constant(_) if !operand.is_def() => None,
            _ => Some(self.find(reg)),
        }
    }

    /// Merges two roots. The register with the lower number stays the root, so that names do not depend on the order of
    /// merges.
    pub(crate) fn merge(&mut self, a: VReg, b: VReg) -> VReg {
        let (into, from) = if a < b { (a, b) } else { (b, a) };
        self.merged.borrow_mut().unite(into, from);
        let other = self.counts[from];
        let count = &mut self.counts[into];
        if count.defs == 0 {
            count.def = other.def;
        }
        count.defs += other.defs;
        count.uses += other.uses;
        count.lost = count.lost.and(other.lost);
        self.merges += 1;
        into
    }

    /// Whether the limit of merges is reached.
    pub(crate) fn is_out_of_merges(&self) -> bool {
        self.options.coalesce_limit != 0 && self.merges >= self.options.coalesce_limit as usize
    }

    /// Returns the number of writes and reads of a root.
    pub(crate) fn count(&self, reg: VReg) -> Count {
        self.counts[reg]
    }

    /// Returns the only instruction that writes a root. `None` if there is no such instruction, if there are several,
    /// or if the recorded instruction is deleted.
    pub(crate) fn single_definition(&self, reg: VReg) -> Option<Inst> {
        let count = self.counts[reg];
        let def = Inst::new(count.def as usize);
        // The recorded definition may be deleted if there were several.
        (count.defs == 1 && !self.is_deleted(def)).then_some(def)
    }

    /// Returns the fate of an instruction.
    pub(crate) fn fate(&self, inst: Inst) -> Fate {
        self.fates[inst]
    }

    /// Whether an instruction is removed.
    pub(crate) fn is_deleted(&self, inst: Inst) -> bool {
        matches!(self.fates[inst], Fate::Delete | Fate::Dead)
    }

    /// Deletes an instruction whose register already holds its result.
    pub(crate) fn delete(&mut self, inst: Inst) {
        self.remove(inst, Fate::Delete, DeadValue::Nothing);
    }

    /// Deletes an instruction whose result is never read. If the instruction writes a constant, `constant` is the
    /// instruction of the view that defines this constant.
    pub(crate) fn delete_dead(&mut self, inst: Inst, constant: Option<Inst>) {
        self.remove(inst, Fate::Dead, constant.map_or(DeadValue::Unknown, DeadValue::Constant));
    }

    /// Removes an instruction, and subtracts its writes and reads.
    fn remove(&mut self, inst: Inst, fate: Fate, lost: DeadValue) {
        for operand in self.function.operands(inst) {
            let Some(reg) = self.register(inst, operand) else { continue };
            let count = &mut self.counts[reg];
            if operand.is_def() {
                count.defs -= 1;
                count.lost = count.lost.and(lost);
            } else {
                count.uses -= 1;
            }
        }
        self.fates[inst] = fate;
    }

    /// Makes a copy a clone of a constant's definition.
    pub(crate) fn make_constant(&mut self, copy: Inst, of: Inst) {
        for operand in self.function.operands(copy) {
            if operand.is_def() {
                continue;
            }
            if let Some(reg) = self.register(copy, operand) {
                self.counts[reg].uses -= 1;
            }
        }
        self.fates[copy] = Fate::Constant(of);
        self.report.rematerialised.push((copy, of));
    }

    /// Returns the value that debug values show for a register that is no longer written. `None` if an instruction
    /// still writes the register.
    pub(crate) fn lost_value(&self, reg: VReg) -> Option<Value> {
        let count = self.counts[self.find(reg)];
        if count.defs != 0 {
            return None;
        }
        Some(if let DeadValue::Constant(constant) = count.lost {
            self.function.described_constant(constant)
        } else {
            Value::NoReg
        })
    }

    /// Sets the value that a debug value shows. The variable becomes unknown if the value cannot be described in a
    /// debug value of this kind.
    pub(crate) fn set_variable(&mut self, inst: Inst, value: Value) {
        self.fates[inst] = Fate::Variable(self.function.describable(inst, value));
    }

    /// Returns a copy in its current form, `(definition, source)`. `None` for all other instructions, including merged
    /// copies.
    pub(crate) fn as_copy(&self, inst: Inst) -> Option<(VReg, VReg)> {
        if self.fates[inst] != Fate::Keep {
            return None;
        }
        let (dst, src) = self.function.as_copy(inst)?;
        if self.function.class(dst).is_left_to_llvm() {
            return None;
        }
        // An instruction with more operands, for example an implicit register, does more than copy. A read of an
        // undefined value copies nothing.
        if self.function.operands(inst).len() != 2 || self.function.operands(inst)[1].use_reg().is_none() {
            return None;
        }
        let (dst, src) = (self.find(dst), self.find(src));
        (dst != src).then_some((dst, src))
    }

    /// Returns the remaining copies in layout order, with their blocks, definitions and sources.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (Block, Inst, VReg, VReg)> {
        self.copies.iter().filter_map(|&(block, inst)| {
            let (dst, src) = self.as_copy(inst)?;
            Some((block, inst, dst, src))
        })
    }

    /// Returns the definition of the constant that an instruction writes: the instruction itself, or the definition of
    /// which the copy became a clone. `None` if the instruction writes no constant.
    pub(crate) fn constant_definition(&self, inst: Inst) -> Option<Inst> {
        match self.fates[inst] {
            Fate::Constant(of) => Some(of),
            Fate::Keep if self.function.role(inst) == Role::Constant => Some(inst),
            _ => None,
        }
    }
}
