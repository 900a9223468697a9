//! An oracle for dominators, post-dominators and loops, by reachability in the graph without one block.

use crate::analysis::{Cfg, Dominators, Loops, PostDominators};
use crate::function::{Block, Function};

/// Compares the dominator trees and the loops with their definitions. Takes cubic time, so only for small functions.
pub fn check_control_flow(function: &Function) -> Result<(), String> {
    let cfg = Cfg::new(function);
    let dominators = Dominators::new(function, &cfg);
    let reachable = reached(function, None);
    let dominates: Vec<Vec<bool>> = function
        .blocks()
        .map(|taken_out| {
            let without = reached(function, Some(taken_out));
            let is_dominated = |block: Block| (at(&reachable, block) && !at(&without, block)) || block == taken_out;
            function.blocks().map(is_dominated).collect()
        })
        .collect();
    for a in function.blocks() {
        if cfg.is_reachable(a) != at(&reachable, a) {
            return Err(format!("{a} is taken for {}", if cfg.is_reachable(a) { "reachable" } else { "unreachable" }));
        }
        for b in function.blocks() {
            if dominators.dominates(a, b) != at(&dominates[a.0 as usize], b) {
                return Err(format!("whether {a} dominates {b} is wrong"));
            }
        }
        check_idom(function, &dominators, a, &reachable)?;
    }
    check_post_dominators(function, &PostDominators::new(function, &cfg))?;
    check_loops(function, &cfg, &dominators, &Loops::new(&cfg, &dominators))
}

/// Checks post-dominators. A block post-dominates another block if the other block reaches an exit, and every such path
/// contains the first block.
fn check_post_dominators(function: &Function, post_dominators: &PostDominators) -> Result<(), String> {
    let ends = |from: Block, without: Option<Block>| {
        let reached = reached_from(function, from, without);
        function.blocks().any(|block| function.succs(block).is_empty() && at(&reached, block))
    };
    let post_dominates = |a: Block, b: Block| a == b || ends(b, None) && !ends(b, Some(a));
    for b in function.blocks() {
        if let Some(a) = function.blocks().find(|&a| post_dominators.post_dominates(a, b) != post_dominates(a, b)) {
            return Err(format!("whether {a} post-dominates {b} is wrong"));
        }
        let strict = |a: &Block| *a != b && post_dominates(*a, b);
        let nearest = |a: &Block| function.blocks().filter(strict).all(|other| post_dominates(other, *a));
        let expected = function.blocks().filter(strict).find(nearest);
        if post_dominators.ipdom(b) != expected {
            return Err(format!("{b}: expected immediate post-dominator {expected:?}"));
        }
    }
    Ok(())
}

/// Checks that the immediate dominator is the strict dominator that all others dominate.
fn check_idom(function: &Function, dominators: &Dominators, block: Block, reachable: &[bool]) -> Result<(), String> {
    let strict = |other: &Block| at(reachable, block) && dominators.strictly_dominates(*other, block);
    let expected = function
        .blocks()
        .filter(strict)
        .find(|&nearest| function.blocks().filter(strict).all(|other| dominators.dominates(other, nearest)));
    let level = function.blocks().filter(strict).count() as u32;
    if dominators.idom(block) != expected || dominators.level(block) != level {
        return Err(format!("{block}: expected immediate dominator {expected:?} and level {level}"));
    }
    Ok(())
}

/// Checks that a block is in the loop of a header if and only if the header dominates it and a path leads from it to a
/// latch without passing the header.
fn check_loops(function: &Function, cfg: &Cfg, dominators: &Dominators, loops: &Loops) -> Result<(), String> {
    let is_latch = |block: Block, header| {
        cfg.is_reachable(block) && function.succs(block).contains(&header) && dominators.dominates(header, block)
    };
    for block in function.blocks() {
        let depth = function
            .blocks()
            .filter(|&header| cfg.is_reachable(block) && dominators.dominates(header, block))
            .filter(|&header| {
                let reached = reached_from(function, block, (block != header).then_some(header));
                function.blocks().any(|latch| is_latch(latch, header) && at(&reached, latch))
            })
            .count() as u32;
        if loops.depth(block) != depth {
            return Err(format!("{block}: expected loop depth {depth}, found {}", loops.depth(block)));
        }
    }
    Ok(())
}

fn at(marks: &[bool], block: Block) -> bool {
    marks[block.0 as usize]
}

fn reached(function: &Function, without: Option<Block>) -> Vec<bool> {
    reached_from(function, Block(0), without)
}

/// Returns the blocks on paths from `start` that avoid `without`.
fn reached_from(function: &Function, start: Block, without: Option<Block>) -> Vec<bool> {
    let mut reached = vec![false; function.num_blocks()];
    let mut worklist = vec![start];
    while let Some(block) = worklist.pop() {
        if Some(block) != without && function.num_blocks() > 0 && !at(&reached, block) {
            reached[block.0 as usize] = true;
            worklist.extend(function.succs(block));
        }
    }
    reached
}
