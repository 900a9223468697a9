//! Uniformity: the values that are the same in all threads of a warp.
//!
//! Divergence starts at thread numbers, loads, calls and similar instructions ([`OpcodeInfo::uniformity_of`](crate::target::OpcodeInfo::uniformity_of)). It
//! spreads along data dependences, and from a divergent branch to the joins of the paths that the branch separates
//! ([`sync_dependence`]). The method is that of Karrenberg and Hack, "Improving Performance of OpenCL on CPUs" (2012),
//! and of LLVM's `GenericUniformityInfo`. Both work on SSA form. This analysis uses the values of the live ranges
//! instead, so registers may have several definitions.
//!
//! Guarantee for a uniform value: whenever two threads are at one instruction where the value is live, in the same
//! iteration of each surrounding loop, the two threads hold the same bits. The threads need not have arrived at the
//! instruction together. A value that is undefined in one of the threads matches any value: reading an undefined
//! register is uniform, but branching on it is not.

mod sync_dependence;
#[cfg(test)]
mod tests;

use sync_dependence::SyncDependence;

use super::grouping::Grouping;
use super::{Cfg, Dominators, LiveRanges, Occurrence, Occurrences, Point, ValueDef, ValueNumber};
use crate::function::{Block, Effects, Function, Inst, Operand, Role, VReg, Value};
use crate::index::IndexVec;
use crate::target::{Classification, Purity, Uniformity};

/// How an instruction reacts to a divergent operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaction {
    /// No effect on registers or branches.
    None,
    /// Its results become divergent.
    Propagates,
    /// Its results are divergent in any case.
    Diverges,
    /// Its branch becomes divergent.
    Branches,
}

/// A dependent of a value.
#[derive(Clone, Copy, Debug)]
enum User {
    /// The results of an instruction.
    Inst(Inst),
    /// A value that is made where several values meet.
    Meeting(ValueNumber),
    /// The branch at the end of a block.
    Branch(Block),
}

/// The uniform values and registers of a function, within a warp.
#[derive(Clone, Debug, Default)]
pub struct UniformityInfo {
    is_divergent: IndexVec<ValueNumber, bool>,
    uniform_regs: IndexVec<VReg, bool>,
    divergent_branches: IndexVec<Block, bool>,
    // The other fields are memory for the computation.
    has_phis: bool,
    reactions: IndexVec<Inst, Reaction>,
    /// The register of each value.
    registers: IndexVec<ValueNumber, VReg>,
    users: Grouping<ValueNumber, User>,
    found_users: Vec<(ValueNumber, User)>,
    /// The values that are made at the start of each block in which several values may meet.
    meetings: Grouping<Block, ValueNumber>,
    found_meetings: Vec<(Block, ValueNumber)>,
    sync_dependence: SyncDependence,
    worklist: Vec<ValueNumber>,
    branches: Vec<Block>,
    joins: Vec<Block>,
}

/// Properties of an instruction's register operands.
#[derive(Clone, Copy, Default)]
struct Reads {
    any: bool,
    undefined: bool,
    /// Whether the instruction reads a register without a known live range.
    unknown: bool,
}

impl Reads {
    #[inline]
    fn of(operands: &[Operand], live_ranges: &LiveRanges) -> Self {
        let mut reads = Self::default();
        for operand in operands.iter().filter(|operand| !operand.is_def()) {
            match operand.value {
                Value::Reg(_) if operand.use_reg().is_none() => reads.undefined = true,
                Value::Reg(reg) => {
                    reads.any = true;
                    reads.unknown |= !live_ranges.has(reg);
                }
                Value::Physical(_) => reads.unknown = true,
                _ => {}
            }
        }
        reads
    }
}

/// The inputs of the analysis.
#[derive(Clone, Copy)]
struct Input<'a> {
    function: &'a Function,
    classification: &'a Classification,
    cfg: &'a Cfg,
    dominators: &'a Dominators,
    occurrences: &'a Occurrences,
    live_ranges: &'a LiveRanges,
}

impl UniformityInfo {
    /// Returns the uniformity of the registers of `live_ranges`, which must be computed from the same `occurrences`.
    /// All other registers count as divergent. `in_kernel`: whether the function is a kernel, whose parameters are the
    /// same for all threads. The parameters of other functions may be divergent.
    ///
    /// O(n log n) in the operands; up to 256 times the blocks and edges if regions of divergent branches nest.
    pub fn new(
        (function, classification): (&Function, &Classification),
        cfg: &Cfg,
        dominators: &Dominators,
        occurrences: &Occurrences,
        live_ranges: &LiveRanges,
        in_kernel: bool,
    ) -> Self {
        let mut info = Self::default();
        info.compute((function, classification), cfg, dominators, occurrences, live_ranges, in_kernel);
        info
    }

    /// Computes the uniformity of the registers of `function`.
    pub fn compute(
        &mut self,
        (function, classification): (&Function, &Classification),
        cfg: &Cfg,
        dominators: &Dominators,
        occurrences: &Occurrences,
        live_ranges: &LiveRanges,
        in_kernel: bool,
    ) {
        let input = Input { function, classification, cfg, dominators, occurrences, live_ranges };
        self.reset(function, live_ranges);
        for block in cfg.rpo() {
            self.find_reactions(input, *block, in_kernel);
        }
        for reg in function.regs() {
            self.find_users(input, reg);
        }
        self.users.compute(live_ranges.num_values(), self.found_users.iter().copied());
        self.meetings.compute(function.num_blocks(), self.found_meetings.iter().copied());
        self.propagate(input);
        self.uniform_regs.clear();
        self.uniform_regs.extend(function.regs().map(|reg| {
            let values = live_ranges.values_of(reg);
            values.start < values.end && !self.is_divergent.range(values).contains(&true)
        }));
    }

    /// Whether the register is the same in all threads of a warp wherever it is live. O(1).
    #[inline]
    pub fn is_uniform(&self, reg: VReg) -> bool {
        self.uniform_regs[reg]
    }

    /// Whether the value is the same in all threads of a warp. O(1).
    #[inline]
    pub fn is_uniform_value(&self, value: ValueNumber) -> bool {
        !self.is_divergent[value]
    }

    /// Whether threads of a warp may take different branches at the end of the block. O(1).
    #[inline]
    pub fn is_divergent_branch(&self, block: Block) -> bool {
        self.divergent_branches[block]
    }

    /// Whether the block lies between a divergent branch and the join of its paths. Some threads of a warp may execute
    /// such a block while others do not. O(1).
    #[inline]
    pub fn is_in_divergent_region(&self, block: Block) -> bool {
        self.sync_dependence.is_in_region(block)
    }

    fn reset(&mut self, function: &Function, live_ranges: &LiveRanges) {
        self.has_phis = function.has_phis();
        self.is_divergent.clear();
        self.is_divergent.resize(live_ranges.num_values(), false);
        self.divergent_branches.clear();
        self.divergent_branches.resize(function.num_blocks(), false);
        self.reactions.clear();
        self.reactions.resize(function.num_insts(), Reaction::None);
        self.registers.clear();
        self.registers.resize(live_ranges.num_values(), VReg(0));
        self.found_users.clear();
        self.found_meetings.clear();
        self.sync_dependence.reset();
        self.worklist.clear();
        self.branches.clear();
        self.joins.clear();
    }

    /// Computes the reactions of a block's instructions, before any value is known to be divergent. The condition of
    /// the block's branch consists of the registers that its terminators read. A branch that reads no register counts
    /// as divergent.
    fn find_reactions(&mut self, input: Input<'_>, block: Block, in_kernel: bool) {
        let Input { function, classification, live_ranges, .. } = input;
        let branches = function.succs(block).len() > 1;
        let (mut reads, mut is_divergent) = (false, false);
        for inst in function.block_insts(block) {
            let operands = function.operands(inst);
            let defines = operands.iter().any(|operand| operand.def().is_some());
            if branches && function.effects(inst).contains(Effects::TERMINATOR) {
                let of_inst = Reads::of(operands, live_ranges);
                self.reactions[inst] = if defines { Reaction::Diverges } else { Reaction::Branches };
                reads |= of_inst.any;
                is_divergent |= defines || of_inst.undefined || of_inst.unknown;
                is_divergent |= classification.of(function, inst).purity != Purity::Terminator;
            } else if defines {
                self.reactions[inst] = match classification.of(function, inst).uniformity_of(function, inst, in_kernel)
                {
                    Uniformity::Uniform => Reaction::None,
                    Uniformity::Propagates if Reads::of(operands, live_ranges).unknown => Reaction::Diverges,
                    Uniformity::Propagates => Reaction::Propagates,
                    Uniformity::Divergent => Reaction::Diverges,
                };
            }
        }
        if branches && (is_divergent || !reads) {
            self.branch_diverges(block);
        }
    }

    /// Finds the dependents of a register's values, and those values that are made at joins. If the register has one
    /// value and only ordinary instructions read it, the dependents are not stored. Its occurrences list the
    /// dependents, and are read when the value diverges.
    fn find_users(&mut self, input: Input<'_>, reg: VReg) {
        let Input { function, cfg, live_ranges, occurrences, .. } = input;
        let values = live_ranges.values_of(reg);
        let has_one = values.end.0 - values.start.0 == 1;
        let occurrences = if has_one && !self.has_phis { &[] } else { occurrences.of(reg) };
        let is_found = |occurrence: &&Occurrence| (!has_one || occurrence.is_phi) && occurrence.is_use();
        for occurrence in occurrences.iter().filter(is_found) {
            let Some(user) = self.user_at(occurrence) else { continue };
            // A read where the register is not live would be an error in the view.
            match value_read(function, live_ranges, reg, occurrence) {
                Some(value) => self.found_users.push((value, user)),
                None => self.user_diverges(input, user),
            }
        }
        for value in (values.start.0..values.end.0).map(ValueNumber) {
            self.registers[value] = reg;
            match live_ranges.value_def(value) {
                ValueDef::Inst { inst, .. } if self.reactions[inst] == Reaction::Diverges => self.value_diverges(value),
                ValueDef::Inst { inst, .. } if self.has_phis && function.role(inst) == Role::Phi => {
                    self.found_meetings.push((function.block_of(inst), value));
                }
                ValueDef::Phi(block) => {
                    self.found_meetings.push((block, value));
                    let arriving = cfg.preds(block).iter();
                    let arriving = arriving.filter_map(|&pred| live_ranges.live_out_value(function, reg, pred));
                    self.found_users.extend(arriving.map(|arrives| (arrives, User::Meeting(value))));
                }
                ValueDef::Inst { .. } | ValueDef::Undefined(_) => {}
            }
        }
    }

    /// Returns the dependent of a value that is read at an occurrence. `None` if divergence of the value changes
    /// nothing.
    fn user_at(&self, occurrence: &Occurrence) -> Option<User> {
        match self.reactions[occurrence.inst] {
            Reaction::Propagates => Some(User::Inst(occurrence.inst)),
            Reaction::Branches => Some(User::Branch(occurrence.block)),
            Reaction::None | Reaction::Diverges => None,
        }
    }

    /// Makes the dependents of a divergent value divergent.
    fn tell_users(&mut self, input: Input<'_>, value: ValueNumber) {
        for at in 0..self.users.of(value).len() {
            self.user_diverges(input, self.users.of(value)[at]);
        }
        let reg = self.registers[value];
        let values = input.live_ranges.values_of(reg);
        if values.end.0 - values.start.0 == 1 {
            let reads = input.occurrences.of(reg).iter();
            for occurrence in reads.filter(|occurrence| occurrence.is_use() && !occurrence.is_phi) {
                if let Some(user) = self.user_at(occurrence) {
                    self.user_diverges(input, user);
                }
            }
        }
    }

    fn propagate(&mut self, input: Input<'_>) {
        loop {
            if let Some(value) = self.worklist.pop() {
                self.tell_users(input, value);
            } else if let Some(branch) = self.branches.pop() {
                let Input { function, cfg, dominators, .. } = input;
                self.sync_dependence.diverge(function, cfg, dominators, branch, &mut self.joins);
                while let Some(join) = self.joins.pop() {
                    for at in 0..self.meetings.of(join).len() {
                        self.value_diverges(self.meetings.of(join)[at]);
                    }
                }
            } else {
                return;
            }
        }
    }

    fn user_diverges(&mut self, input: Input<'_>, user: User) {
        match user {
            User::Inst(inst) => self.inst_diverges(input, inst),
            User::Meeting(value) => self.value_diverges(value),
            User::Branch(block) => self.branch_diverges(block),
        }
    }

    fn value_diverges(&mut self, value: ValueNumber) {
        if !std::mem::replace(&mut self.is_divergent[value], true) {
            self.worklist.push(value);
        }
    }

    fn branch_diverges(&mut self, block: Block) {
        if !std::mem::replace(&mut self.divergent_branches[block], true) {
            self.branches.push(block);
        }
    }

    fn inst_diverges(&mut self, input: Input<'_>, inst: Inst) {
        if std::mem::replace(&mut self.reactions[inst], Reaction::Diverges) == Reaction::Diverges {
            return;
        }
        let Input { function, live_ranges, .. } = input;
        let point = match function.role(inst) {
            Role::Phi => Point::block_start(function, function.block_of(inst)),
            _ => Point::late(inst),
        };
        for reg in function.operands(inst).iter().filter_map(|operand| operand.def()) {
            if let Some(value) = value_at(live_ranges, reg, point) {
                self.value_diverges(value);
            }
        }
    }
}

/// Returns the value that an occurrence reads. A PHI reads at the end of a predecessor.
fn value_read(
    function: &Function,
    live_ranges: &LiveRanges,
    reg: VReg,
    occurrence: &Occurrence,
) -> Option<ValueNumber> {
    if !occurrence.is_phi {
        return value_at(live_ranges, reg, Point::early(occurrence.inst));
    }
    match function.operands(occurrence.inst).get(occurrence.operand as usize + 1)?.value {
        Value::Block(pred) => live_ranges.live_out_value(function, reg, pred),
        _ => None,
    }
}

/// Returns the value of a register at a point where it is live. Most registers have one value.
#[inline]
fn value_at(live_ranges: &LiveRanges, reg: VReg, point: Point) -> Option<ValueNumber> {
    let values = live_ranges.values_of(reg);
    if values.end.0 - values.start.0 == 1 { Some(values.start) } else { live_ranges.value_at(reg, point) }
}
