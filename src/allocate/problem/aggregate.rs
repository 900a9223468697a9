//! Copies in the arms of a diamond. If a copy there is the only reader of a value, the spill cost of the value includes
//! the cost of the copy.
//!
//! PHIs become such copies. ptxas is read to add the spill cost of a PHI to the only value that the PHI takes from an
//! arm, because spilling only one of the two would gain nothing.

use super::{CopyInst, LiveRange, Problem};
use crate::function::{Block, Inst};
use crate::index::IndexVec;

/// Returns the copies in an arm of a diamond that are the only readers of their sources. The copies come in reverse
/// order, so that the costs of a chain of copies add up from its end. O(copies · log blocks + edges).
pub(super) fn in_diamonds(problem: &Problem) -> impl Iterator<Item = &CopyInst> {
    let arms = arms(problem);
    let blocks = problem.flow().blocks();
    let is_in_arm = move |inst: Inst| {
        let number = blocks.as_slice().partition_point(|block| block.insts.end <= inst);
        arms.get(number) == Some(&true)
    };
    let is_alone = |range: LiveRange| problem.accesses(range).iter().filter(|access| access.reads()).count() == 1;
    problem
        .copies()
        .iter()
        .rev()
        .filter(move |copy| copy.to != copy.from && is_in_arm(copy.inst) && is_alone(copy.from))
}

/// Computes for each block whether it is an arm of a diamond: one of two blocks between a branching block and the block
/// in which both meet.
fn arms(problem: &Problem) -> Vec<bool> {
    let blocks = problem.flow().blocks();
    let mut preds: IndexVec<Block, Vec<Block>> = IndexVec::filled(Vec::new(), blocks.len());
    for (block, data) in blocks.iter_enumerated() {
        data.succs.iter().for_each(|&succ| preds[succ].push(block));
    }
    let is_arm = |block: Block| {
        let ([meeting], [branching]) = (&blocks[block].succs[..], &preds[block][..]) else { return false };
        let both = &preds[*meeting];
        both.len() == 2
            && both[0] != both[1]
            && both.iter().all(|&arm| preds[arm] == [*branching] && blocks[arm].succs.len() == 1)
    };
    blocks.ids().map(is_arm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy in each arm counts if it is the only reader of its source. No copy counts in a triangle or in
    /// straight-line code.
    #[test]
    fn copies_of_arms() {
        let found = |blocks: &str, read_again: &str| {
            let text = format!(
                "allocation 1\nproblem k\nfile R\nclass A R\nrange A cost 1 live 2..9 write 0*1 read 2*1{read_again}\n\
                 range A cost 1 live 2..13 write 0*1 read 3*1\nrange A cost 1 live 10..17 write 2*1 write 3*1 read 4*1\n\
                 copy 2 lr2 = lr0 * 1\ncopy 3 lr2 = lr1 * 1\n{blocks}end\n"
            );
            let problem = Problem::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            in_diamonds(&problem).map(|copy| copy.from.0).collect::<Vec<_>>()
        };
        let diamond = "block 0..2 -> 1 2\nblock 2..3 -> 3\nblock 3..4 -> 3\nblock 4..5\n";
        assert_eq!(found(diamond, ""), [1, 0]);
        assert_eq!(found(diamond, " read 4*1"), [1]);
        assert_eq!(found("block 0..2 -> 1 2\nblock 2..3 -> 2\nblock 3..4 -> 3\nblock 4..5\n", ""), [0_u32; 0]);
        assert_eq!(found("block 0..5\n", ""), [0_u32; 0]);
        assert_eq!(found("", ""), [0_u32; 0]);
    }
}
