//! Copies and constants whose value reaches no instruction other than a copy.

use crate::analysis::{Cfg, LiveRanges, Occurrences, Point, ValueDef, ValueNumber};
use crate::coalesce::program::Program;
use crate::function::{Inst, VReg};
use crate::index::{EntityIndex, IndexVec};

/// Returns the copies and constants whose value is not needed, sorted. A value is not needed if it has no reads, or if
/// only copies whose own value is not needed read it. Only the reads in the given occurrences count. Linear in
/// occurrences, values and control-flow merges.
pub(super) fn useless_definitions(
    program: &Program<'_>,
    cfg: &Cfg,
    (occurrences, ranges): &(Occurrences, LiveRanges),
    wanted: &[VReg],
) -> Vec<Inst> {
    let function = program.function;
    let mut owner = IndexVec::filled(VReg(0), ranges.num_values());
    let mut todo: Vec<ValueNumber> = Vec::new();
    let mut reads_of_copies = IndexVec::filled(None, function.num_insts());
    for &reg in wanted {
        let values = ranges.values_of(reg);
        (values.start.index()..values.end.index()).for_each(|value| owner[ValueNumber::new(value)] = reg);
        for occurrence in occurrences.of(reg).iter().filter(|occurrence| occurrence.is_use()) {
            let value = ranges.value_at(reg, Point::early(occurrence.inst));
            if program.as_copy(occurrence.inst).is_some() {
                reads_of_copies[occurrence.inst] = value;
            } else {
                todo.extend(value);
            }
        }
    }
    let mut is_needed = IndexVec::filled(false, ranges.num_values());
    while let Some(value) = todo.pop() {
        if std::mem::replace(&mut is_needed[value], true) {
            continue;
        }
        match ranges.value_def(value) {
            ValueDef::Inst { inst, .. } => todo.extend(reads_of_copies[inst]),
            ValueDef::Phi(block) => {
                let at_end = |&pred| ranges.live_out_value(function, owner[value], pred);
                todo.extend(cfg.preds(block).iter().filter_map(at_end));
            }
            ValueDef::Undefined(_) => {}
        }
    }
    let is_plain = |inst| program.as_copy(inst).is_some() || program.constant_definition(inst).is_some();
    let mut useless: Vec<Inst> = Vec::new();
    for &reg in wanted {
        let writes = occurrences.of(reg).iter().filter(|occurrence| occurrence.is_def() && is_plain(occurrence.inst));
        let is_useless = |inst: &Inst| ranges.value_at(reg, Point::late(*inst)).is_none_or(|value| !is_needed[value]);
        useless.extend(writes.map(|occurrence| occurrence.inst).filter(is_useless));
    }
    useless.sort_unstable();
    useless
}
