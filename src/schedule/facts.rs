//! Analyses that all regions of a function share.

use std::collections::BTreeSet;

use crate::analysis::{Cfg, Dominators, LiveRanges, Occurrences};
use crate::function::{Effects, Function, Inst, Operand, Role, VReg, Value};
use crate::target::{Asynchrony, Classification, Purity, asynchrony, is_fragment};

/// Analyses of a function, shared by its regions.
pub(super) struct Facts<'a> {
    /// The function, out of SSA form.
    pub(super) function: &'a Function,
    /// Where its registers are live.
    pub(super) live: LiveRanges,
    /// The physical registers that some instruction writes.
    written_physical: BTreeSet<u32>,
    /// The registers that asynchronous instructions write.
    asynchronous: Vec<VReg>,
    /// The registers of the fragments that asynchronous instructions access.
    fragments: Vec<VReg>,
    classification: &'a Classification,
}

impl<'a> Facts<'a> {
    /// O(n log n) in the operands and the blocks that registers are live into.
    pub(super) fn new(function: &'a Function, classification: &'a Classification) -> Self {
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let occurrences = Occurrences::new(function, &|_| true);
        let all: Vec<VReg> = function.regs().collect();
        let live = LiveRanges::new(function, &cfg, &dominators, &occurrences, &all);
        let mut written_physical = BTreeSet::new();
        for inst in function.insts() {
            written_physical.extend(function.operands(inst).iter().filter_map(|operand| match operand.value {
                Value::Physical(reg) if operand.is_def() => Some(reg),
                _ => None,
            }));
        }
        let operands: Vec<&Operand> = function
            .insts()
            .filter(|&inst| asynchrony(function, inst) == Some(Asynchrony::Starts))
            .flat_map(|inst| function.operands(inst))
            .collect();
        let unique = |registers: BTreeSet<VReg>| registers.into_iter().collect();
        let asynchronous = unique(operands.iter().filter_map(|operand| operand.def()).collect());
        let fragments = operands.iter().filter(|operand| is_fragment(function, operand));
        let fragments = unique(fragments.filter_map(|operand| operand.reg()).collect());
        Self { function, live, written_physical, asynchronous, fragments, classification }
    }

    /// Returns the effects of an instruction as the checker sees them. If any instruction writes a physical register,
    /// all instructions that access the register keep their order with all others, because the view does not follow
    /// values through physical registers.
    pub(super) fn effects(&self, inst: Inst) -> Effects {
        let effects = self.function.effects(inst);
        let is_opaque = matches!(self.function.role(inst), Role::Spill | Role::Reload)
            || self.function.operands(inst).iter().any(|operand| match operand.value {
                Value::Physical(reg) => operand.is_def() || self.written_physical.contains(&reg),
                _ => false,
            });
        if is_opaque { effects | Effects::OPAQUE } else { effects }
    }

    /// Returns the registers whose accesses may not cross an instruction. After an instruction that waits for
    /// asynchronous instructions, their results are available, so readers stay after it. If an instruction orders
    /// accesses to fragments, writers of the fragments stay before it.
    pub(super) fn settled_by(&self, inst: Inst) -> &[VReg] {
        if self.fragments.is_empty() {
            return &[];
        }
        match asynchrony(self.function, inst) {
            Some(Asynchrony::Waits) => &self.asynchronous,
            Some(Asynchrony::Orders) => &self.fragments,
            _ => &[],
        }
    }

    /// Returns the purity of an instruction's opcode.
    pub(super) fn purity(&self, inst: Inst) -> Purity {
        self.classification.of(self.function, inst).purity
    }
}
