//! The function as it stands after the merges and deletions decided so far.
//!
//! Edits are not applied between rounds: registers are looked up through a union-find, and each instruction has a fate.
//! Instruction numbers, and with them all program points, stay those of the view.

use std::cell::RefCell;

use super::report::Report;
use crate::config::Config;
use crate::disjoint_sets::DisjointSets;
use crate::function::{Block, Function, Inst, Operand, Role, VReg, Value};
use crate::index::{EntityIndex, IndexVec};
use crate::target::Classification;

/// What becomes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays.
    Keep,
    /// It goes, and the register holds what it would have written: a merged copy, a constant that was there already.
    Delete,
    /// It goes because nobody reads what it writes.
    Dead,
    /// A copy that becomes a clone of this constant's definition.
    Constant(Inst),
    /// A debug value whose register does not hold the variable any more: it has this value, or is unknown.
    Variable(Value),
}

/// How a register is written and read, debug values aside. Counts are of the view and not kept up to date by merges.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) defs: u32,
    pub(crate) uses: u32,
    /// An instruction that writes it; the only one where `defs` is 1, unless it has been deleted.
    pub(crate) def: u32,
    lost: DeadValue,
}

/// What the definitions wrote that went because nobody read them: debug values may still describe it.
#[derive(Clone, Copy, Debug, Default)]
enum DeadValue {
    #[default]
    Nothing,
    /// The constant that this instruction of the view defines.
    Constant(Inst),
    /// Something else, or several things.
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

/// The function with the decisions taken so far.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    pub(crate) function: &'a Function,
    pub(crate) classification: &'a Classification,
    pub(crate) options: &'a Config,
    pub(crate) report: Report,
    /// The copies of the view, in layout order.
    copies: Vec<(Block, Inst)>,
    counts: IndexVec<VReg, Count>,
    fates: IndexVec<Inst, Fate>,
    merged: RefCell<DisjointSets<VReg>>,
    pub(crate) merges: usize,
}

impl<'a> Program<'a> {
    /// The function as it is. One pass over the operands.
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

    /// The number of registers of the view.
    pub(crate) fn num_regs(&self) -> usize {
        self.function.num_regs()
    }

    /// The register that a register has been merged into: itself where it has not.
    pub(crate) fn find(&self, reg: VReg) -> VReg {
        self.merged.borrow_mut().find(reg)
    }

    /// The register of an operand as it stands now: none where the instruction is deleted, where nothing is read, or
    /// where a replaced copy reads its source no more.
    pub(crate) fn register(&self, inst: Inst, operand: &Operand) -> Option<VReg> {
        let reg = operand.reg()?;
        match self.fates[inst] {
            Fate::Delete | Fate::Dead | Fate::Variable(_) => None,
            Fate::Constant(_) if !operand.is_def() => None,
            _ => Some(self.find(reg)),
        }
    }

    /// Merges two roots; the lower register stays, so that names do not depend on the order of merging.
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

    /// How often a root is written and read.
    pub(crate) fn count(&self, reg: VReg) -> Count {
        self.counts[reg]
    }

    /// The instruction that alone writes a root: none where there are more, where none does, or where that is not
    /// known.
    pub(crate) fn single_definition(&self, reg: VReg) -> Option<Inst> {
        let count = self.counts[reg];
        let def = Inst::new(count.def as usize);
        // Of several definitions the one remembered may be the one that went.
        (count.defs == 1 && !self.is_deleted(def)).then_some(def)
    }

    /// What becomes of an instruction.
    pub(crate) fn fate(&self, inst: Inst) -> Fate {
        self.fates[inst]
    }

    /// Whether an instruction goes.
    pub(crate) fn is_deleted(&self, inst: Inst) -> bool {
        matches!(self.fates[inst], Fate::Delete | Fate::Dead)
    }

    /// Deletes an instruction whose register holds the value it writes without it.
    pub(crate) fn delete(&mut self, inst: Inst) {
        self.remove(inst, Fate::Delete, DeadValue::Nothing);
    }

    /// Deletes an instruction whose value nobody reads: the constant that an instruction of the view defines, if it is
    /// one.
    pub(crate) fn delete_dead(&mut self, inst: Inst, constant: Option<Inst>) {
        self.remove(inst, Fate::Dead, constant.map_or(DeadValue::Unknown, DeadValue::Constant));
    }

    /// What an instruction that goes wrote and read counts no more.
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

    /// What a register that nothing writes any more would hold, as a debug value describes it. None where something
    /// writes it.
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

    /// A debug value has this value from here on, or none, where it is not of a kind that numbers fit into.
    pub(crate) fn set_variable(&mut self, inst: Inst, value: Value) {
        self.fates[inst] = Fate::Variable(self.function.describable(inst, value));
    }

    /// A copy as it stands now, `(definition, source)`: none for anything else, a merged copy included.
    pub(crate) fn as_copy(&self, inst: Inst) -> Option<(VReg, VReg)> {
        if self.fates[inst] != Fate::Keep {
            return None;
        }
        let (dst, src) = self.function.as_copy(inst)?;
        if self.function.class(dst).is_left_to_llvm() {
            return None;
        }
        // Operands beyond the two (an implicit register, say) make it more than a copy; a read of an undefined value
        // copies nothing.
        if self.function.operands(inst).len() != 2 || self.function.operands(inst)[1].use_reg().is_none() {
            return None;
        }
        let (dst, src) = (self.find(dst), self.find(src));
        (dst != src).then_some((dst, src))
    }

    /// The copies that stand: in layout order, with their blocks, definitions and sources.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (Block, Inst, VReg, VReg)> {
        self.copies.iter().filter_map(|&(block, inst)| {
            let (dst, src) = self.as_copy(inst)?;
            Some((block, inst, dst, src))
        })
    }

    /// The definition that an instruction makes a constant by: itself, or the one that a replaced copy became.
    pub(crate) fn constant_definition(&self, inst: Inst) -> Option<Inst> {
        match self.fates[inst] {
            Fate::Constant(of) => Some(of),
            Fate::Keep if self.function.role(inst) == Role::Constant => Some(inst),
            _ => None,
        }
    }
}
