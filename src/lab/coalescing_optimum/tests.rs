//! The solver agrees with brute force, and small functions show each rule of the model.

use arbitrary::{Result, Unstructured};

use super::bound::lower_bound;
use super::problem::{Move, Node, Problem};
use super::search::{Solution, solve};
use super::{AtDepth, Optimum, optimum};
use crate::config::Config;
use crate::function::{Function, VReg};
use crate::fuzzing::view;
use crate::index::IndexVec;
use crate::target::Classification;

/// Creates a problem of registers without conflicts or copies.
fn unconnected(len: u32) -> Problem {
    Problem::new((0..len).map(VReg))
}

/// Generates a problem of up to seven registers, with any conflicts, and with copies that have one source or several.
fn problem(u: &mut Unstructured<'_>) -> Result<Problem> {
    let len = u.int_in_range(2..=7)?;
    let mut problem = unconnected(len);
    for a in 0..len {
        for b in 0..a {
            if u.ratio(2, 5)? {
                problem.separate(Node(a), Node(b));
            }
        }
    }
    for _ in 0..u.int_in_range(1..=10)? {
        let target = u.int_in_range(0..=len - 1)?;
        let mut sources = Vec::new();
        for _ in 0..if u.ratio(3, 4)? { 1 } else { u.int_in_range(2..=3)? } {
            sources.push(Node((target + u.int_in_range(1..=len - 1)?) % len));
        }
        problem.moves.push(Move { target: Node(target), sources, weight: f64::from(u.int_in_range(1..=3)?) });
    }
    Ok(problem)
}

/// Returns the cost of a partition, given as the class of each node. `None` if two members conflict.
fn cost(problem: &Problem, classes: &IndexVec<Node, u32>) -> Option<f64> {
    let is_broken = classes.ids().any(|a| classes.ids().any(|b| classes[a] == classes[b] && problem.conflict(a, b)));
    let is_lost = |copy: &&Move| copy.sources.iter().all(|&source| classes[source] != classes[copy.target]);
    (!is_broken).then(|| problem.moves.iter().filter(is_lost).map(|copy| copy.weight).sum())
}

/// Returns the least cost over all partitions of the nodes from `classes.len()` on.
fn brute_force(problem: &Problem, classes: &mut Vec<u32>) -> f64 {
    if classes.len() == problem.len() {
        return cost(problem, &classes.iter().copied().collect()).unwrap_or(f64::INFINITY);
    }
    let next = classes.iter().max().map_or(0, |last| last + 1);
    let mut least = f64::INFINITY;
    for class in 0..=next {
        classes.push(class);
        least = least.min(brute_force(problem, classes));
        classes.pop();
    }
    least
}

/// Computes the cost of a solution's classes, regardless of the cost that it reports.
fn cost_of(problem: &Problem, solution: &Solution) -> Option<f64> {
    let mut classes: IndexVec<Node, u32> = (0..problem.len() as u32).collect();
    for members in &solution.classes {
        members.iter().for_each(|member| classes[Node(member.0)] = members[0].0);
    }
    cost(problem, &classes)
}

/// With enough steps, the solution and the bound are optimal. With fewer steps, the solution costs at least the optimum
/// and the bound is at most the optimum. The cost that a solution reports is its cost.
#[test]
fn solutions_are_as_good_as_brute_force() {
    arbtest::arbtest(|u| {
        let problem = problem(u)?;
        let least = brute_force(&problem, &mut Vec::new());
        let exact = solve(problem.clone(), usize::MAX);
        assert_eq!((exact.lower, exact.cost), (least, least), "{problem:?}");
        assert_eq!(cost_of(&problem, &exact), Some(least), "{problem:?}");
        let rough = solve(problem.clone(), 0);
        assert!(rough.lower <= least && least <= rough.cost, "{rough:?} {least} {problem:?}");
        assert_eq!(cost_of(&problem, &rough), Some(rough.cost), "{problem:?}");
        Ok(())
    })
    .budget_ms(2_000);
}

/// The bound holds for every problem.
#[test]
fn the_packing_is_a_bound() {
    arbtest::arbtest(|u| {
        let mut problem = problem(u)?;
        let least = brute_force(&problem, &mut Vec::new());
        // Copies between nodes in conflict are lost, and the bound does not count them.
        let is_open = |copy: &Move| copy.sources.iter().all(|&source| !problem.conflict(copy.target, source));
        let moves: Vec<Move> = problem.moves.iter().filter(|copy| is_open(copy)).cloned().collect();
        problem.moves = moves;
        let bound = lower_bound(&problem);
        assert!(bound <= least, "{bound} > {least} {problem:?}");
        Ok(())
    })
    .budget_ms(1_000);
}

/// Of the copies from one node to neighbours that all conflict with each other, one is saved. Along a path between two
/// nodes in conflict, all copies except one are saved.
#[test]
fn the_packing_finds_stars_and_paths() {
    let join = |target, source| Move { target: Node(target), sources: vec![Node(source)], weight: 1.0 };
    let mut star = unconnected(5);
    (1..5).for_each(|a| (1..a).for_each(|b| star.separate(Node(a), Node(b))));
    star.moves = (1..5).map(|node| join(node, 0)).collect();
    assert_eq!(lower_bound(&star), 3.0);

    let mut path = unconnected(9);
    path.separate(Node(0), Node(8));
    path.moves = (1..9).map(|node| join(node, node - 1)).collect();
    assert_eq!(lower_bound(&path), 1.0);
    path.moves.extend((1..9).map(|node| join(node - 1, node)));
    assert_eq!(lower_bound(&path), 2.0);

    // Two paths share their middle copy. If this copy is lost, no other needs to be lost.
    let mut crossing = unconnected(6);
    crossing.separate(Node(0), Node(3));
    crossing.separate(Node(4), Node(5));
    crossing.moves = vec![join(0, 1), join(1, 2), join(2, 3), join(4, 1), join(2, 5)];
    assert_eq!(lower_bound(&crossing), 1.0);
}

const HEAD: &str = "mfv 1\nfunction \"k\"\nopcode COPY copy\nopcode MOV_B32_i constant\nopcode LOAD\nopcode STORE\n\
    regs %0 B32 B32 B32 B32 B32 B32\n";

fn found(function: &Function) -> Optimum {
    optimum(function, &Classification::by_name(function.opcodes()), &Config::default(), 100)
}

/// Counts the copies of a function: copies of constants, others, copies left by the coalescer, and necessary copies.
fn counts(blocks: &str) -> [u64; 4] {
    let function = view(HEAD, blocks);
    let found = found(&function);
    assert_eq!(found.best.count, found.necessary.count, "{found:?}");
    [found.constants, found.copies.count, found.left.count, found.necessary.count]
}

/// Each loop depth has its own figures. In this function, all copies are in the loop.
#[test]
fn copies_are_told_by_depth() {
    let at_depth = |copies, left, necessary| AtDepth { copies, left, necessary };
    let found = found(&view(HEAD, SWAP));
    assert_eq!(found.by_depth, [at_depth(0, 0, 0), at_depth(3, 3, 3)]);
}

/// Two registers that swap their values.
const SWAP: &str = "bb0: frequency 1.0 depth 0 -> bb1\n  %0 = LOAD 0 :: read\n  %1 = LOAD 1 :: read\n\
    bb1: frequency 9.0 depth 1 -> bb1 bb2\n  %2 = COPY %0\n  %0 = COPY %1\n  %1 = COPY %2\n  STORE %0, %1 :: write\n\
    bb2: frequency 1.0 depth 0";

/// Two registers that swap their values in a loop need a third register, and all three copies.
#[test]
fn a_swap_needs_its_copies() {
    assert_eq!(counts(SWAP), [0, 3, 3, 3]);
}

/// Copies of constants cost nothing, even if the constant arrives on two paths. Dead copies cost nothing either.
#[test]
fn constants_and_dead_copies_are_free() {
    let meeting = "bb0: frequency 1.0 depth 0 -> bb1 bb2\n  %5 = LOAD 0 :: read\n  %4 = COPY %5\n\
        bb1: frequency 0.5 depth 0 -> bb3\n  %0 = MOV_B32_i 7\n\
        bb2: frequency 0.5 depth 0 -> bb3\n  %0 = MOV_B32_i 7\n\
        bb3: frequency 1.0 depth 0\n  %1 = COPY %0\n  %0 = LOAD 1 :: read\n  STORE %0, %1 :: write";
    assert_eq!(counts(meeting), [1, 1, 1, 0]);
}

/// A copy is saved if a third register of its target's class holds the value, even if the source is in another class.
#[test]
fn a_third_register_may_hold_the_value() {
    // %0 stays live beside a new value of %1 and a new value of %2, so it can join neither. %1 and %2 can join each
    // other.
    let siblings = "bb0: frequency 1.0 depth 0\n  %0 = LOAD 0 :: read\n  %1 = COPY %0\n  %2 = COPY %0\n\
        STORE %1, %2 :: write\n  %1 = LOAD 1 :: read\n  STORE %1, %0 :: write\n  %2 = LOAD 2 :: read\n\
        STORE %2, %0 :: write";
    assert_eq!(counts(siblings), [0, 2, 2, 1]);
}

/// If equal values meet, the result is the same value. This also holds around a loop, and after different values have
/// met.
#[test]
fn meetings_of_one_value_are_that_value() {
    // %1 is a copy of %0 on both paths, so both can be one register although both stay live.
    let diamond = "bb0: frequency 1.0 depth 0 -> bb1 bb2\n  %0 = LOAD 0 :: read\n\
        bb1: frequency 0.5 depth 0 -> bb3\n  %1 = COPY %0\n\
        bb2: frequency 0.5 depth 0 -> bb3\n  %1 = COPY %0\n\
        bb3: frequency 1.0 depth 0\n  STORE %1, %0 :: write";
    let [_, copies, _, necessary] = counts(diamond);
    assert_eq!((copies, necessary), (2, 0));
    // On one path, the value is different.
    let different = diamond.replacen("bb3\n  %1 = COPY %0", "bb3\n  %1 = LOAD 1 :: read", 1);
    let [_, copies, _, necessary] = counts(&different);
    assert_eq!((copies, necessary), (1, 1));
    // In the inner loop, %1 and %2 pass the value of %0 to each other, and %0 is live, too. The outer loop loads %0
    // again.
    let loops = "bb0: frequency 1.0 depth 0 -> bb1\n  %0 = LOAD 0 :: read\n\
        bb1: frequency 9.0 depth 1 -> bb2\n  %1 = COPY %0\n\
        bb2: frequency 81.0 depth 2 -> bb2 bb3\n  %2 = COPY %1\n  STORE %2, %0 :: write\n  %1 = COPY %2\n\
        bb3: frequency 9.0 depth 1 -> bb1 bb4\n  %0 = LOAD 1 :: read\n\
        bb4: frequency 1.0 depth 0";
    let [_, copies, _, necessary] = counts(loops);
    assert_eq!((copies, necessary), (3, 0));
}

/// A useless copy may save a more frequent copy while it exists: %1 still has the value at the point at which %2 gets
/// it.
#[test]
fn a_useless_copy_may_hold_the_value() {
    let rare = "bb0: frequency 1.0 depth 0 -> bb1\n  %0 = LOAD 0 :: read\n  %1 = COPY %0\n\
        bb1: frequency 9.0 depth 0\n  %2 = COPY %0\n  %0 = COPY %1\n  %1 = COPY %2\n  %0 = LOAD 1 :: read\n\
        STORE %1, %0 :: write\n  STORE %2, %0 :: write";
    let found = found(&view(HEAD, rare));
    assert_eq!((found.left.executed, found.necessary.executed), (1.0, 0.0), "{found:?}");
}
