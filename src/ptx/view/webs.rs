//! One register of the view for each web.
//!
//! A compiler may use one name for unrelated values. Each set of definitions that reach a common read, a *web*, becomes
//! a separate register of the view. Passes then see the same function as if every value had its own name.

use crate::analysis::{Cfg, Dominators, LiveRanges, Occurrences, Point, ValueDef, ValueNumber};
use crate::disjoint_sets::DisjointSets;
use crate::function::{Function, Inst, OperandFlags, VReg, Value};
use crate::index::{EntityIndex, IndexVec};

/// Gives each web its own register. The first web of a register keeps the register. Returns, for each new register, the
/// register that it was part of. O(n log n) in operands and live blocks.
pub(super) fn split_webs(function: &mut Function) -> Vec<VReg> {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let occurrences = Occurrences::new(function, &|_| true);
    let has_many = |reg: &VReg| occurrences.of(*reg).iter().filter(|occurrence| occurrence.is_def()).count() > 1;
    let registers: Vec<VReg> = function.regs().filter(has_many).collect();
    let live = LiveRanges::new(function, &cfg, &dominators, &occurrences, &registers);
    let mut webs = DisjointSets::new(live.num_values());
    for &reg in &registers {
        join_values(function, &cfg, &live, &occurrences, reg, &mut webs);
    }
    let mut origins = Vec::new();
    let mut register_of: IndexVec<ValueNumber, Option<VReg>> = IndexVec::filled(None, live.num_values());
    for &reg in &registers {
        let mut is_first = true;
        for value in values_of(&live, reg) {
            let web = webs.find(value);
            if register_of[web].is_some() {
                continue;
            }
            register_of[web] = Some(if std::mem::take(&mut is_first) {
                reg
            } else {
                origins.push(reg);
                let data = function.regs[reg].clone();
                function.regs.push(data)
            });
        }
        rename(function, &live, &occurrences, reg, |value| register_of[webs.find(value)]);
    }
    origins
}

fn values_of(live: &LiveRanges, reg: VReg) -> impl Iterator<Item = ValueNumber> + use<> {
    let values = live.values_of(reg);
    (values.start.index()..values.end.index()).map(ValueNumber::new)
}

/// Returns the value that an operand of an instruction defines.
fn value_of_definition(live: &LiveRanges, reg: VReg, inst: Inst) -> Option<ValueNumber> {
    live.value_at(reg, Point::late(inst))
        .filter(|&value| is_made_by(live, value, inst))
        .or_else(|| values_of(live, reg).find(|&value| is_made_by(live, value, inst)))
}

fn is_made_by(live: &LiveRanges, value: ValueNumber, inst: Inst) -> bool {
    matches!(live.value_def(value), ValueDef::Inst { inst: maker, .. } if maker == inst)
}

/// Joins values that meet at the start of a block, values of tied operands, and values that one instruction defines.
fn join_values(
    function: &Function,
    cfg: &Cfg,
    live: &LiveRanges,
    occurrences: &Occurrences,
    reg: VReg,
    webs: &mut DisjointSets<ValueNumber>,
) {
    let mut last: Option<(Inst, ValueNumber)> = None;
    for value in values_of(live, reg) {
        match live.value_def(value) {
            ValueDef::Phi(block) => {
                for &pred in cfg.preds(block) {
                    if let Some(other) = live.live_out_value(function, reg, pred) {
                        webs.unite(value, other);
                    }
                }
            }
            ValueDef::Inst { inst, .. } => {
                if let Some((_, other)) = last.filter(|&(other, _)| other == inst) {
                    webs.unite(value, other);
                }
                last = Some((inst, value));
            }
            ValueDef::Undefined(_) => {}
        }
    }
    for occurrence in occurrences.of(reg).iter().filter(|occurrence| !occurrence.is_def()) {
        let operand = &function.operands(occurrence.inst)[occurrence.operand as usize];
        if operand.tied.is_some()
            && let Some(value) = live.value_at(reg, Point::early(occurrence.inst))
            && let Some(defined) = value_of_definition(live, reg, occurrence.inst)
        {
            webs.unite(value, defined);
        }
    }
}

fn rename(
    function: &mut Function,
    live: &LiveRanges,
    occurrences: &Occurrences,
    reg: VReg,
    mut register_of: impl FnMut(ValueNumber) -> Option<VReg>,
) {
    for occurrence in occurrences.of(reg) {
        let at = (function.operand_start[occurrence.inst.index()] + occurrence.operand) as usize;
        let operand = function.operands[at];
        let is_tied_and_undefined = operand.flags.contains(OperandFlags::UNDEF) && operand.tied.is_some();
        let value = if occurrence.is_def() || is_tied_and_undefined {
            value_of_definition(live, reg, occurrence.inst)
        } else {
            live.value_at(reg, Point::early(occurrence.inst))
        };
        if let Some(new) = value.and_then(&mut register_of) {
            function.operands[at].value = Value::Reg(new);
        }
    }
}
