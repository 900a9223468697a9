//! Which value numbers hold the same bits: as far as copies, equal constants and the meeting of equal values tell.
//!
//! The coalescer's own [`values`](super::super::values) follow copies and constants. Here a meeting of values that are
//! all the same is that value, around loops too, and two registers whose values meet alike hold the same. This is
//! global value numbering over copies and meetings alone, optimistic (Alpern, Wegman and Zadeck 1988), so that the
//! bound on copies holds for any coalescer that sees no more than these.

use std::collections::HashMap;

use crate::analysis::{Cfg, LiveRanges, Point, ValueDef, ValueNumber};
use crate::coalesce::program::Program;
use crate::function::{Block, Inst, Opcode, Role, VReg, Value};
use crate::index::{EntityIndex, IndexVec};

/// The representative of each value number.
#[derive(Debug)]
pub(super) struct Numbering {
    roots: IndexVec<ValueNumber, ValueNumber>,
    constants: IndexVec<ValueNumber, Option<Inst>>,
}

/// How a value comes about.
enum Rule {
    /// It is like no other.
    Own,
    Constant(Inst),
    Copy(ValueNumber),
    Meeting(Block, Vec<ValueNumber>),
}

impl Numbering {
    /// Numbers the values of `wanted` registers. At first every meeting is taken for the value that comes to it first;
    /// those for which this proves wrong are values of their own, and the numbers are found anew. Linear in values and
    /// meetings each time; a few times are enough.
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
        // Meetings that are values of their own, in groups that are the same.
        let mut groups: IndexVec<ValueNumber, Option<Group>> = IndexVec::filled(None, ranges.num_values());
        let mut numbers = number(program, &rules, &groups);
        while split_groups(&rules, &numbers, &mut groups) {
            numbers = number(program, &rules, &groups);
        }
        let roots = numbers.iter_enumerated().map(|(value, number)| number.unwrap_or(value)).collect();
        Self { roots, constants }
    }

    /// The value that stands for all that are the same.
    pub(super) fn root(&self, value: ValueNumber) -> ValueNumber {
        self.roots[value]
    }

    /// The definition by a constant that a value goes back to.
    pub(super) fn constant(&self, value: ValueNumber) -> Option<Inst> {
        self.constants[self.roots[value]]
    }
}

/// Meetings in one block that are the same value as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Group {
    /// Those of a block that are not told apart yet.
    All(Block),
    /// Those like this one.
    Like(ValueNumber),
}

/// A number for each value, in one pass in reverse postorder: each has a number before it is asked for, but around
/// loops.
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

/// Tells apart what the numbers show to be different: a meeting from the value that it was taken for, and two meetings
/// of a group from each other. Whether there was any.
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
            // Those like the group's first, which has given all their number, keep the group.
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

/// Where a value is made, as block and place in it, and how.
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
            // Where control never comes from, no value does.
            let preds = cfg.preds(block).iter().filter(|&&pred| cfg.is_reachable(pred));
            let sources: Option<Vec<ValueNumber>> =
                preds.map(|&pred| ranges.live_out_value(function, reg, pred)).collect();
            (block, 0, sources.map_or(Rule::Own, |sources| Rule::Meeting(block, sources)))
        }
        ValueDef::Phi(block) | ValueDef::Undefined(block) => (block, 0, Rule::Own),
    }
}

/// What a definition by a constant writes.
fn constant(program: &Program<'_>, definition: Inst) -> Value {
    program.function.operands(definition)[1].value
}
