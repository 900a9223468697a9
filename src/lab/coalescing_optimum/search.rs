//! Branch and bound: two nodes of a copy share a class, or they do not.

use super::bound::lower_bound;
use super::problem::{Node, Problem};
use crate::function::VReg;
use crate::index::IndexVec;

/// Bounds of the least cost of a problem, and a solution.
#[derive(Clone, Debug, Default)]
pub(super) struct Solution {
    /// No solution costs less.
    pub(super) lower: f64,
    /// Cost of the solution that was found.
    pub(super) cost: f64,
    /// The solution: the registers of each class. Classes of one register may be left out.
    pub(super) classes: Vec<Vec<VReg>>,
}

impl Solution {
    /// Whether no solution costs less than both this one and `cutoff`, up to rounding.
    fn is_best_below(&self, cutoff: f64) -> bool {
        self.lower >= self.cost.min(cutoff) * (1.0 - 1e-12)
    }

    pub(super) fn add(&mut self, part: Solution) {
        self.lower += part.lower;
        self.cost += part.cost;
        self.classes.extend(part.classes);
    }
}

/// Solves a problem, exactly if `steps` branchings are enough for each of its components.
pub(super) fn solve(problem: Problem, steps: usize) -> Solution {
    let mut total = Solution::default();
    for component in components(problem, &mut total) {
        total.add(branch(&component, &mut steps.clone(), f64::INFINITY));
    }
    total
}

/// Simplifies a problem and returns its components. Adds the decided part to `decided`.
fn components(problem: Problem, decided: &mut Solution) -> Vec<Problem> {
    let mut open = Vec::new();
    let mut todo = vec![problem];
    while let Some(mut problem) = todo.pop() {
        let before = problem.moves.len();
        problem.simplify();
        decided.lower += problem.cost;
        decided.cost += problem.cost;
        problem.cost = 0.0;
        let mut is_open: IndexVec<Node, bool> = IndexVec::filled(false, problem.len());
        for copy in &problem.moves {
            is_open[copy.target] = true;
            copy.sources.iter().for_each(|&source| is_open[source] = true);
        }
        if problem.moves.len() == before && is_open.iter().all(|&is_open| is_open) {
            // The problem was simplified as a whole. Alone, each component has fewer conflicts, so it may become
            // simpler.
            let mut parts = problem.components();
            match parts.len() {
                1 => open.append(&mut parts),
                _ => todo.append(&mut parts),
            }
            continue;
        }
        let closed =
            problem.members.iter().zip(is_open.iter()).filter(|(members, is_open)| !*is_open && members.len() > 1);
        decided.classes.extend(closed.map(|(members, _)| members.clone()));
        todo.extend(problem.components());
    }
    open
}

/// Solves one component. If no solution costs less than `cutoff`, the search may end as soon as its bound proves this.
fn branch(problem: &Problem, steps: &mut usize, cutoff: f64) -> Solution {
    let mut best = greedy(problem.clone());
    best.lower = lower_bound(problem).min(best.cost);
    if best.is_best_below(cutoff) || *steps == 0 {
        return best;
    }
    *steps -= 1;
    let (into, from) = heaviest_pair(problem);
    let mut lower = f64::INFINITY;
    for share in [true, false] {
        let mut half = problem.clone();
        if share {
            half.merge(into, from);
        } else {
            half.separate(into, from);
        }
        let mut solution = Solution::default();
        let parts = components(half, &mut solution);
        let cutoff = if parts.len() == 1 { cutoff.min(best.cost) - solution.cost } else { f64::INFINITY };
        for part in parts {
            solution.add(branch(&part, steps, cutoff));
        }
        lower = lower.min(solution.lower);
        if solution.cost < best.cost {
            best = Solution { lower: best.lower, ..solution };
        }
        if best.is_best_below(f64::INFINITY) {
            return best;
        }
    }
    // Because of rounding, the bound could exceed the cost of a solution.
    best.lower = best.lower.max(lower).min(best.cost);
    best
}

/// Merges the nodes of the heaviest copy, until no copy is left.
fn greedy(mut problem: Problem) -> Solution {
    problem.simplify();
    while !problem.moves.is_empty() {
        let (into, from) = heaviest_pair(&problem);
        problem.merge(into, from);
        problem.simplify();
    }
    let classes = problem.members.iter().filter(|members| members.len() > 1).cloned().collect();
    Solution { lower: 0.0, cost: problem.cost, classes }
}

/// Returns the target and the first source of the heaviest copy. Among equally heavy copies, the one whose nodes have
/// the most copies is chosen.
fn heaviest_pair(problem: &Problem) -> (Node, Node) {
    let mut degrees: IndexVec<Node, u32> = IndexVec::filled(0, problem.len());
    for copy in &problem.moves {
        degrees[copy.target] += 1;
        copy.sources.iter().for_each(|&source| degrees[source] += 1);
    }
    let meeting = |number: usize| {
        let copy = &problem.moves[number];
        degrees[copy.target] + degrees[copy.sources[0]]
    };
    let order = |&a: &usize, &b: &usize| {
        let (one, other) = (&problem.moves[a], &problem.moves[b]);
        one.weight.total_cmp(&other.weight).then(meeting(a).cmp(&meeting(b))).then(b.cmp(&a))
    };
    let heaviest = &problem.moves[(0..problem.moves.len()).max_by(order).expect("a copy is open")];
    (heaviest.target, heaviest.sources[0])
}
