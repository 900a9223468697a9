//! Tests the rule of ordered instructions with an interpreter that does not know the rule.

use arbitrary::{Result, Unstructured};

use super::value::mix;
use super::{Mismatch, Options, check_same_effects, lowered_function};
use crate::analysis::{Edges, Node};
use crate::check::check;
use crate::function::{Applied, Block, Conditions, Edit, EditList, Effects, Function, Inst, MemorySpace, Origin, Role};
use crate::index::{EntityIndex, IndexVec};

/// The ordering rule. A test may remove a condition.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// Conditions of [`Effects::conflict`].
    conditions: Conditions,
    /// Whether [`Effects::is_guarded_by`] applies.
    has_guards: bool,
}

impl Rule {
    /// The rule of passes and checker.
    const WHOLE: Self = Self { conditions: Conditions::all(), has_guards: true };

    /// Whether two instructions of a block must keep their order, regardless of registers.
    fn holds(self, function: &Function, first: Inst, second: Inst) -> bool {
        let (effects, later) = (function.effects(first), function.effects(second));
        let (space, later_space) = (function.memory_space(first), function.memory_space(second));
        effects.conflict_under(space, later, later_space, self.conditions)
            || self.has_guards && later.is_guarded_by(effects)
    }
}

/// Checks that every order that the rule allows preserves the meaning. Checks that every other order that the checker
/// accepts preserves it, too.
pub fn check_order(u: &mut Unstructured<'_>) -> Result<()> {
    let function = function(u)?;
    let seed = u.arbitrary()?;
    if let Err(mismatch) = compare(&function, &orders(&function, Rule::WHOLE, seed)) {
        panic!("an order that the rule allows: {mismatch}\n{function}");
    }
    // Removes one condition, the guards, both or nothing. The orders that are then allowed often violate the rule in
    // one place only.
    let one = Conditions::from_bits_truncate(1 << u.int_in_range(0..=15u8)?) - Conditions::TERMINATOR;
    let left_out = if u.arbitrary()? { one } else { Conditions::empty() };
    let rule = Rule { conditions: Conditions::all() - left_out, has_guards: u.arbitrary()? };
    let orders = orders(&function, rule, seed);
    let mut edits = EditList::new(&function);
    for (block, order) in orders.iter_enumerated() {
        edits.push(Edit::Permute { block, order: order.clone() });
    }
    edits.finish();
    if check(&function, &edits).is_ok()
        && let Err(mismatch) = compare(&function, &orders)
    {
        panic!("an order that the checker accepts: {mismatch}\n{edits:?}\n{function}");
    }
    Ok(())
}

fn function(u: &mut Unstructured<'_>) -> Result<Function> {
    let options =
        Options { max_blocks: 4, max_insts: 12, undefined_paths: u.ratio(1, 8)?, effects: true, ..Options::default() };
    let mut function = lowered_function(u, &options)?;
    // Any memory space, and sometimes any effects for instructions that have some.
    for inst in function.insts() {
        let effects = function.effects(inst);
        if function.role(inst) != Role::Other || effects.is_empty() || effects.contains(Effects::TERMINATOR) {
            continue;
        }
        if u.ratio(1, 2)? {
            function.inst_space[inst] = *u.choose(&MemorySpace::ALL)?;
        }
        if u.ratio(1, 8)? {
            function.inst_effects[inst] = Effects::from_bits_truncate(u.arbitrary()?) - Effects::TERMINATOR;
        }
    }
    Ok(function)
}

/// Draws an order of each block. Two instructions keep their order if the rule or a common register requires it.
fn orders(function: &Function, rule: Rule, seed: u64) -> IndexVec<Block, Vec<Inst>> {
    let mut edges = Edges::default();
    function.blocks().map(|block| order(function, rule, mix(seed, block.0.into()), block, &mut edges)).collect()
}

fn order(function: &Function, rule: Rule, seed: u64, block: Block, edges: &mut Edges) -> Vec<Inst> {
    let range = function.block_range(block);
    let len = (range.end.0 - range.start.0) as usize;
    let inst = |node: usize| Inst(range.start.0 + node as u32);
    edges.begin();
    edges.registers(function, range.start, range.end);
    for second in 0..len {
        for first in 0..second {
            if rule.holds(function, inst(first), inst(second)) || is_fixed(function, inst(first), inst(second)) {
                edges.add(Node::new(first), Node::new(second));
            }
        }
    }
    let predecessors = edges.predecessors(len);
    let mut is_done = vec![false; len];
    let mut order = Vec::with_capacity(len);
    while order.len() < len {
        let is_ready = |&node: &usize| {
            !is_done[node] && predecessors.of(Node::new(node)).iter().all(|&earlier| is_done[earlier.index()])
        };
        let ready: Vec<usize> = (0..len).filter(is_ready).collect();
        let chosen = ready[(mix(seed, order.len() as u64) % ready.len() as u64) as usize];
        is_done[chosen] = true;
        order.push(inst(chosen));
    }
    order
}

/// Whether two instructions keep their order for reasons besides their effects: the terminators of a block choose the
/// successor together, and pure instructions would not execute after them.
fn is_fixed(function: &Function, first: Inst, second: Inst) -> bool {
    let is_terminator = |inst| function.effects(inst).contains(Effects::TERMINATOR);
    let only_computes = function.effects(first).is_pure() || function.role(first) == Role::Debug;
    is_terminator(second) && (is_terminator(first) || only_computes)
}

/// Compares a function with a reordered one. Terminators may be anywhere in the order: no edit moves them, but the rule
/// has a condition for them.
fn compare(function: &Function, orders: &IndexVec<Block, Vec<Inst>>) -> std::result::Result<(), Mismatch> {
    let insts: Vec<Inst> = orders.iter().flatten().copied().collect();
    let mut reordered = function.clone();
    reordered.operands.clear();
    for (number, &inst) in insts.iter().enumerate() {
        let new = Inst::new(number);
        reordered.inst_opcode[new] = function.inst_opcode[inst];
        reordered.inst_effects[new] = function.inst_effects[inst];
        reordered.inst_space[new] = function.inst_space[inst];
        reordered.inst_line[new] = function.inst_line[inst];
        reordered.operands.extend_from_slice(function.operands(inst));
        reordered.operand_start[number + 1] = reordered.operands.len() as u32;
    }
    let origin = insts.into_iter().map(Origin::Kept).collect();
    check_same_effects(function, &Applied { function: reordered, origin })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_rule_or_the_checker_allows_means_the_same() {
        arbtest::arbtest(check_order).budget_ms(1_000);
    }

    /// The number of functions tried for each condition.
    const MOST_FUNCTIONS: u64 = 2_000;

    /// Returns the index of the first function with a permitted order that changes the meaning.
    fn first_difference(rule: Rule) -> Option<u64> {
        (0..MOST_FUNCTIONS).find(|&number| {
            let bytes: Vec<u8> = (0..2048).map(|index| mix(number, index) as u8).collect();
            let function = function(&mut Unstructured::new(&bytes)).expect("there is never too little to draw from");
            compare(&function, &orders(&function, rule, number)).is_err()
        })
    }

    #[test]
    fn the_whole_rule_finds_no_difference() {
        assert_eq!(first_difference(Rule::WHOLE), None);
    }

    #[test]
    fn each_condition_of_the_rule_is_needed() {
        let without = |condition| Rule { conditions: Conditions::all() - condition, ..Rule::WHOLE };
        let conditions = Conditions::all().iter_names().map(|(name, condition)| (name, without(condition)));
        for (name, rule) in conditions.chain([("GUARDS", Rule { has_guards: false, ..Rule::WHOLE })]) {
            let found = first_difference(rule);
            println!("without {name}: function {found:?} of {MOST_FUNCTIONS} differs first");
            assert!(found.is_some(), "the oracle does not notice that {name} is left out");
        }
    }
}
