//! Value numbers that stand for equal bits, as far as copies, equal constants and meetings of equal values show. A
//! *meeting* is the value of a register at a block at which several values arrive, like a PHI.
//!
//! The coalescer's own [`values`](crate::coalesce::values) follow copies and constants. Here, a meeting of equal values is
//! also that value, even around loops. Two registers with equal meetings in one block hold the same value. This is
//! optimistic global value numbering, limited to copies and meetings (Alpern, Wegman and Zadeck 1988). So the bound on
//! copies holds for any coalescer that uses no more information.

use std::collections::HashMap;

use crate::analysis::{Cfg, LiveRanges, Point, ValueDef, ValueNumber};
use crate::coalesce::program::Program;
use crate::function::{Block, Inst, Opcode, Role, VReg, Value};
use crate::index::{EntityIndex, IndexVec};

/// Representative of each value number.
#[derive(Debug)]
pub(super) struct Numbering {
    roots: IndexVec<ValueNumber, ValueNumber>,
    constants: IndexVec<ValueNumber, Option<Inst>>,
}

/// Origin of a value.
enum Rule {
    /// The value equals no other.
    Own,
    Constant(Inst),
    Copy(ValueNumber),
    Meeting(Block, Vec<ValueNumber>),
}

impl Numbering {
    /// Numbers the values of `wanted` registers. Each meeting is first assumed to equal the value that reaches it
    /// first. If this is wrong, the meeting becomes a value of its own, and all numbers are computed again. Each
    /// computation is linear in values and meetings, and a few computations are enough.
    pub(super) fn new(program: &Program<'_>, cfg: &Cfg, ranges: &LiveRanges, wanted: &[VReg]) -> Self {
        let mut rules: Vec<(u32, u32, ValueNumber, Rule)> = Vec::with_capacity(ranges.num_values());
        let mut constants = IndexVec::filled(None, ranges.num_values());
        for &reg in wanted {
            let values = ranges.values_of(reg);
            for value in (values.start.0..values.end.0).map(ValueNumber) {
                let (block, place, rule) = rule(program, cfg, ranges, reg, value);
                if let Rule::Constant(inst) = rule {
                    constants[value] = Some(inst);
                }
                rules.push((cfg.rpo_number(block).unwrap_or(u32::MAX), place, value, rule));
            }
        }
        rules.sort_unstable_by_key(|&(order, place, value, _)| (order, place, value));
        // Meetings that are values of their own, grouped by possible equality.
        let mut groups: IndexVec<ValueNumber, Option<Group>> = IndexVec::filled(None, ranges.num_values());
        let mut numbers = number(program, &rules, &groups);
        while split_groups(&rules, &numbers, &mut groups) {
            numbers = number(program, &rules, &groups);
        }
        let roots = numbers.iter_enumerated().map(|(value, number)| number.unwrap_or(value)).collect();
        Self { roots, constants }
    }

    /// Returns the representative of a value: all equal values have the same one.
    pub(super) fn root(&self, value: ValueNumber) -> ValueNumber {
        self.roots[value]
    }

    /// Returns the definition of the constant that a value originates from.
    pub(super) fn constant(&self, value: ValueNumber) -> Option<Inst> {
        self.constants[self.roots[value]]
    }
}

/// A group of meetings in one block that may have the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Group {
    /// Meetings of a block that are not known to differ.
    All(Block),
    /// Meetings that equal this meeting.
    Like(ValueNumber),
}

/// Numbers the values in one pass in reverse postorder. Each value is numbered before its uses, except around loops.
fn number(
    program: &Program<'_>,
    rules: &[(u32, u32, ValueNumber, Rule)],
    groups: &IndexVec<ValueNumber, Option<Group>>,
) -> IndexVec<ValueNumber, Option<ValueNumber>> {
    let mut numbers = IndexVec::filled(None, groups.len());
    let mut constants: HashMap<(Opcode, Value), ValueNumber> = HashMap::new();
    let mut firsts: HashMap<Group, ValueNumber> = HashMap::new();
    for (_, _, value, rule) in rules {
        numbers[*value] = match (rule, groups[*value]) {
            (_, Some(group)) => Some(*firsts.entry(group).or_insert(*value)),
            (Rule::Own, _) => Some(*value),
            (Rule::Copy(source), _) => numbers[*source],
            (Rule::Constant(inst), _) => {
                let key = (program.function.opcode(*inst), constant(program, *inst));
                Some(*constants.entry(key).or_insert(*value))
            }
            (Rule::Meeting(_, sources), _) => sources.iter().find_map(|&source| numbers[source]),
        };
    }
    numbers
}

/// Separates meetings that differ according to the numbers: a meeting from its assumed value, or two meetings of a
/// group from each other. Returns whether it separated any.
fn split_groups(
    rules: &[(u32, u32, ValueNumber, Rule)],
    numbers: &IndexVec<ValueNumber, Option<ValueNumber>>,
    groups: &mut IndexVec<ValueNumber, Option<Group>>,
) -> bool {
    let mut changed = false;
    let mut firsts: HashMap<(Group, Vec<Option<ValueNumber>>), ValueNumber> = HashMap::new();
    for (_, _, value, rule) in rules {
        let Rule::Meeting(block, sources) = rule else { continue };
        if let Some(group) = groups[*value] {
            let meeting = sources.iter().map(|&source| numbers[source]).collect();
            let first = *firsts.entry((group, meeting)).or_insert(*value);
            // All meetings of a group have the number of the group's first meeting. Those that equal the first one stay
            // in the group.
            if numbers[*value] != Some(first) {
                groups[*value] = Some(Group::Like(first));
                changed = true;
            }
        } else if sources.iter().any(|&source| numbers[source] != numbers[*value]) {
            groups[*value] = Some(Group::All(*block));
            changed = true;
        }
    }
    changed
}

/// Returns the origin of a value: its block, its position in the block, and how it is computed.
fn rule(program: &Program<'_>, cfg: &Cfg, ranges: &LiveRanges, reg: VReg, value: ValueNumber) -> (Block, u32, Rule) {
    let function = program.function;
    match ranges.value_def(value) {
        ValueDef::Inst { inst, .. } => {
            let rule = if let Some(of) = program.constant_definition(inst) {
                if matches!(function.operands(of), [_, _]) { Rule::Constant(of) } else { Rule::Own }
            } else if function.role(inst) == Role::Copy {
                let source = program.as_copy(inst).and_then(|(_, src)| ranges.value_at(src, Point::early(inst)));
                source.map_or(Rule::Own, Rule::Copy)
            } else {
                Rule::Own
            };
            (function.block_of(inst), inst.index() as u32 + 1, rule)
        }
        ValueDef::Phi(block) if cfg.is_reachable(block) => {
            // Unreachable predecessors contribute no value.
            let preds = cfg.preds(block).iter().filter(|&&pred| cfg.is_reachable(pred));
            let sources: Option<Vec<ValueNumber>> =
                preds.map(|&pred| ranges.live_out_value(function, reg, pred)).collect();
            (block, 0, sources.map_or(Rule::Own, |sources| Rule::Meeting(block, sources)))
        }
        ValueDef::Phi(block) | ValueDef::Undefined(block) => (block, 0, Rule::Own),
    }
}

/// Returns the value that a definition of a constant writes.
fn constant(program: &Program<'_>, definition: Inst) -> Value {
    program.function.operands(definition)[1].value
}
