//! The six lists, and the stack to which they are drained.
//!
//! | list | nodes | drained |
//! | --- | --- | --- |
//! | Unconstrained | one register, without constraints | first |
//! | LargeVec, VeryHigh | more than four registers; pairs and vectors | second |
//! | High | must have a register, or live together with a place from the start | third |
//! | LowConf | not sure of a place, in a first trial: least cost for its interference first | fourth |
//! | LowLate | not sure of a place, in a later trial: the narrowest first, and among these the last to start | fifth |
//!
//! If a node that must have a register found no place within the register limit, a last trial colours all such nodes
//! before the others.
//!
//! The stack is popped from its end. So nodes that are not sure of a place are coloured first, and nodes without
//! constraints last. A node is sure of a place if its neighbours can take away fewer places than there are (Chaitin's
//! criterion).
//!
//! The description of ptxas contradicts itself on LowConf. In its table, the list has the nodes of low interference. In
//! its text, the list has the nodes that are deferred as potential spills. An order by cost over interference makes
//! sense only for potential spills, so this code follows the text: "low confidence".

use std::cmp::Reverse;

use crate::allocate::indexed_heap::Ordered;
use crate::allocate::problem::{LiveRange, Problem};
use crate::analysis::Point;

use super::constraints::Constraints;
use super::interference::Interference;
use super::nodes::Nodes;
use super::pair::PairMode;

/// The trial for which the lists are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// A first trial.
    First,
    /// A later trial: attempt 99 of ptxas.
    Retry,
    /// The last trial: like a retry, but nodes that must have a register come before all others, the widest first.
    Fallback,
}

/// Nodes by list.
#[derive(Debug, Default)]
pub(super) struct Lists {
    unconstrained: Vec<LiveRange>,
    very_high: Vec<LiveRange>,
    large_vec: Vec<LiveRange>,
    high: Vec<LiveRange>,
    low_conf: Vec<LiveRange>,
    low_late: Vec<LiveRange>,
    /// Nodes that must have a register, in the last trial.
    must_have: Vec<LiveRange>,
}

impl Lists {
    /// Classifies the nodes that have no place yet, for a file with `target` units. O(nodes · segments of each).
    pub(super) fn classify(
        nodes: &Nodes<'_>,
        constraints: &Constraints,
        interference: &[u64],
        target: u32,
        order: Order,
    ) -> Self {
        let problem = nodes.problem;
        let mut lists = Self::default();
        for node in nodes.iter().filter(|&node| nodes.fixed(node).is_none() && !nodes.segments(node).is_empty()) {
            let places = problem.classes().places(problem.ranges()[node].class, target);
            let list = if order == Order::Fallback && nodes.cost(node).is_infinite() {
                &mut lists.must_have
            } else if interference[node.0 as usize] >= u64::from(places) {
                match order {
                    Order::First => &mut lists.low_conf,
                    Order::Retry | Order::Fallback => &mut lists.low_late,
                }
            } else {
                lists.of_sure(problem, node, constraints)
            };
            list.push(node);
        }
        lists
    }

    fn of_sure(&mut self, problem: &Problem, node: LiveRange, constraints: &Constraints) -> &mut Vec<LiveRange> {
        let class = problem.class(node);
        let file = &problem.files()[class.file];
        if class.width > 4 * file.units_per_register {
            &mut self.large_vec
        } else if matches!(PairMode::of(class, file), PairMode::Double | PairMode::Vector) {
            &mut self.very_high
        } else if problem.ranges()[node].spill_cost.is_infinite() || constraints.has_any(node) {
            &mut self.high
        } else {
            &mut self.unconstrained
        }
    }

    /// Drains the lists to a stack. The node at the stack's end is coloured first. O(nodes · log nodes).
    pub(super) fn drain(mut self, nodes: &Nodes<'_>, interference: &[u64]) -> Vec<LiveRange> {
        let start = |node: LiveRange| nodes.segments(node).first().map_or(Point(0), |segment| segment.start);
        let late_first = |node: &LiveRange| (Reverse(start(*node)), Reverse(*node));
        let narrow_first = |node: &LiveRange| (nodes.class(*node).width, late_first(node));
        self.unconstrained.sort_by_key(late_first);
        self.high.sort_by_key(late_first);
        self.low_late.sort_by_key(narrow_first);
        self.must_have.sort_by_key(narrow_first);
        self.very_high.sort_by_key(narrow_first);
        self.large_vec.sort_by_key(narrow_first);
        self.low_conf.sort_by_cached_key(|&node| {
            let ratio = nodes.cost(node) / interference[node.0 as usize].max(1) as f32;
            (Ordered::new(ratio), nodes.class(node).width, late_first(&node))
        });
        let mut stack = self.unconstrained;
        for mut list in [self.very_high, self.large_vec, self.high, self.low_conf, self.low_late, self.must_have] {
            stack.append(&mut list);
        }
        stack
    }
}

/// Computes for each node the number of places that its neighbours can take away from it.
pub(super) fn interference(nodes: &Nodes<'_>, counts: &Interference<'_>) -> Vec<u64> {
    let mut of = vec![0; nodes.problem.ranges().len()];
    for node in nodes.iter() {
        of[node.0 as usize] = counts.of(nodes, node);
    }
    of
}
